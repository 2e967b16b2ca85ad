//! What hosts and templates own, as the `select…` options show it.

use std::collections::{BTreeMap, HashMap};

use config::db::query_by_ids;
use config::snapshot::{Item, ItemType};
use const_format::formatcp;
use model::HostId;
use objects::sql::{FLAGS_REAL, FLAGS_RULE, TYPE_WEB};

use crate::call::Json;
use crate::error::ApiResult;
use crate::get::{Found, Output};
use crate::methods::{item, trigger};
use crate::object::Object;
use crate::owned::macros::SECRET;
use crate::relate::Relation;

/// Relation to items.
pub(crate) const ITEMS: Relation = Relation::new("items", &item::ITEM).bare().sorted("name");
/// Relation to discovery rules.
pub(crate) const DISCOVERIES: Relation =
    Relation::new("discoveries", &item::RULE).bare().sorted("name");
/// Relation to triggers.
pub(crate) const TRIGGERS: Relation =
    Relation::new("triggers", &trigger::TRIGGER).sorted("description");

/// Whether clients know it as an item: neither a discovery rule nor made by a web scenario.
pub(crate) fn is_item(item: &Item) -> bool {
    !item.shape.discovery_rule && item.shape.kind != ItemType::Web
}

/// Answers `selectItems`, `selectTriggers`, `selectDiscoveries`.
pub(crate) fn attach_monitored(found: &mut Found<'_, '_>) -> ApiResult<()> {
    if counts(found, "selectItems")? {
        count(found, "items", formatcp!("flags IN {FLAGS_REAL} AND type <> {TYPE_WEB}"), is_item)?;
    } else if let Some(wanted) = found.wants("selectItems")? {
        let pairs = found.call.pairs(
            formatcp!("SELECT hostid, itemid FROM items WHERE flags IN {FLAGS_REAL} AND type <> {TYPE_WEB} \
             AND hostid IN ({{ids}}) ORDER BY itemid"),
            &found.ids(),
        )?;
        found.relate_as(&ITEMS, &wanted, &pairs)?;
    }
    if counts(found, "selectDiscoveries")? {
        count(found, "discoveries", formatcp!("flags = {FLAGS_RULE}"), |item| {
            item.shape.discovery_rule
        })?;
    } else if let Some(wanted) = found.wants("selectDiscoveries")? {
        let pairs = found.call.pairs(
            formatcp!("SELECT hostid, itemid FROM items WHERE flags = {FLAGS_RULE} AND hostid IN ({{ids}}) ORDER BY itemid"),
            &found.ids(),
        )?;
        found.relate_as(&DISCOVERIES, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants("selectTriggers")? {
        let pairs = found.call.pairs(
            formatcp!(
                "SELECT DISTINCT i.hostid, f.triggerid FROM functions f \
               JOIN items i ON i.itemid = f.itemid \
               JOIN triggers tr ON tr.triggerid = f.triggerid \
             WHERE tr.flags IN {FLAGS_REAL} AND i.hostid IN ({{ids}}) ORDER BY f.triggerid"
            ),
            &found.ids(),
        )?;
        found.relate_as(&TRIGGERS, &wanted, &pairs)?;
    }
    Ok(())
}

/// Does the option ask for nothing but the number of items? Users who see a host or template see its
/// items, so they are counted where they are.
fn counts(found: &Found<'_, '_>, option: &str) -> ApiResult<bool> {
    let limited = found.option("limitSelects").is_some_and(|limit| !limit.is_null());
    Ok(!limited && found.wants(option)? == Some(Output::Count))
}

/// Adds to each row how many of its items meet `condition`, which `is` says of an item in memory.
fn count(
    found: &mut Found<'_, '_>,
    member: &'static str,
    condition: &str,
    is: fn(&Item) -> bool,
) -> ApiResult<()> {
    let snapshot = found.call.config().snapshot();
    // Changes of a transaction are not in memory yet, and templates never are.
    let of_memory = |id: u64| {
        let host = snapshot.hosts.get(&HostId(id)).filter(|_| found.call.transaction.is_none())?;
        u64::try_from(host.items.iter().filter(|item| is(item)).count()).ok()
    };
    let (mut counts, mut others) = (HashMap::new(), Vec::new());
    for id in found.ids() {
        match of_memory(id) {
            Some(count) => drop(counts.insert(id, count)),
            None => others.push(id),
        }
    }
    if !others.is_empty() {
        let sql = format!(
            "SELECT hostid, COUNT(*) AS n FROM items WHERE {condition} AND hostid IN ({{ids}}) \
             GROUP BY hostid"
        );
        counts.extend(found.call.pairs(&sql, &others)?);
    }
    for row in &mut found.rows {
        let count = counts.get(&row.id).copied().unwrap_or(0);
        row.out.insert(member, count.to_string().into());
    }
    Ok(())
}

/// Answers `selectMacros`; secrets have no value.
pub(crate) fn attach_macros(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants_list("selectMacros")? else { return Ok(()) };
    let fields = ["hostmacroid", "hostid", "macro", "value", "description", "type", "automatic"];
    let ids = found.ids();
    let rows = found.call.read(|c| {
        let sql = "SELECT * FROM hostmacros WHERE hostid IN ({ids}) ORDER BY hostmacroid";
        Ok(query_by_ids(c, sql, &[], &ids)?)
    })?;
    let mut of_host: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in rows {
        let mut out = serde_json::Map::new();
        for field in fields.iter().filter(|field| wanted.has(field)) {
            if *field == "value" && row.int("type") == SECRET {
                continue;
            }
            let value = row.get(field).map(ToString::to_string).unwrap_or_default();
            out.insert((*field).to_owned(), value.into());
        }
        of_host.entry(row.id("hostid")).or_default().push(out.into());
    }
    put(found, "macros", of_host);
    Ok(())
}

/// Answers `selectTags`.
pub(crate) fn attach_tags(found: &mut Found<'_, '_>, fields: &[&str]) -> ApiResult<()> {
    let Some(wanted) = found.wants_list("selectTags")? else { return Ok(()) };
    found.attach(
        "tags",
        &wanted,
        "SELECT hostid AS owner, tag, value, automatic FROM host_tags WHERE hostid IN ({ids}) \
         ORDER BY hosttagid",
        fields,
    )
}

/// Answers `selectValueMaps`.
pub(crate) fn attach_value_maps(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants_list("selectValueMaps")? else { return Ok(()) };
    let ids = found.ids();
    let (maps, mappings) = found.call.read(|c| {
        let sql = "SELECT * FROM valuemaps WHERE hostid IN ({ids}) ORDER BY valuemapid";
        let maps = query_by_ids(c, sql, &[], &ids)?;
        let map_ids: Vec<u64> = maps.iter().map(|row| row.id("valuemapid")).collect();
        let sql = "SELECT * FROM valuemap_mappings WHERE valuemapid IN ({ids}) \
                   ORDER BY valuemapid, sortorder";
        Ok((maps, query_by_ids(c, sql, &[], &map_ids)?))
    })?;
    let mut of_map: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in mappings {
        let one = serde_json::json!({
            "type": row.int("type").to_string(),
            "value": row.text("value"),
            "newvalue": row.text("newvalue"),
        });
        of_map.entry(row.id("valuemapid")).or_default().push(one);
    }
    let mut of_host: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in maps {
        let id = row.id("valuemapid");
        let mut out = serde_json::Map::new();
        let mut put = |name: &str, value: Json| {
            if wanted.has(name) {
                out.insert(name.to_owned(), value);
            }
        };
        put("valuemapid", id.to_string().into());
        put("name", row.text("name").into());
        if wanted != Output::Extend {
            put("uuid", row.text("uuid").into());
        }
        put("mappings", of_map.remove(&id).unwrap_or_default().into());
        of_host.entry(row.id("hostid")).or_default().push(out.into());
    }
    put(found, "valuemaps", of_host);
    Ok(())
}

/// Answers an option about groups with the groups of the given type (0 host, 1 template).
pub(crate) fn attach_groups(
    found: &mut Found<'_, '_>,
    option: &str,
    member: &'static str,
    groups: &'static Object,
) -> ApiResult<()> {
    let Some(wanted) = found.wants_list(option)? else { return Ok(()) };
    let pairs = found.call.pairs(
        "SELECT hostid, groupid FROM host_groups WHERE hostid IN ({ids}) ORDER BY groupid",
        &found.ids(),
    )?;
    found.relate_as(&Relation::new(member, groups), &wanted, &pairs)
}

/// Gives each row the list that belongs to it.
pub(crate) fn put(found: &mut Found<'_, '_>, member: &str, mut of_row: BTreeMap<u64, Vec<Json>>) {
    for row in &mut found.rows {
        let list = of_row.remove(&row.id).unwrap_or_default();
        row.out.insert(member.to_owned(), Json::Array(list));
    }
}
