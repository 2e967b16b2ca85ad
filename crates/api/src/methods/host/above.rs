//! Templates above hosts.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::Call;
use crate::error::ApiResult;

/// Templates above hosts, through all levels.
pub(crate) struct Above {
    direct: BTreeMap<u64, Vec<u64>>,
}

impl Above {
    pub(crate) fn of(call: &Call<'_>, hosts: Vec<u64>) -> ApiResult<Self> {
        let mut direct: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut next = hosts;
        while !next.is_empty() {
            let pairs = call.pairs(
                "SELECT hostid, templateid FROM host_templates WHERE hostid IN ({ids}) \
                 ORDER BY templateid",
                &next,
            )?;
            let mut further = BTreeSet::new();
            for (host, template) in pairs {
                direct.entry(host).or_default().push(template);
                further.insert(template);
            }
            next = further.into_iter().filter(|id| !direct.contains_key(id)).collect();
        }
        Ok(Self { direct })
    }

    /// Those of all hosts.
    pub(crate) fn all(&self) -> BTreeSet<u64> {
        self.direct.values().flatten().copied().collect()
    }

    /// Those of one host.
    pub(crate) fn templates(&self, host: u64) -> BTreeSet<u64> {
        let mut all = BTreeSet::new();
        let mut next = vec![host];
        while let Some(id) = next.pop() {
            for template in self.direct.get(&id).into_iter().flatten() {
                if all.insert(*template) {
                    next.push(*template);
                }
            }
        }
        all
    }
}
