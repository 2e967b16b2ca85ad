//! On which hosts a user has a right, remembered for a moment: batches of a stream come many times
//! a second, from the same user and for the same hosts.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;

use model::HostId;
use stdx::sync::lock;
use wire::history_service::Failure;

use super::no_config;
use crate::call::User;
use crate::permission::{Need, on_hosts};
use crate::session::CACHE_S;
use crate::{Api, ApiError};

/// Verdicts in memory, some 32 bytes each; beyond, all are asked for again.
const VERDICTS_MAX: usize = 500_000;

/// Verdicts of the last seconds.
#[derive(Debug, Default)]
pub(crate) struct Rights(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    of: HashMap<(u64, Need), OfUser>,
    verdicts: usize,
}

#[derive(Debug, Default)]
struct OfUser {
    /// Seconds since 1970.
    until: u64,
    hosts: HashMap<HostId, bool>,
}

impl Rights {
    /// Something about users or their groups changed.
    pub(crate) fn forget(&self) {
        *lock(&self.0) = Known::default();
    }
}

impl Known {
    /// Moves what is known of `hosts` to `allowed`; the others stay.
    fn tell(
        &mut self,
        who: (u64, Need),
        now: u64,
        hosts: &mut BTreeSet<HostId>,
        allowed: &mut BTreeSet<HostId>,
    ) {
        let Some(known) = self.of.get(&who).filter(|known| now < known.until) else { return };
        hosts.retain(|host| match known.hosts.get(host) {
            Some(true) => {
                allowed.insert(*host);
                false
            }
            Some(false) => false,
            None => true,
        });
    }

    fn learn(&mut self, who: (u64, Need), now: u64, verdicts: &[(HostId, bool)]) {
        if self.verdicts + verdicts.len() > VERDICTS_MAX {
            *self = Self::default();
        }
        let of = self.of.entry(who).or_default();
        if of.until <= now {
            self.verdicts -= of.hosts.len();
            *of = OfUser { until: now + CACHE_S, hosts: HashMap::new() };
        }
        let before = of.hosts.len();
        of.hosts.extend(verdicts.iter().copied());
        self.verdicts += of.hosts.len() - before;
    }
}

/// The hosts of a request on which the user has the right.
pub(crate) enum Allowed {
    All,
    These(BTreeSet<HostId>),
}

impl Allowed {
    pub(crate) fn load(
        api: &Api,
        user: &User,
        need: Need,
        hosts: impl Iterator<Item = HostId>,
    ) -> Result<Self, Failure> {
        let Some(condition) = on_hosts(user, need, "h.hostid") else { return Ok(Self::All) };
        let (rights, who) = (&api.sessions.rights, (user.id, need));
        let now = api.deps.clock.unix_s();
        let (mut unknown, mut allowed) = (hosts.collect::<BTreeSet<_>>(), BTreeSet::new());
        lock(&rights.0).tell(who, now, &mut unknown, &mut allowed);
        if unknown.is_empty() {
            return Ok(Self::These(allowed));
        }
        let ids: Vec<u64> = unknown.iter().map(|host| host.0).collect();
        let sql =
            format!("SELECT h.hostid FROM hosts h WHERE {condition} AND h.hostid IN ({{ids}})");
        let rows = api
            .deps
            .config
            .read(|c| Ok::<_, ApiError>(config::db::query_by_ids(c, &sql, &[], &ids)?))
            .map_err(|_| no_config())?;
        let found: BTreeSet<HostId> = rows.iter().map(|row| HostId(row.id("hostid"))).collect();
        let verdicts: Vec<_> = unknown.iter().map(|host| (*host, found.contains(host))).collect();
        lock(&rights.0).learn(who, now, &verdicts);
        allowed.extend(found);
        Ok(Self::These(allowed))
    }

    pub(crate) fn has(&self, host: HostId) -> bool {
        match self {
            Self::All => true,
            Self::These(hosts) => hosts.contains(&host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_believed_for_some_seconds_and_bounded() {
        let mut known = Known::default();
        let ask = |known: &mut Known, who, now| {
            let (mut unknown, mut allowed) = ([1, 2, 3].map(HostId).into(), BTreeSet::new());
            known.tell(who, now, &mut unknown, &mut allowed);
            let ids = |hosts: BTreeSet<HostId>| hosts.iter().map(|host| host.0).collect::<Vec<_>>();
            (ids(unknown), ids(allowed))
        };
        let who = (7, Need::Write);
        assert_eq!(ask(&mut known, who, 100), (vec![1, 2, 3], vec![]));
        known.learn(who, 100, &[(HostId(1), true), (HostId(2), false)]);
        assert_eq!(ask(&mut known, who, 104), (vec![3], vec![1]));
        assert_eq!(ask(&mut known, (7, Need::Read), 104).0.len(), 3);
        assert_eq!(ask(&mut known, (8, Need::Write), 104).0.len(), 3);
        // What is learned later is believed no longer than what was learned first.
        known.learn(who, 104, &[(HostId(3), true)]);
        assert_eq!(ask(&mut known, who, 104), (vec![], vec![1, 3]));
        assert_eq!(ask(&mut known, who, 105), (vec![1, 2, 3], vec![]));
        known.learn(who, 105, &[(HostId(3), true)]);
        assert_eq!((known.verdicts, ask(&mut known, who, 105).0), (1, vec![1, 2]));
        let many: Vec<_> = (0..VERDICTS_MAX as u64).map(|n| (HostId(n), true)).collect();
        known.learn((9, Need::Read), 105, &many);
        assert_eq!((known.verdicts, known.of.len()), (VERDICTS_MAX, 1));
    }
}
