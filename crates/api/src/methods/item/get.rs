//! `get` of items, item prototypes and discovery rules.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use config::db::query_by_ids;
use const_format::formatcp;
use objects::Origin;
use objects::sql::{
    FLAGS_PROTOTYPE, FLAGS_REAL, KIND_HOST, KIND_PROTOTYPE, KIND_TEMPLATE, STATUS_ENABLED, TYPE_WEB,
};
use serde_json::Map;

use super::fields::Kind;
use super::{lld, state};
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::{Found, Get, Output};
use crate::methods::{graph, host, hostinterface, hostprototype, item, trigger};
use crate::owned::secrets;
use crate::owned::shown::is_item;
use crate::params;
use crate::permission::{Need, on_hosts};
use crate::relate::Relation;
use crate::tags;

/// Option of our own: items and item prototypes, as triggers and graphs show them.
const PROTOTYPES_TOO: &str = "with_prototypes";
const FLAGS_REAL_OR_PROTOTYPE: &str = formatcp!(
    "({}, {}, {})",
    Origin::Plain.text(),
    Origin::Prototype.text(),
    Origin::Discovered.text()
);

/// Items of triggers and graphs, which may be prototypes.
pub(crate) const WITH_PROTOTYPES: Relation =
    Relation::new("items", &item::ITEM).with(PROTOTYPES_TOO);

