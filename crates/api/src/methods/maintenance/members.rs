//! A maintenance keeps at least one host or host group, so the last ones cannot be deleted.

use std::collections::BTreeMap;

use config::Edit;
use config::db::{Row, query_by_ids};

use crate::error::{ApiError, ApiResult};

/// Hosts or host groups that are about to be deleted, where maintenances name them.
pub(crate) struct Members {
    /// In texts.
    word: &'static str,
    /// Maintenance and name of the member.
    rows: Vec<(u64, String)>,
}

impl Members {
    /// Members that are hosts.
    pub(crate) fn hosts(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<Self> {
        let sql = "SELECT o.maintenanceid, h.host AS name FROM maintenance_hosts o \
                   JOIN hosts h ON h.hostid = o.hostid WHERE o.hostid IN ({ids})";
        Self::read(edit, "host", sql, ids)
    }

    /// Of host groups.
    pub(crate) fn groups(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<Self> {
        let sql = "SELECT o.maintenanceid, g.name FROM maintenance_groups o \
                   JOIN groups_ g ON g.groupid = o.groupid WHERE o.groupid IN ({ids})";
        Self::read(edit, "host group", sql, ids)
    }

    fn read(edit: &mut Edit<'_>, word: &'static str, sql: &str, ids: &[u64]) -> ApiResult<Self> {
        let rows = query_by_ids(edit, sql, &[], ids)?;
        let rows = rows.iter().map(|row| (row.id("maintenanceid"), row.text("name").to_owned()));
        Ok(Self { word, rows: rows.collect() })
    }

    /// Call it when they are deleted: an error undoes that.
    pub(crate) fn refuse_emptied(&self, edit: &mut Edit<'_>) -> ApiResult<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let emptied = edit.query(
            "SELECT m.maintenanceid, m.name FROM maintenances m \
             WHERE NOT EXISTS (SELECT 1 FROM maintenance_hosts o WHERE o.maintenanceid = m.maintenanceid) \
             AND NOT EXISTS (SELECT 1 FROM maintenance_groups o WHERE o.maintenanceid = m.maintenanceid) \
             ORDER BY m.maintenanceid LIMIT 1",
            &[],
        )?;
        emptied.first().map_or(Ok(()), |maintenance| Err(self.refused(maintenance)))
    }

    /// The same before they are deleted, for members that are deleted in several changes.
    pub(crate) fn refuse_emptying(&self, edit: &mut Edit<'_>) -> ApiResult<()> {
        let mut listed: BTreeMap<u64, i64> = BTreeMap::new();
        for (maintenance, _) in &self.rows {
            *listed.entry(*maintenance).or_default() += 1;
        }
        for (id, listed) in listed {
            let rows = edit.query(
                "SELECT m.maintenanceid, m.name, \
                 (SELECT COUNT(*) FROM maintenance_hosts o WHERE o.maintenanceid = m.maintenanceid) + \
                 (SELECT COUNT(*) FROM maintenance_groups o WHERE o.maintenanceid = m.maintenanceid) \
                 AS members FROM maintenances m WHERE m.maintenanceid = ?",
                &[id.into()],
            )?;
            if let Some(maintenance) = rows.first().filter(|row| row.int("members") <= listed) {
                return Err(self.refused(maintenance));
            }
        }
        Ok(())
    }

    fn refused(&self, maintenance: &Row) -> ApiError {
        let of_it = |&&(id, _): &&(u64, String)| id == maintenance.id("maintenanceid");
        let mut names: Vec<&str> =
            self.rows.iter().filter(of_it).map(|(_, name)| name.as_str()).collect();
        names.sort_unstable();
        let many = if names.len() > 1 { "s" } else { "" };
        ApiError::params(format!(
            "Cannot delete {}{many} \"{}\" because maintenance \"{}\" must contain at least one \
             host or host group.",
            self.word,
            names.join("\", \""),
            maintenance.text("name")
        ))
    }
}
