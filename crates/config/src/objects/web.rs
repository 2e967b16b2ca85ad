//! The items of a web scenario.

use objects::Origin;
use std::collections::BTreeSet;

use const_format::formatcp;
use objects::sql::TYPE_WEB;

use super::{ItemChange, NewItem, Tag, create_items, delete_items, update_items};
use crate::Edit;
use crate::db::{Value, query_by_ids};
use crate::link::LinkError;
use crate::snapshot::web::keys;

/// Item type of web scenarios.
const WEB: i64 = 9;
const FLOAT: i64 = 0;
const TEXT: i64 = 1;
const UNSIGNED: i64 = 3;

/// A scenario to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebScenario {
    /// Name, unique on the host.
    pub name: String,
    /// Names of the steps, in order.
    pub steps: Vec<String>,
    /// Update interval.
    pub delay: String,
    /// 0 on, 1 off.
    pub status: i64,
    /// Universal id; empty = a new one.
    pub uuid: String,
    /// All of it as the API's JSON.
    pub doc: String,
    pub tags: Vec<Tag>,
}

/// Key, name, value type and units of each item; the first is the one that has the scenario.
fn rows(scenario: &WebScenario) -> Vec<(String, String, i64, &'static str)> {
    let name = scenario.name.as_str();
    let mut rows = vec![
        (keys::fail(name), format!("Failed step of scenario \"{name}\"."), UNSIGNED, ""),
        (keys::speed(name, ""), format!("Download speed for scenario \"{name}\"."), FLOAT, "Bps"),
        (keys::error(name), format!("Last error message of scenario \"{name}\"."), TEXT, ""),
    ];
    for step in &scenario.steps {
        let of = format!("step \"{step}\" of scenario \"{name}\".");
        rows.push((keys::speed(name, step), format!("Download speed for {of}"), FLOAT, "Bps"));
        rows.push((keys::time(name, step), format!("Response time for {of}"), FLOAT, "s"));
        rows.push((keys::code(name, step), format!("Response code for {of}"), UNSIGNED, ""));
    }
    rows
}

/// Writes a scenario of a host or template: new, or in the place of the one that hangs on `item`
/// and is called `before`. Children on linked hosts follow. Returns the item that has it.
pub fn write_web_scenario(
    edit: &mut Edit<'_>,
    hostid: u64,
    before: Option<(u64, &str)>,
    scenario: &WebScenario,
) -> Result<u64, LinkError> {
    let mut known = Vec::new();
    let (mut same_delay, mut same_status) = (false, false);
    if let Some((item, name)) = before {
        let sql = formatcp!(
            "SELECT itemid, key_, delay, status FROM items \
                   WHERE type = {TYPE_WEB} AND hostid IN ({{ids}})"
        );
        let found = query_by_ids(edit, sql, &[], &[hostid])?;
        let of_item = |row: &&crate::db::Row| row.id("itemid") == item;
        if let Some(row) = found.iter().find(of_item) {
            (same_delay, same_status) =
                (row.text("delay") == scenario.delay, row.int("status") == scenario.status);
        }
        let rows = found.iter().map(|row| (row.text("key_").to_owned(), row.id("itemid")));
        known = rows.filter(|(key, id)| *id != item && belongs(key, name)).collect();
        known.push((keys::fail(&scenario.name), item));
    }
    let (mut changes, mut new, mut used) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (n, (key, title, value_type, units)) in rows(scenario).into_iter().enumerate() {
        let mut columns: Vec<(&'static str, Value)> = vec![
            ("key_", key.clone().into()),
            ("name", title.into()),
            ("delay", scenario.delay.as_str().into()),
            ("status", scenario.status.into()),
        ];
        if n == 0 {
            columns.push(("params", scenario.doc.as_str().into()));
            if !scenario.uuid.is_empty() {
                columns.push(("uuid", scenario.uuid.as_str().into()));
            }
        }
        // An item of a renamed scenario keeps its history.
        let old = before.map(|(_, name)| key_before(&key, &scenario.name, name));
        let same = known.iter().find(|(known, id)| {
            (*known == key || old.as_ref() == Some(known)) && !used.contains(id)
        });
        if let Some((_, id)) = same {
            used.insert(*id);
            // What does not change here may be another on hosts below.
            columns.retain(|(name, _)| match *name {
                "delay" => !same_delay,
                "status" => !same_status,
                _ => true,
            });
            let tags = Some(scenario.tags.clone());
            changes.push(ItemChange { id: *id, columns, preprocessing: None, tags });
            continue;
        }
        columns.extend(fixed(hostid, value_type, units));
        new.push(NewItem { columns, preprocessing: Vec::new(), tags: scenario.tags.clone() });
    }
    let gone: Vec<u64> = known.iter().map(|(_, id)| *id).filter(|id| !used.contains(id)).collect();
    delete_items(edit, &gone)?;
    update_items(edit, &changes)?;
    let made = if new.is_empty() { Vec::new() } else { create_items(edit, &new)? };
    let item = before.map(|(item, _)| item).or(made.first().copied());
    Ok(item.expect("BUG: a scenario has an item"))
}