/// The method of all three objects.
pub(super) fn get(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Json> {
    let mut get = Get::new(call, input, kind.object(), &[])?;
    let with_prototypes = kind == Kind::Item && get.flag(PROTOTYPES_TOO);
    get.and(
        if with_prototypes {
            formatcp!("t.flags IN {FLAGS_REAL_OR_PROTOTYPE}")
        } else {
            kind.condition()
        },
        [],
    );
    conditions(&mut get, call, input, kind)?;
    if let Some(ids) = in_state(call, input, kind)? {
        get.in_ids("t.itemid IN ({ids})", &ids);
    }
    get.need(&["hostid", "value_type", "name"]);
    if kind != Kind::Item {
        get.need(&["templateid"]);
    }
    if kind == Kind::Rule {
        get.need(&["filter", "lld_macro_paths", "overrides"]);
    }
    secrets::forbid_guessing(&mut get, call, input, "t.hostid");
    if kind == Kind::Item
        && let Some(n) = count_all(call, &get, input)?
    {
        return Ok(n.to_string().into());
    }
    get.works_on(state::VALUES);
    get.works_on(&["state", "error", "name_resolved"]);
    secrets::works_on(&mut get, call);
    get.works_from_memory();
    get.answer(|found| {
        if found.rows.is_empty() {
            return Ok(());
        }
        secrets::hide(found, "hostid")?;
        state::show(found, input, kind);
        selects(found, kind)?;
        if kind == Kind::Rule { rule_selects(found) } else { Ok(()) }
    })
}

/// The number of all items, if that is asked for. Those of hosts are counted in memory, which has not
/// those of templates and host prototypes.
fn count_all(call: &Call<'_>, get: &Get<'_, '_>, input: &Json) -> ApiResult<Option<usize>> {
    let sorted = input.get("sortfield").is_some_and(|fields| !fields.is_null());
    let all = get.flag("countOutput") && get.wants_ids_alone() && !sorted;
    if !all || !call.is_super_admin() || call.transaction.is_some() {
        return Ok(None);
    }
    let hosts = &call.config().snapshot().hosts;
    let items = |host: &config::snapshot::Host| host.items.iter().filter(|i| is_item(i)).count();
    let of_hosts: usize = hosts.values().map(|host| items(host)).sum();
    let sql = formatcp!(
        "SELECT COUNT(*) AS n FROM items WHERE flags IN {FLAGS_REAL} AND type <> {TYPE_WEB} \
               AND hostid IN (SELECT hostid FROM hosts WHERE kind > {KIND_HOST})"
    );
    let rows = call.rows(sql, &[])?;
    let others = rows.first().map_or(0, |row| row.int("n"));
    Ok(Some(of_hosts + usize::try_from(others).unwrap_or(0)))
}

fn conditions(get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<()> {
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_hosts(call.user(), need, "t.hostid") {
        get.and(condition, []);
    }
    get.by_ids("itemids", "t.itemid IN ({ids})")?;
    // The one list adds to the other, as clients know it.
    let hosts = params::ids(input, "hostids")?;
    let templates = params::ids(input, "templateids")?;
    if hosts.is_some() || templates.is_some() {
        let mut ids = hosts.unwrap_or_default();
        ids.extend(templates.unwrap_or_default());
        get.in_ids("t.hostid IN ({ids})", &ids);
    }
    get.by_ids(
        "groupids",
        "t.hostid IN (SELECT hostid FROM host_groups WHERE groupid IN ({ids}))",
    )?;
    get.by_ids("interfaceids", "t.interfaceid IN ({ids})")?;
    get.by_ids("proxyids", "t.hostid IN (SELECT hostid FROM hosts WHERE proxyid IN ({ids}))")?;
    get.by_ids(
        "triggerids",
        "t.itemid IN (SELECT itemid FROM functions WHERE triggerid IN ({ids}))",
    )?;
    get.by_ids(
        "graphids",
        "t.itemid IN (SELECT itemid FROM graph_items WHERE graphid IN ({ids}))",
    )?;
    get.by_ids("valuemapids", "t.valuemapid IN ({ids})")?;
    get.by_ids("discoveryids", "t.ruleid IN ({ids})")?;
    names(get, input);
    flags(get, input, kind);
    if kind != Kind::Rule {
        let inherited = params::flag(input.get("inheritedTags"));
        let host_tags = |test: &str| {
            format!(
                "SELECT itemid FROM item_tags WHERE {test} UNION SELECT i.itemid FROM items i \
                 WHERE i.hostid IN ({})",
                tags::inherited_host_tags(test)
            )
        };
        // A test is used twice then, and so are its values.
        let own = |test: &str| format!("SELECT itemid FROM item_tags WHERE {test}");
        let condition = tags::condition(input, "t.itemid", own)?;
        if let Some((condition, values)) = condition.filter(|_| !inherited) {
            get.and(condition, values);
        } else if inherited {
            inherited_tags(get, input, &host_tags)?;
        }
    }
    get.extra("host", "t.hostid IN (SELECT hostid FROM hosts WHERE host {test})");
    Ok(())
}

/// Tags of items and of their hosts with linked templates: each test stands twice in the query.
fn inherited_tags(
    get: &mut Get<'_, '_>,
    input: &Json,
    set: &dyn Fn(&str) -> String,
) -> ApiResult<()> {
    let Some(list) = input.get("tags").and_then(Json::as_array) else { return Ok(()) };
    let any = input.get("evaltype").and_then(|v| params::int(v, "").ok()) == Some(2);
    let mut parts = Vec::new();
    let mut all = Vec::new();
    for tag in list {
        let one = serde_json::json!({ "tags": [tag] });
        if let Some((condition, values)) = tags::condition(&one, "t.itemid", set)? {
            parts.push(condition);
            all.extend(values.iter().cloned());
            all.extend(values);
        }
    }
    if !parts.is_empty() {
        get.and(format!("({})", parts.join(if any { " OR " } else { " AND " })), all);
    }
    Ok(())
}

/// Old options that take a name.
fn names(get: &mut Get<'_, '_>, input: &Json) {
    let text = |name: &str| input.get(name).and_then(Json::as_str);
    if let Some(host) = text("host") {
        get.and("t.hostid IN (SELECT hostid FROM hosts WHERE host = ?)", [host.into()]);
    }
    if let Some(group) = text("group") {
        get.and(
            "t.hostid IN (SELECT hg.hostid FROM host_groups hg \
             JOIN groups_ g ON g.groupid = hg.groupid WHERE g.name = ?)",
            [group.into()],
        );
    }
}

/// Options that are true, false or absent.
fn flags(get: &mut Get<'_, '_>, input: &Json, kind: Kind) {
    let monitored = formatcp!(
        "(t.status = {STATUS_ENABLED} AND t.hostid IN \
                     (SELECT hostid FROM hosts WHERE kind = {KIND_HOST} AND status = {STATUS_ENABLED}))"
    );
    let table: &[(&str, &str)] = &[
        ("inherited", "t.templateid > 0"),
        (
            "templated",
            formatcp!("t.hostid IN (SELECT hostid FROM hosts WHERE kind = {KIND_TEMPLATE})"),
        ),
        ("monitored", monitored),
        ("with_triggers", "t.itemid IN (SELECT itemid FROM functions)"),
    ];
    for (option, condition) in table {
        match input.get(*option) {
            None | Some(Json::Null) => {}
            value if params::flag(value) => get.and(*condition, []),
            _ => get.and(format!("NOT ({condition})"), []),
        }
    }
    let webitems = params::flag(input.get("webitems"));
    let by_id = input.get("itemids").is_some_and(|v| !v.is_null());
    if kind == Kind::Item && !webitems && !by_id {
        get.and(formatcp!("t.type <> {TYPE_WEB}"), []);
    }
}

/// Ids of items in the states that `filter` asks for: states are no column.
fn in_state(call: &Call<'_>, input: &Json, kind: Kind) -> ApiResult<Option<Vec<u64>>> {
    let Some(wanted) = input.get("filter").and_then(|f| f.get("state")) else { return Ok(None) };
    if kind == Kind::Prototype || wanted.is_null() {
        return Ok(None);
    }
    let wanted: Vec<i64> =
        params::list(wanted).into_iter().filter_map(|v| params::int(v, "").ok()).collect();
    let mut all = input.clone();
    if let Some(members) = all.as_object_mut() {
        for name in ["limit", "countOutput", "output", "sortfield", "preservekeys"] {
            members.shift_remove(name);
        }
        members.retain(|name, _| !name.starts_with("select"));
        if let Some(filter) = members.get_mut("filter").and_then(Json::as_object_mut) {
            filter.shift_remove("state");
        }
        members.insert("output".to_owned(), serde_json::json!(["itemid"]));
    }
    let found = call.inside(|| get(call, &all, kind))?;
    let ids: Vec<u64> = found
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|row| row["itemid"].as_str()?.parse().ok())
        .collect();
    let states = state::of(call, &ids);
    Ok(Some(
        ids.into_iter()
            .zip(states)
            .filter(|(_, state)| wanted.contains(&i64::from(!state.error.is_empty())))
            .map(|(id, _)| id)
            .collect(),
    ))
}

const TRIGGERS: Relation = Relation::new("triggers", &trigger::TRIGGER);
const PROTOTYPES: Relation = Relation::new("triggers", &trigger::PROTOTYPE);
const GRAPHS: Relation = Relation::new("graphs", &graph::GRAPH);
const GRAPH_PROTOTYPES: Relation = Relation::new("graphs", &graph::PROTOTYPE);
const INTERFACES: Relation = Relation::new("interfaces", &hostinterface::INTERFACE);
const RULE: Relation = Relation::new("discoveryRule", &item::RULE);
const ITEMS: Relation = Relation::new("items", &item::PROTOTYPE);

fn selects(found: &mut Found<'_, '_>, kind: Kind) -> ApiResult<()> {
    let ids = found.ids();
    if let Some(wanted) = found.wants_uncounted("selectHosts")? {
        let pairs: Vec<(u64, u64)> =
            found.rows.iter().map(|row| (row.id, row.row.id("hostid"))).collect();
        hosts(found, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants("selectTags")?.filter(|_| kind != Kind::Rule) {
        found.attach(
            "tags",
            &wanted,
            "SELECT itemid AS owner, tag, value FROM item_tags WHERE itemid IN ({ids}) \
             ORDER BY itemtagid",
            &["tag", "value"],
        )?;
    }
    if let Some(wanted) = found.wants("selectPreprocessing")? {
        found.attach(
            "preprocessing",
            &wanted,
            "SELECT itemid AS owner, type, params, error_handler, error_handler_params \
             FROM item_preprocessing WHERE itemid IN ({ids}) ORDER BY itemid, step",
            &["type", "params", "error_handler", "error_handler_params"],
        )?;
    }
    if let Some(wanted) = found.wants_uncounted("selectInterfaces")?.filter(|_| kind == Kind::Item)
    {
        let sql = "SELECT itemid, interfaceid FROM items \
                   WHERE interfaceid > 0 AND itemid IN ({ids})";
        let pairs = found.call.pairs(sql, &ids)?;
        found.relate_as(&INTERFACES, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants("selectTriggers")? {
        let rule = kind == Kind::Rule;
        let sql = if rule {
            "SELECT DISTINCT i.ruleid, f.triggerid FROM functions f \
             JOIN items i ON i.itemid = f.itemid WHERE i.ruleid IN ({ids})"
        } else {
            "SELECT DISTINCT itemid, triggerid FROM functions WHERE itemid IN ({ids})"
        };
        let pairs = found.call.pairs(sql, &ids)?;
        let relation = if kind == Kind::Item { &TRIGGERS } else { &PROTOTYPES };
        found.relate_as(relation, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants("selectGraphs")? {
        let sql = if kind == Kind::Rule {
            "SELECT DISTINCT i.ruleid, f.graphid FROM graph_items f \
             JOIN items i ON i.itemid = f.itemid WHERE i.ruleid IN ({ids})"
        } else {
            "SELECT DISTINCT itemid, graphid FROM graph_items WHERE itemid IN ({ids})"
        };
        let pairs = found.call.pairs(sql, &ids)?;
        let relation = if kind == Kind::Item { &GRAPHS } else { &GRAPH_PROTOTYPES };
        found.relate_as(relation, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectValueMap")?.filter(|_| kind != Kind::Rule) {
        value_maps(found, &wanted, &ids)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectDiscoveryRule")? {
        let sql = if kind == Kind::Prototype {
            "SELECT itemid, ruleid FROM items WHERE ruleid > 0 AND itemid IN ({ids})"
        } else {
            "SELECT d.itemid, p.ruleid FROM item_discovery d \
             JOIN items p ON p.itemid = d.parent_itemid WHERE d.itemid IN ({ids})"
        };
        let pairs = found.call.pairs(sql, &ids)?;
        found.relate_one(&RULE, &wanted, &pairs)?;
    }
    if let Some(wanted) =
        found.wants_uncounted("selectItemDiscovery")?.filter(|_| kind == Kind::Item)
    {
        item_discovery(found, &wanted, &ids)?;
    }
    Ok(())
}

/// Hosts and templates; the `status` of a template is 3.
const HOSTS: Relation = Relation::new("hosts", &host::HOST).with("templated_hosts");

/// Adds `hosts`, templates among them.
pub(crate) fn hosts(
    found: &mut Found<'_, '_>,
    wanted: &Output,
    pairs: &[(u64, u64)],
) -> ApiResult<()> {
    found.relate_as(&HOSTS, wanted, pairs)
}

/// Adds `valuemap` with name and mappings. It is the template's for inherited items, which the
/// user need not see otherwise, so it is read here.
fn value_maps(found: &mut Found<'_, '_>, wanted: &Output, ids: &[u64]) -> ApiResult<()> {
    let sql = "SELECT itemid, valuemapid FROM items WHERE valuemapid > 0 AND itemid IN ({ids})";
    let of_item: HashMap<u64, u64> = found.call.pairs(sql, ids)?.into_iter().collect();
    let maps: BTreeSet<u64> = of_item.values().copied().collect();
    let maps: Vec<u64> = maps.into_iter().collect();
    let shown = found.call.read(|c| {
        let sql = "SELECT valuemapid, name FROM valuemaps WHERE valuemapid IN ({ids})";
        let names = query_by_ids(c, sql, &[], &maps)?;
        let sql = "SELECT valuemapid, type, value, newvalue FROM valuemap_mappings \
                   WHERE valuemapid IN ({ids}) ORDER BY valuemapid, sortorder";
        let mut mappings: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
        for row in query_by_ids(c, sql, &[], &maps)? {
            mappings.entry(row.id("valuemapid")).or_default().push(serde_json::json!({
                "type": row.int("type").to_string(),
                "value": row.text("value"),
                "newvalue": row.text("newvalue"),
            }));
        }
        let mut shown: BTreeMap<u64, Json> = BTreeMap::new();
        for row in names {
            let id = row.id("valuemapid");
            let mut out = Map::new();
            let mut put = |name: &str, value: Json| {
                if wanted.has(name) {
                    out.insert(name.to_owned(), value);
                }
            };
            put("valuemapid", id.to_string().into());
            put("name", row.text("name").into());
            put("mappings", mappings.remove(&id).unwrap_or_default().into());
            shown.insert(id, Json::Object(out));
        }
        Ok(shown)
    })?;
    for row in &mut found.rows {
        let map = of_item.get(&row.id).and_then(|id| shown.get(id)).cloned();
        row.out.insert("valuemap", map.unwrap_or_else(|| Json::Array(Vec::new())));
    }
    Ok(())
}

/// Adds `itemDiscovery`: what made a discovered item.
fn item_discovery(found: &mut Found<'_, '_>, wanted: &Output, ids: &[u64]) -> ApiResult<()> {
    let names = [
        "itemid",
        "parent_itemid",
        "key_",
        "lastcheck",
        "ts_delete",
        "status",
        "disable_source",
        "ts_disable",
    ];
    let sql = "SELECT * FROM item_discovery WHERE itemid IN ({ids})";
    let rows = found.call.read(|c| Ok(query_by_ids(c, sql, &[], ids)?))?;
    let mut shown: HashMap<u64, Json> = HashMap::new();
    for row in rows {
        let mut out = Map::new();
        if wanted.has("itemdiscoveryid") {
            out.insert("itemdiscoveryid".to_owned(), row.id("itemid").to_string().into());
        }
        for name in names.iter().filter(|name| wanted.has(name)) {
            let value = row.get(name).map(ToString::to_string).unwrap_or_default();
            out.insert((*name).to_owned(), value.into());
        }
        shown.insert(row.id("itemid"), Json::Object(out));
    }
    for row in &mut found.rows {
        let one = shown.remove(&row.id).unwrap_or_else(|| Json::Array(Vec::new()));
        row.out.insert("itemDiscovery", one);
    }
    Ok(())
}

fn rule_selects(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let ids = found.ids();
    if let Some(wanted) = found.wants("selectItems")? {
        let sql = formatcp!(
            "SELECT ruleid, itemid FROM items WHERE flags = {FLAGS_PROTOTYPE} AND ruleid IN ({{ids}})"
        );
        let pairs = found.call.pairs(sql, &ids)?;
        found.relate_as(&ITEMS, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants("selectHostPrototypes")? {
        let sql = formatcp!(
            "SELECT d.parent_itemid, d.hostid FROM host_discovery d \
                   JOIN hosts p ON p.hostid = d.hostid \
                   WHERE p.kind = {KIND_PROTOTYPE} AND d.parent_itemid IN ({{ids}}) ORDER BY d.hostid"
        );
        let pairs = found.call.pairs(sql, &ids)?;
        let relation = Relation::new("hostPrototypes", &hostprototype::HOST_PROTOTYPE);
        found.relate_as(&relation, &wanted, &pairs)?;
    }
    let filter = found.wants_uncounted("selectFilter")?;
    let paths = found.wants("selectLLDMacroPaths")?;
    let overrides = found.wants("selectOverrides")?;
    for row in &mut found.rows {
        if let Some(wanted) = &filter {
            let shown = lld::show_filter(row.row.text("filter"), wanted);
            row.out.insert("filter", shown);
        }
        if let Some(wanted) = &paths {
            let stored = serde_json::from_str::<Json>(row.row.text("lld_macro_paths"));
            let mut list = stored.unwrap_or_else(|_| Json::Array(Vec::new()));
            for one in list.as_array_mut().into_iter().flatten() {
                if let Json::Object(members) = one {
                    members.retain(|name, _| wanted.has(name));
                }
            }
            row.out.insert("lld_macro_paths", counted(list, wanted));
        }
        if let Some(wanted) = &overrides {
            let shown = lld::show_overrides(row.row.text("overrides"), wanted);
            row.out.insert("overrides", counted(shown, wanted));
        }
    }
    Ok(())
}

fn counted(list: Json, wanted: &Output) -> Json {
    match wanted {
        Output::Count => list.as_array().map_or(0, Vec::len).to_string().into(),
        _ => list,
    }
}
