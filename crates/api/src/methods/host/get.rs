//! `host.get`.

use std::collections::{BTreeMap, BTreeSet};

use config::db::query_by_ids;
use const_format::formatcp;
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER, STATUS_ENABLED};
use serde_json::json;

use super::{Above, HOST};
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::{Found, Get, Output};
use crate::methods::event::suppressed;
use crate::methods::{graph, group, hostinterface, httptest, item, template};
use crate::owned::{inventory, secrets, shown};
use crate::permission::{Need, on_hosts};
use crate::relate::Relation;
use crate::{params, rpc, tags, with};

const INTERFACES: Relation =
    Relation::new("interfaces", &hostinterface::INTERFACE).bare().sorted("interfaceid");

/// `hosts.kind` of templates, which `templated_hosts` lets in, and what their status is then.
const TEMPLATE_KIND: i64 = 1;
const TEMPLATE_STATUS: &str = "3";

pub(super) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &HOST, &[])?;
    // The plus keeps databases from reading all hosts by their kind to find one by its name, or the
    // first by their names.
    let is_filtered = input.get("filter").is_some_and(|value| !value.is_null());
    let by_name = is_filtered || get.wants_first_by(&["host", "name"]);
    let plus = if by_name { "+" } else { "" };
    let kinds = if get.flag("templated_hosts") { "IN (0, 1)" } else { "= 0" };
    get.and(format!("{plus}t.kind {kinds}"), []);
    for name in ["ip", "dns", "port"] {
        get.extra(
            name,
            match name {
                "ip" => "t.hostid IN (SELECT hostid FROM interfaces WHERE LOWER(ip) {test})",
                "dns" => "t.hostid IN (SELECT hostid FROM interfaces WHERE LOWER(dns) {test})",
                _ => "t.hostid IN (SELECT hostid FROM interfaces WHERE port {test})",
            },
        );
    }
    // No proxy is online, so none is assigned.
    get.extra("assigned_proxyid", "'' {test}");
    by_related_ids(&mut get)?;
    by_state(call, &mut get, input)?;
    inventory::conditions(&mut get, input);
    let set =
        if get.flag("inheritedTags") { tags::inherited_host_tags } else { tags::own_host_tags };
    if let Some((condition, values)) = tags::condition(input, "t.hostid", set)? {
        get.and(condition, values);
    }
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_hosts(call.user(), need, "t.hostid") {
        get.and(condition, []);
    }
    secrets::forbid_guessing(&mut get, call, input, "t.hostid");
    get.need(&["inventory_mode", "kind"]);
    get.works_on(&["ipmi_password", "active_available", "assigned_proxyid"]);
    if get.flag("templated_hosts") {
        get.works_on(&["status"]);
    }
    get.works_from_memory();
    get.answer(|found| {
        if found.output.has("ipmi_password") {
            secrets::hide(found, "hostid")?;
        }
        for row in found.rows.iter_mut().filter(|row| row.row.int("kind") == TEMPLATE_KIND) {
            if let Some(status) = row.out.get_mut("status") {
                *status = TEMPLATE_STATUS.into();
            }
        }
        attach_state(found);
        attach(found)
    })
}

fn by_related_ids(get: &mut Get<'_, '_>) -> ApiResult<()> {
    for (option, condition) in [
        ("hostids", "t.hostid IN ({ids})"),
        ("groupids", "t.hostid IN (SELECT hostid FROM host_groups WHERE groupid IN ({ids}))"),
        (
            "templateids",
            "t.hostid IN (SELECT hostid FROM host_templates WHERE templateid IN ({ids}))",
        ),
        ("proxyids", "t.proxyid IN ({ids})"),
        ("proxy_groupids", "t.proxy_groupid IN ({ids})"),
        (
            "maintenanceids",
            "t.hostid IN (SELECT hostid FROM maintenance_hosts WHERE maintenanceid IN ({ids}))",
        ),
        (
            "interfaceids",
            "t.hostid IN (SELECT hostid FROM interfaces WHERE interfaceid IN ({ids}))",
        ),
        ("itemids", "t.hostid IN (SELECT hostid FROM items WHERE itemid IN ({ids}))"),
        (
            "triggerids",
            "t.hostid IN (SELECT i.hostid FROM items i JOIN functions f ON f.itemid = i.itemid \
             WHERE f.triggerid IN ({ids}))",
        ),
    ] {
        get.by_ids(option, condition)?;
    }
    get.by_ids("graphids", &graph::of_hosts_by_id("t.hostid"))?;
    get.by_ids("httptestids", &httptest::of_hosts_by_id("t.hostid"))
}

