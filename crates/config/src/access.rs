//! Who sees which host: the rule that the API and messages to users share.
//!
//! A user group has rights on groups of hosts and templates (0 deny, 2 read, 3 read and write). Of the rights of a user's
//! groups on the groups of a host, the highest counts, but one deny denies. Super admins see everything.

use std::collections::{BTreeMap, BTreeSet};

use crate::db::{DbResult, Reader, id_params, placeholders, query_by_ids};

/// Right to see a host, its data and its problems.
pub const READ: u8 = 2;

/// The condition after `HAVING` for rows of `group_rights r`, grouped by what the rights are on: they grant the level.
pub fn granted(level: u8) -> String {
    format!("MIN(r.permission) > 0 AND MAX(r.permission) >= {level}")
}

/// Pairs of user and host: which of `users` have rights to read which of `hosts`. It leaves out the type of the users' roles.
pub fn readers(
    connection: &mut dyn Reader,
    users: &[u64],
    hosts: &[u64],
) -> DbResult<BTreeSet<(u64, u64)>> {
    let mut found = BTreeSet::new();
    for portion in users.chunks(1_000) {
        let sql = format!(
            "SELECT ug.userid AS userid, hg.hostid AS hostid FROM user_groups ug \
             JOIN group_rights r ON r.usrgrpid = ug.usrgrpid \
             JOIN host_groups hg ON hg.groupid = r.groupid \
             WHERE ug.userid IN ({}) AND hg.hostid IN ({{ids}}) \
             GROUP BY ug.userid, hg.hostid HAVING {}",
            placeholders(portion.len()),
            granted(READ)
        );
        let users = id_params(portion.iter().copied());
        let rows = query_by_ids(connection, &sql, &users, hosts)?;
        found.extend(rows.iter().map(|row| (row.id("userid"), row.id("hostid"))));
    }
    Ok(found)
}

/// Rights of user groups on hosts, for readers whose groups are known later.
#[derive(Debug, Clone, Default)]
pub struct GroupRights {
    /// By host: user group, group of hosts, level.
    of_host: BTreeMap<u64, Vec<(u64, u64, i64)>>,
    filters: Filters,
}

impl GroupRights {
    /// Those of all user groups on `hosts`.
    pub fn read(connection: &mut dyn Reader, hosts: &[u64]) -> DbResult<Self> {
        let sql = "SELECT r.usrgrpid AS usrgrpid, r.groupid AS groupid, r.permission AS permission, \
                   hg.hostid AS hostid FROM group_rights r \
                   JOIN host_groups hg ON hg.groupid = r.groupid WHERE hg.hostid IN ({ids})";
        let mut of_host: BTreeMap<u64, Vec<(u64, u64, i64)>> = BTreeMap::new();
        for row in query_by_ids(connection, sql, &[], hosts)? {
            let right = (row.id("usrgrpid"), row.id("groupid"), row.int("permission"));
            of_host.entry(row.id("hostid")).or_default().push(right);
        }
        Ok(Self { of_host, filters: Filters::read(connection)? })
    }

    /// A member of these user groups sees the problem of these hosts with these tags. Nobody sees one without hosts.
    pub fn show(&self, groups: &[u64], hosts: &[u64], tags: &[(String, String)]) -> bool {
        let own = |host: &u64| {
            let all = self.of_host.get(host).into_iter().flatten();
            all.filter(|(user_group, ..)| groups.contains(user_group))
        };
        let reads = |host: &u64| {
            let levels = || own(host).map(|(.., level)| *level);
            levels().all(|level| level > 0) && levels().any(|level| level >= READ.into())
        };
        let mut ways = hosts.iter().flat_map(own).filter(|(.., level)| *level >= READ.into());
        !hosts.is_empty()
            && hosts.iter().all(reads)
            && ways.any(|(user_group, group, _)| self.filters.show(*user_group, *group, tags))
    }
}

/// Tag filters by user group and group of hosts: name and value of tags; an empty one is any.
#[derive(Debug, Clone, Default)]
struct Filters(BTreeMap<(u64, u64), Vec<(String, String)>>);

impl Filters {
    fn read(connection: &mut dyn Reader) -> DbResult<Self> {
        let sql = "SELECT usrgrpid, groupid, tag, value FROM tag_filters";
        let mut filters: BTreeMap<(u64, u64), Vec<(String, String)>> = BTreeMap::new();
        for row in connection.query(sql, &[])? {
            let tag = (row.text("tag").to_owned(), row.text("value").to_owned());
            filters.entry((row.id("usrgrpid"), row.id("groupid"))).or_default().push(tag);
        }
        Ok(Self(filters))
    }

    /// The user group sees a problem with these tags on hosts of the group.
    fn show(&self, user_group: u64, group: u64, tags: &[(String, String)]) -> bool {
        let any = |wanted: &(String, String), (name, value): &(String, String)| {
            wanted.0 == *name && (wanted.1.is_empty() || wanted.1 == *value)
        };
        self.0.get(&(user_group, group)).is_none_or(|filters| {
            let fits =
                |one: &(String, String)| one.0.is_empty() || tags.iter().any(|tag| any(one, tag));
            filters.iter().any(fits)
        })
    }
}

/// Which problems the tag filters of user groups show.
///
/// A group without filters on a group of hosts shows all problems of these hosts.
#[derive(Debug, Default)]
pub struct TagFilters {
    filters: Filters,
    /// By user and host: user groups with a right on a group of the host.
    ways: BTreeMap<(u64, u64), BTreeSet<(u64, u64)>>,
}

impl TagFilters {
    /// Those of the user groups of `users` on `hosts`.
    pub fn read(connection: &mut dyn Reader, users: &[u64], hosts: &[u64]) -> DbResult<Self> {
        let filters = Filters::read(connection)?;
        let mut ways: BTreeMap<(u64, u64), BTreeSet<(u64, u64)>> = BTreeMap::new();
        // Most servers have none.
        let users = if filters.0.is_empty() { &[] } else { users };
        for portion in users.chunks(1_000) {
            let sql = format!(
                "SELECT ug.userid AS userid, ug.usrgrpid AS usrgrpid, r.groupid AS groupid, \
                 hg.hostid AS hostid FROM user_groups ug \
                 JOIN group_rights r ON r.usrgrpid = ug.usrgrpid AND r.permission >= {READ} \
                 JOIN host_groups hg ON hg.groupid = r.groupid \
                 WHERE ug.userid IN ({}) AND hg.hostid IN ({{ids}})",
                placeholders(portion.len())
            );
            let users = id_params(portion.iter().copied());
            for row in query_by_ids(connection, &sql, &users, hosts)? {
                let way = (row.id("usrgrpid"), row.id("groupid"));
                ways.entry((row.id("userid"), row.id("hostid"))).or_default().insert(way);
            }
        }
        Ok(Self { filters, ways })
    }

    /// The user, who may read the hosts, sees their problem with these tags.
    pub fn show(
        &self,
        user: u64,
        hosts: impl IntoIterator<Item = u64>,
        tags: &[(String, String)],
    ) -> bool {
        let mut ways = hosts.into_iter().filter_map(|host| self.ways.get(&(user, host))).flatten();
        self.filters.0.is_empty()
            || ways.any(|(user_group, group)| self.filters.show(*user_group, *group, tags))
    }
}

#[cfg(test)]
mod tests;
