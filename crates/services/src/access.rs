//! Which services the rules of a role let its users see and change: what the API and messages to users share.
//!
//! A role has all services, or those that it lists or that have its tag, with everything below them. Who may change a
//! service sees it too. Super admins are bound by their roles like others. Observed on Zabbix 7.0.22.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, Value, placeholders, query_by_ids};
use objects::UserType;
use serde_json::Value as Json;

/// What is done with a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Read,
    Write,
}

/// Services from which the right goes down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Scope {
    all: bool,
    listed: Vec<u64>,
    /// Name and value; an empty value is any.
    tag: Option<(String, String)>,
}

impl Scope {
    fn of(rules: &Json, access: &str, default: bool) -> Self {
        let rule = |name: &str| rules.get(format!("services.{access}.{name}"));
        let all = match rule("mode") {
            Some(mode) => mode.as_str() == Some("1") || mode.as_i64() == Some(1),
            None => default,
        };
        let ids = rule("list").and_then(Json::as_array).into_iter().flatten();
        let id = |one: &Json| {
            let id = one.get("serviceid")?;
            id.as_u64().or_else(|| id.as_str()?.parse().ok())
        };
        let text = |name: &str| rule("tag").and_then(|tag| tag.get(name)?.as_str()).unwrap_or("");
        let tag = Some((text("tag").to_owned(), text("value").to_owned()));
        Self {
            all,
            listed: ids.filter_map(id).collect(),
            tag: tag.filter(|(name, _)| !name.is_empty()),
        }
    }

    /// Condition on the column `serviceid` of `services`.
    fn roots(&self) -> (String, Vec<Value>) {
        let mut parts = vec!["1 = 0".to_owned()];
        let mut values: Vec<Value> = Vec::new();
        if !self.listed.is_empty() {
            let ids: Vec<String> = self.listed.iter().map(ToString::to_string).collect();
            parts.push(format!("serviceid IN ({})", ids.join(",")));
        }
        if let Some((tag, value)) = &self.tag {
            let of_value = if value.is_empty() { "" } else { " AND value = ?" };
            parts.push(format!(
                "serviceid IN (SELECT serviceid FROM service_tags WHERE tag = ?{of_value})"
            ));
            values.push(tag.as_str().into());
            values.extend(Some(value.as_str()).filter(|value| !value.is_empty()).map(Value::from));
        }
        (parts.join(" OR "), values)
    }
}

/// What a role may do with services.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    read: Scope,
    write: Scope,
}

impl Access {
    /// By the role's rules as they are stored, and its type.
    pub fn of(rules: &Json, kind: UserType) -> Self {
        let read = Scope::of(rules, "read", true);
        Self { read, write: Scope::of(rules, "write", kind > UserType::User) }
    }

    /// It has all services.
    pub fn has_all(&self, need: Need) -> bool {
        self.write.all || (need == Need::Read && self.read.all)
    }

    /// Condition on the id in `column`; `None` = it has all services.
    pub fn condition(&self, need: Need, column: &str) -> Option<(String, Vec<Value>)> {
        if self.has_all(need) {
            return None;
        }
        let (mut roots, mut values) = self.write.roots();
        if need == Need::Read {
            let (more, further) = self.read.roots();
            roots = format!("{roots} OR {more}");
            values.extend(further);
        }
        let condition = format!(
            "{column} IN (WITH RECURSIVE seen(id) AS (SELECT serviceid FROM services WHERE {roots} \
             UNION SELECT l.serviceid FROM service_links l JOIN seen ON l.parentid = seen.id) SELECT id FROM seen)"
        );
        Some((condition, values))
    }

    /// Those of these services that exist and that it has.
    pub fn among(
        &self,
        connection: &mut dyn Reader,
        need: Need,
        ids: &[u64],
    ) -> DbResult<BTreeSet<u64>> {
        let all = || ("1 = 1".to_owned(), Vec::new());
        let (condition, values) = self.condition(need, "serviceid").unwrap_or_else(all);
        let sql =
            format!("SELECT serviceid FROM services WHERE {condition} AND serviceid IN ({{ids}})");
        let rows = query_by_ids(connection, &sql, &values, ids)?;
        Ok(rows.iter().map(|row| row.id("serviceid")).collect())
    }
}