fn by_state(call: &Call<'_>, get: &mut Get<'_, '_>, input: &Json) -> ApiResult<()> {
    if get.flag("monitored_hosts") {
        get.and(formatcp!("t.status = {STATUS_ENABLED}"), []);
    }
    for condition in with::conditions(get, "t.hostid") {
        get.and(condition, []);
    }
    let problems = |test: &str| {
        format!(
            "t.hostid IN (SELECT pi.hostid FROM problems p \
               JOIN functions pf ON pf.triggerid = p.objectid \
               JOIN items pi ON pi.itemid = pf.itemid \
             WHERE p.source = {SOURCE_TRIGGER} AND p.object = {OBJECT_TRIGGER} \
             AND p.r_eventid = 0{test})"
        )
    };
    if let Some(severities) = params::ints(input, "severities")? {
        let list: Vec<String> = severities.iter().map(ToString::to_string).collect();
        get.and(problems(&format!(" AND p.severity IN ({})", list.join(", "))), []);
    }
    match input.get("withProblemsSuppressed") {
        None | Some(Json::Null) => {}
        Some(value) => {
            let test = if params::flag(Some(value)) { "IN" } else { "NOT IN" };
            let test = format!(" AND p.eventid {test} ({})", suppressed());
            get.and(problems(&test), [call.now().into()]);
        }
    }
    Ok(())
}

/// What running parts know.
fn attach_state(found: &mut Found<'_, '_>) {
    if found.output.has("active_available") {
        let ids: Vec<model::HostId> = found.ids().into_iter().map(model::HostId).collect();
        let states = found.call.api.deps.live.active_checks(&ids);
        for (row, state) in found.rows.iter_mut().zip(states) {
            row.out.insert("active_available", (state as u8).to_string().into());
        }
    }
    if found.output.has("assigned_proxyid") {
        for row in &mut found.rows {
            row.out.insert("assigned_proxyid", "0".into());
        }
    }
}

fn attach(found: &mut Found<'_, '_>) -> ApiResult<()> {
    shown::attach_groups(found, "selectHostGroups", "hostgroups", &group::HOST_GROUP)?;
    shown::attach_groups(found, "selectGroups", "groups", &group::HOST_GROUP)?;
    attach_templates(found)?;
    if let Some(wanted) = found.wants("selectInterfaces")? {
        let pairs = found.call.pairs(
            "SELECT hostid, interfaceid FROM interfaces WHERE hostid IN ({ids}) ORDER BY interfaceid",
            &found.ids(),
        )?;
        found.relate_as(&INTERFACES, &wanted, &pairs)?;
    }
    shown::attach_monitored(found)?;
    graph::attach_to_hosts(found)?;
    httptest::attach_to_hosts(found)?;
    attach_dashboards(found)?;
    shown::attach_macros(found)?;
    shown::attach_tags(found, &["tag", "value", "automatic"])?;
    attach_inherited_tags(found)?;
    inventory::attach(found)?;
    shown::attach_value_maps(found)?;
    attach_discovery(found)
}

fn attach_templates(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants("selectParentTemplates")? else { return Ok(()) };
    let pairs = found.call.pairs(
        "SELECT hostid, templateid FROM host_templates WHERE hostid IN ({ids}) ORDER BY templateid",
        &found.ids(),
    )?;
    let relation = Relation::new("parentTemplates", &template::TEMPLATE);
    let relation = relation.sorted("host");
    if wanted == Output::Count || !wanted.has("link_type") {
        return found.relate_as(&relation.bare(), &wanted, &pairs);
    }
    let with_id = match &wanted {
        Output::Fields(names) => {
            Output::Fields(names.iter().cloned().chain(["templateid".to_owned()]).collect())
        }
        other => other.clone(),
    };
    found.relate_as(&relation, &with_id, &pairs)?;
    let discovered = found.call.pairs(
        "SELECT hostid, templateid FROM host_templates WHERE link_type = 1 AND hostid IN ({ids})",
        &found.ids(),
    )?;
    let discovered: BTreeSet<(u64, u64)> = discovered.into_iter().collect();
    for row in &mut found.rows {
        let templates = row.out.get_mut("parentTemplates").and_then(Json::as_array_mut);
        for template in templates.into_iter().flatten().filter_map(Json::as_object_mut) {
            let id = template.get("templateid").and_then(Json::as_str);
            let id = id.and_then(|id| id.parse().ok()).unwrap_or_default();
            if !wanted.has("templateid") {
                template.shift_remove("templateid");
            }
            let link = if discovered.contains(&(row.id, id)) { "1" } else { "0" };
            template.insert("link_type".to_owned(), link.into());
        }
    }
    Ok(())
}