/// Columns that an item of a scenario keeps.
fn fixed(hostid: u64, value_type: i64, units: &str) -> [(&'static str, Value); 7] {
    [
        ("hostid", hostid.into()),
        ("flags", Value::from(Origin::Plain.number())),
        ("type", WEB.into()),
        ("value_type", value_type.into()),
        ("units", units.into()),
        ("history", "30d".into()),
        ("trends", "90d".into()),
    ]
}

/// The key that an item had while the scenario was called `before`.
fn key_before(key: &str, name: &str, before: &str) -> String {
    key.replacen(&format!("[{}", keys::quoted(name)), &format!("[{}", keys::quoted(before)), 1)
}

/// Whether a key is one of a scenario's items.
fn belongs(key: &str, name: &str) -> bool {
    let Some((_, params)) = key.split_once('[') else { return false };
    let rest = params.strip_prefix(&keys::quoted(name));
    key.starts_with("web.test.") && rest.is_some_and(|rest| rest.starts_with([',', ']']))
}

/// Deletes scenarios with their items, by host, item and name.
pub fn delete_web_scenarios(
    edit: &mut Edit<'_>,
    scenarios: &[(u64, u64, String)],
) -> Result<(), LinkError> {
    let mut all = Vec::new();
    for (hostid, item, name) in scenarios {
        let sql = formatcp!(
            "SELECT itemid, key_ FROM items WHERE type = {TYPE_WEB} AND hostid IN ({{ids}})"
        );
        let found = query_by_ids(edit, sql, &[], &[*hostid])?;
        let own = found.iter().filter(|row| belongs(row.text("key_"), name));
        all.extend(own.map(|row| row.id("itemid")));
        all.push(*item);
    }
    all.sort_unstable();
    all.dedup();
    Ok(delete_items(edit, &all)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_a_scenario() {
        for (key, name, yes) in [
            ("web.test.in[a b,,bps]", "a b", true),
            ("web.test.time[a b,c,resp]", "a b", true),
            ("web.test.fail[a b]", "a b", true),
            ("web.test.fail[a bc]", "a b", false),
            ("web.test.fail[\"a, b\"]", "a, b", true),
            ("web.page.get[a b]", "a b", false),
            ("x", "x", false),
        ] {
            assert_eq!(belongs(key, name), yes, "{key}");
        }
        let renamed = key_before("web.test.time[\"b,\",c,resp]", "b,", "a");
        assert_eq!(renamed, "web.test.time[a,c,resp]");
        let steps = vec!["one".to_owned()];
        let rows = rows(&WebScenario { name: "s".to_owned(), steps, ..WebScenario::default() });
        assert_eq!(rows.len(), 6);
        assert_eq!(rows[0].0, "web.test.fail[s]");
    }
}