/// Pairs of user and service: which of `users` see which of `services`.
pub fn readers(
    connection: &mut dyn Reader,
    users: &[u64],
    services: &[u64],
) -> DbResult<BTreeSet<(u64, u64)>> {
    let mut of_role: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let sql = "SELECT userid, roleid FROM users WHERE userid IN ({ids})";
    for row in query_by_ids(connection, sql, &[], users)? {
        of_role.entry(row.id("roleid")).or_default().push(row.id("userid"));
    }
    let roles: Vec<u64> = of_role.keys().copied().collect();
    let sql = format!(
        "SELECT roleid, type, rules FROM roles WHERE roleid IN ({})",
        placeholders(roles.len())
    );
    let mut found = BTreeSet::new();
    if roles.is_empty() || services.is_empty() {
        return Ok(found);
    }
    let ids: Vec<Value> = roles.into_iter().map(Value::from).collect();
    for row in connection.query(&sql, &ids)? {
        let rules = serde_json::from_str(row.text("rules")).unwrap_or(Json::Null);
        let kind = UserType::from_number(row.int("type")).unwrap_or(UserType::User);
        let seen = Access::of(&rules, kind).among(connection, Need::Read, services)?;
        let users = of_role.get(&row.id("roleid")).into_iter().flatten();
        found.extend(users.flat_map(|user| seen.iter().map(|service| (*user, *service))));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use config::db::{DbError, Location};
    use config::{Config, table};
    use serde_json::json;

    use super::*;

    #[test]
    fn rights_go_down_the_tree() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::open(Location::Sqlite(dir.path().join("config.db"))).unwrap();
        let made: Result<(), DbError> = config.write(|edit| {
            for id in 1..=5_u64 {
                edit.insert(&table::SERVICES, &[("serviceid", id.into()), ("name", "s".into())])?;
            }
            // 1 above 2 and 4, 2 above 3.
            for (child, parent) in [(2_u64, 1_u64), (3, 2), (4, 1)] {
                edit.insert(
                    &table::SERVICE_LINKS,
                    &[("serviceid", child.into()), ("parentid", parent.into())],
                )?;
            }
            let tag = [("serviceid", 4_u64.into()), ("tag", "m".into()), ("value", "x".into())];
            edit.insert_new(&table::SERVICE_TAGS, &tag).map(drop)
        });
        made.unwrap();
        let all = [1, 2, 3, 4, 5];
        for (rules, kind, read, write) in [
            (json!({}), UserType::User, &all[..], &[][..]),
            (json!({}), UserType::Admin, &all, &all),
            (json!({"services.read.mode": "0"}), UserType::User, &[], &[]),
            (
                json!({"services.read.mode": "0", "services.write.mode": "0"}),
                UserType::SuperAdmin,
                &[],
                &[],
            ),
            (
                json!({"services.read.mode": "0", "services.read.list": [{"serviceid": "2"}],
                       "services.write.mode": "0", "services.write.tag": {"tag": "m", "value": "x"}}),
                UserType::User,
                &[2, 3, 4],
                &[4],
            ),
            (
                json!({"services.read.mode": "0", "services.read.tag": {"tag": "m", "value": ""},
                       "services.write.list": [{"serviceid": "3"}]}),
                UserType::User,
                &[3, 4],
                &[3],
            ),
            (
                json!({"services.read.mode": "0", "services.read.tag": {"tag": "m", "value": "y"}}),
                UserType::User,
                &[],
                &[],
            ),
        ] {
            let access = Access::of(&rules, kind);
            for (need, expected) in [(Need::Read, read), (Need::Write, write)] {
                let found = config.read(|connection| access.among(connection, need, &all)).unwrap();
                assert_eq!(Vec::from_iter(found), expected, "{need:?} {rules}");
            }
        }
    }
}