/// Dashboards of hosts are those of their templates.
fn attach_dashboards(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants("selectDashboards")? else { return Ok(()) };
    let counts = wanted == Output::Count;
    let output = match &wanted {
        Output::Fields(names) => {
            Output::Fields(names.iter().cloned().chain(["hostid".to_owned()]).collect()).to_json()
        }
        _ => Output::Extend.to_json(),
    };
    let sort = found.option("limitSelects").filter(|limit| !limit.is_null()).map(|_| "name");
    let params = json!({ "hostids": found.ids(), "output": output, "sortfield": sort,
                         "countOutput": counts, "groupCount": counts });
    let dashboards = rpc::run_inner(found.call, "hostdashboard.get", &params)?;
    let mut of_host: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for mut one in dashboards.as_array().cloned().unwrap_or_default() {
        let host = one.get("hostid").and_then(Json::as_str).and_then(|id| id.parse().ok());
        if let Some(members) = one.as_object_mut().filter(|_| !wanted.has("hostid")) {
            members.shift_remove("hostid");
        }
        of_host.entry(host.unwrap_or(0)).or_default().push(one);
    }
    for row in &mut found.rows {
        let mut own = of_host.remove(&row.id).unwrap_or_default();
        let shown = match own.pop() {
            Some(count) if counts => count["rowscount"].clone(),
            None if counts => "0".into(),
            last => own.into_iter().chain(last).collect(),
        };
        row.out.insert("dashboards", shown);
    }
    Ok(())
}

fn attach_inherited_tags(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = found.wants_list("selectInheritedTags")? else { return Ok(()) };
    let above = Above::of(found.call, found.ids())?;
    let templates: Vec<u64> = above.all().into_iter().collect();
    let rows = found.call.read(|c| {
        let sql =
            "SELECT hostid, tag, value FROM host_tags WHERE hostid IN ({ids}) ORDER BY hosttagid";
        Ok(query_by_ids(c, sql, &[], &templates)?)
    })?;
    let mut of_row = BTreeMap::new();
    for id in found.ids() {
        let templates = above.templates(id);
        let mut list: Vec<Json> = Vec::new();
        for row in rows.iter().filter(|row| templates.contains(&row.id("hostid"))) {
            let mut one = serde_json::Map::new();
            for name in ["tag", "value"].into_iter().filter(|name| wanted.has(name)) {
                one.insert(name.to_owned(), row.text(name).into());
            }
            let one = Json::Object(one);
            if !list.contains(&one) {
                list.push(one);
            }
        }
        of_row.insert(id, list);
    }
    shown::put(found, "inheritedTags", of_row);
    Ok(())
}

fn attach_discovery(found: &mut Found<'_, '_>) -> ApiResult<()> {
    if let Some(wanted) = found.wants_list("selectHostDiscovery")? {
        let fields = [
            "hostid",
            "parent_hostid",
            "parent_itemid",
            "host",
            "lastcheck",
            "ts_delete",
            "ts_disable",
            "disable_source",
            "status",
        ];
        found.attach(
            "hostDiscovery",
            &wanted,
            // A host tells its prototype, a prototype its rule.
            "SELECT hostid AS owner, hostid, parent_hostid, 0 AS parent_itemid, host, lastcheck, \
             ts_delete, ts_disable, disable_source, status FROM host_discovery \
             WHERE hostid IN ({ids})",
            &fields,
        )?;
        for row in &mut found.rows {
            // One object, or an empty array.
            let list = row.out.get_mut("hostDiscovery").and_then(Json::as_array_mut);
            if let Some(one) = list.and_then(Vec::pop) {
                row.out.insert("hostDiscovery", one);
            }
        }
    }
    if let Some(wanted) = found.wants_list("selectDiscoveryRule")? {
        let pairs = found.call.pairs(
            "SELECT hostid, parent_itemid FROM host_discovery WHERE hostid IN ({ids})",
            &found.ids(),
        )?;
        let relation = Relation::new("discoveryRule", &item::RULE);
        found.relate_one(&relation.bare(), &wanted, &pairs)?;
    }
    Ok(())
}
