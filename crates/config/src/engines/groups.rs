//! Rows of pool groups as the type of an engine's configuration.

use std::collections::{BTreeMap, BTreeSet};

use balancing::{Pool, PoolGroup};
use serde_json::json;

use super::compile::{Result, typed};
use crate::db::{Reader, Row, query_by_ids};

/// Pool groups whose pools have not been loaded yet.
pub(super) struct Groups {
    rows: Vec<Row>,
    /// By id of the group, in order.
    members: BTreeMap<u64, Vec<Row>>,
}

/// Pool groups by id, those that exist.
pub(super) fn load(connection: &mut dyn Reader, ids: &[u64]) -> Result<Groups> {
    let sql = "SELECT * FROM pool_groups WHERE poolgroupid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    let sql = "SELECT * FROM pool_group_members WHERE poolgroupid IN ({ids}) \
               ORDER BY poolgroupid, position";
    let mut members: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    for row in query_by_ids(connection, sql, &[], ids)? {
        members.entry(row.id("poolgroupid")).or_default().push(row);
    }
    Ok(Groups { rows, members })
}

impl Groups {
    /// The pools of one group.
    pub(super) fn pools_of(&self, group: u64) -> impl Iterator<Item = u64> {
        self.members.get(&group).into_iter().flatten().map(|row| row.id("poolid"))
    }

    /// The pools of all groups.
    pub(super) fn pools(&self) -> BTreeSet<u64> {
        self.members.values().flatten().map(|row| row.id("poolid")).collect()
    }

    /// The groups by id, once their pools are known.
    pub(super) fn typed(&self, pools: &BTreeMap<u64, Pool>) -> Result<BTreeMap<u64, PoolGroup>> {
        let group = |row: &Row| {
            let id = row.id("poolgroupid");
            let members = self.members.get(&id).into_iter().flatten().filter_map(|row| {
                let pool = pools.get(&row.id("poolid"))?;
                let (priority, ratio) = (row.int("priority"), row.int("ratio"));
                Some(json!({ "pool": pool.name, "priority": priority, "ratio": ratio }))
            });
            let members = json!({
                "name": row.text("name"),
                "min_servers": row.int("min_servers"),
                "members": members.collect::<Vec<_>>(),
            });
            Ok((id, typed(members, &format!("pool group '{}'", row.text("name")))?))
        };
        self.rows.iter().map(group).collect()
    }
}
