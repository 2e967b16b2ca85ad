//! Hosts by id and by technical name.

use std::sync::Arc;

use model::{CompactString, HostId};

use super::cow_map::{Place, Spread};
use super::{CowMap, Host};

/// The search for a name, in any snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Search(Place);

/// Hosts of a snapshot. Names lead to the host itself: a second search by its id would cost as many
/// cache misses as the first. Names up to 24 bytes are in the table, where comparing them costs none.
#[derive(Debug, Default, Clone)]
pub struct Hosts {
    by_id: CowMap<HostId, Arc<Host>>,
    by_name: CowMap<CompactString, Arc<Host>>,
}

impl Hosts {
    /// Number of hosts.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Has no host.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The host of this id.
    pub fn get(&self, id: &HostId) -> Option<&Arc<Host>> {
        self.by_id.get(id)
    }

    /// The host of this technical name.
    pub fn named(&self, name: &str) -> Option<&Arc<Host>> {
        self.by_name.get(name)
    }

    /// The first of three steps of [`Self::named`]. If each step is done for many names before the
    /// next one, their memory accesses overlap.
    pub fn begin(&self, name: &str) -> Search {
        let search = Search(name.place());
        self.by_name.look_at(search.0);
        search
    }

    /// The second step.
    pub fn approach(&self, search: Search) {
        self.by_name.look_into(search.0);
    }

    /// The third step, with the same name.
    pub fn end(&self, search: Search, name: &str) -> Option<&Arc<Host>> {
        self.by_name.get_at(search.0, name)
    }

    /// Adds a host, or replaces the one of its id.
    pub fn insert(&mut self, host: Arc<Host>) {
        self.by_name.insert(CompactString::from(&*host.host), Arc::clone(&host));
        if let Some(before) = self.by_id.insert(host.id, Arc::clone(&host))
            && before.host != host.host
        {
            self.forget_name(&before);
        }
    }

    /// Adds many hosts that are not here yet.
    pub(super) fn extend(&mut self, hosts: Vec<Arc<Host>>) {
        let named = hosts.iter().map(|host| (CompactString::from(&*host.host), Arc::clone(host)));
        self.by_name.extend(named);
        self.by_id.extend(hosts.into_iter().map(|host| (host.id, host)));
    }

    /// Removes a host; returns it.
    pub fn remove(&mut self, id: &HostId) -> Option<Arc<Host>> {
        let host = self.by_id.remove(id)?;
        self.forget_name(&host);
        Some(host)
    }

    /// Removes the name of a host, unless another one has it meanwhile.
    fn forget_name(&mut self, host: &Host) {
        if self.named(&host.host).is_some_and(|named| named.id == host.id) {
            self.by_name.remove(&*host.host);
        }
    }

    /// All hosts, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = (&HostId, &Arc<Host>)> {
        self.by_id.iter()
    }

    /// The same without their ids.
    pub fn values(&self) -> impl Iterator<Item = &Arc<Host>> {
        self.by_id.values()
    }

    /// What differs from an earlier state, see [`CowMap::changes`].
    pub fn changes<'a>(
        &'a self,
        before: &'a Self,
        change: impl FnMut(&'a HostId, Option<&'a Arc<Host>>, Option<&'a Arc<Host>>),
    ) {
        self.by_id.changes(&before.by_id, change);
    }

    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        self.by_id.bytes() + self.by_name.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(id: u64, name: &str) -> Arc<Host> {
        Arc::new(Host { host: name.into(), ..Host::unconfigured(HostId(id)) })
    }

    /// `id` and name of each host that is found by these names.
    fn found(hosts: &Hosts, names: &[&str]) -> Vec<(u64, String)> {
        let found = names.iter().filter_map(|name| hosts.named(name));
        found.map(|host| (host.id.0, host.host.to_string())).collect()
    }

    #[test]
    fn names_follow_their_hosts() {
        let mut hosts = Hosts::default();
        hosts.extend(vec![host(1, "a"), host(2, "b")]);
        let before = hosts.clone();
        hosts.insert(host(1, "c"));
        assert_eq!(found(&hosts, &["a", "b", "c"]), [(2, "b".into()), (1, "c".into())]);
        // Two hosts exchange their names.
        hosts.insert(host(1, "b"));
        hosts.insert(host(2, "c"));
        assert_eq!(found(&hosts, &["a", "b", "c"]), [(1, "b".into()), (2, "c".into())]);
        assert_eq!(hosts.remove(&HostId(1)).map(|host| host.id.0), Some(1));
        assert_eq!(hosts.remove(&HostId(1)).map(|host| host.id.0), None);
        assert_eq!(found(&hosts, &["a", "b", "c"]), [(2, "c".into())]);
        assert_eq!(found(&before, &["a", "b", "c"]), [(1, "a".into()), (2, "b".into())]);
    }

    #[test]
    fn names_lead_to_the_newest_state_of_a_host() {
        let mut hosts = Hosts::default();
        hosts.insert(host(1, "a"));
        let newest = Arc::new(Host { monitored: false, ..Host::clone(&host(1, "a")) });
        hosts.insert(Arc::clone(&newest));
        assert!(Arc::ptr_eq(hosts.named("a").unwrap(), &newest));
        assert!(Arc::ptr_eq(hosts.get(&HostId(1)).unwrap(), &newest));
        assert_eq!((hosts.len(), hosts.is_empty()), (1, false));
    }

    #[test]
    fn a_search_in_steps_finds_what_a_name_leads_to() {
        let names: Vec<String> =
            (0..1_000).map(|id| format!("{}{id}", "x".repeat(id % 40))).collect();
        let mut hosts = Hosts::default();
        hosts.extend((0..).zip(&names[..900]).map(|(id, name)| host(id, name)).collect());
        let searches: Vec<Search> = names.iter().map(|name| hosts.begin(name)).collect();
        searches.iter().for_each(|search| hosts.approach(*search));
        for (id, (name, search)) in (0..).zip(names.iter().zip(searches)) {
            let found = hosts.end(search, name).map(|host| host.id);
            assert_eq!(found, (id < 900).then_some(HostId(id)), "{name}");
            assert_eq!(found, hosts.named(name).map(|host| host.id));
        }
    }
}
