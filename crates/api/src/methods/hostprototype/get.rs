//! `hostprototype.get`.

use std::collections::BTreeMap;

use config::db::query_by_ids;
use serde_json::Map;

use super::HOST_PROTOTYPE;
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::{Found, Get, Output};
use crate::methods::item::RULE;
use crate::methods::template;
use crate::owned::{secrets, shown};
use crate::permission::{Need, on_hosts};
use crate::relate::Relation;

const OPTIONS: &[&str] = &[
    "hostids",
    "discoveryids",
    "inherited",
    "selectDiscoveryRule",
    "selectGroupLinks",
    "selectGroupPrototypes",
    "selectInterfaces",
    "selectMacros",
    "selectParentHost",
    "selectTags",
    "selectTemplates",
];

pub(super) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &HOST_PROTOTYPE, OPTIONS)?;
    get.by_ids("hostids", "t.hostid IN ({ids})")?;
    get.by_ids("discoveryids", "t.ruleid IN ({ids})")?;
    match input.get("inherited") {
        None | Some(Json::Null) => {}
        Some(_) if get.flag("inherited") => get.and("t.templateid > 0", []),
        Some(_) => get.and("t.templateid = 0", []),
    }
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_hosts(call.user(), need, "t.parent_hostid") {
        get.and(condition, []);
    }
    get.need(&["ruleid", "parent_hostid"]);
    let mut found = get.run()?;
    for row in &mut found.rows {
        // This method always gives the id, although it is strict otherwise.
        if !row.out.contains("hostid") {
            row.out.insert("hostid", row.id.to_string().into());
        }
    }
    attach(&mut found)?;
    secrets::hide(&mut found, "parent_hostid")?;
    Ok(found.finish())
}

/// What a list option asks for; unknown fields are refused.
fn wants(found: &Found<'_, '_>, option: &str, fields: &[&str]) -> ApiResult<Option<Output>> {
    let wanted = found.wants_list(option)?;
    if let Some(wanted) = &wanted {
        wanted.only(option, fields)?;
    }
    Ok(wanted)
}

/// Fields of hosts and templates that the options on them take.
const OF_HOSTS: &[&str] = &[
    "hostid",
    "proxyid",
    "host",
    "status",
    "ipmi_authtype",
    "ipmi_privilege",
    "ipmi_username",
    "ipmi_password",
    "maintenanceid",
    "maintenance_status",
    "maintenance_type",
    "maintenance_from",
    "name",
    "flags",
    "templateid",
    "description",
    "tls_connect",
    "tls_accept",
    "tls_issuer",
    "tls_subject",
    "tls_psk_identity",
    "tls_psk",
    "discover",
    "custom_interfaces",
    "uuid",
    "name_upper",
    "vendor_name",
    "vendor_version",
    "proxy_groupid",
    "monitored_by",
];

/// Fields of rules that are none of the object's own.
const OF_RULES: &[&str] = &["formula", "evaltype", "history", "trends", "units", "output_format"];

fn attach(found: &mut Found<'_, '_>) -> ApiResult<()> {
    attach_groups(found)?;
    attach_rows(found)?;
    let pairs = |found: &Found<'_, '_>, column: &str| -> Vec<(u64, u64)> {
        found.rows.iter().map(|row| (row.id, row.row.id(column))).collect()
    };
    let fields: Vec<&str> =
        RULE.columns().map(|field| field.name).chain(OF_RULES.iter().copied()).collect();
    if let Some(wanted) = wants(found, "selectDiscoveryRule", &fields)? {
        let relation = Relation::new("discoveryRule", &RULE);
        found.relate_one(&relation.bare(), &wanted, &pairs(found, "ruleid"))?;
    }
    if let Some(wanted) = wants(found, "selectParentHost", OF_HOSTS)? {
        attach_parents(found, &wanted, &pairs(found, "parent_hostid"))?;
    }
    let Some(wanted) = found.wants("selectTemplates")? else { return Ok(()) };
    wanted.only("selectTemplates", OF_HOSTS)?;
    let pairs = found.call.pairs(
        "SELECT hostid, templateid FROM host_templates WHERE hostid IN ({ids}) ORDER BY templateid",
        &found.ids(),
    )?;
    let relation = Relation::new("templates", &template::TEMPLATE);
    found.relate_as(&relation, &wanted, &pairs)
}

/// Hosts and templates of the rules, both as `host.get` shows them.
fn attach_parents(
    found: &mut Found<'_, '_>,
    wanted: &Output,
    pairs: &[(u64, u64)],
) -> ApiResult<()> {
    let (mut params, ids) = (Map::new(), pairs.iter().map(|(_, id)| id.to_string()));
    params.insert("hostids".into(), ids.collect());
    params.insert("output".into(), wanted.to_json());
    params.insert("templated_hosts".into(), true.into());
    params.insert("preservekeys".into(), true.into());
    let parents = crate::rpc::run_inner(found.call, "host.get", &Json::Object(params))?;
    for (row, (_, parent)) in found.rows.iter_mut().zip(pairs) {
        let Some(parent) = parents.get(parent.to_string()) else { continue };
        let mut parent = parent.clone();
        if let Some(members) = parent.as_object_mut()
            && !wanted.has("hostid")
        {
            members.shift_remove("hostid");
        }
        row.out.insert("parentHost", parent);
    }
    Ok(())
}

fn attach_groups(found: &mut Found<'_, '_>) -> ApiResult<()> {
    if let Some(wanted) = wants(found, "selectGroupLinks", &["groupid"])? {
        let sql = "SELECT hostid AS owner, groupid FROM group_prototypes \
                   WHERE groupid > 0 AND hostid IN ({ids}) ORDER BY group_prototypeid";
        found.attach("groupLinks", &wanted, sql, &["groupid"])?;
    }
    let fields = ["group_prototypeid", "name"];
    if let Some(wanted) = wants(found, "selectGroupPrototypes", &fields)? {
        let sql = "SELECT hostid AS owner, group_prototypeid, name FROM group_prototypes \
                   WHERE groupid = 0 AND hostid IN ({ids}) ORDER BY group_prototypeid";
        found.attach("groupPrototypes", &wanted, sql, &fields)?;
    }
    Ok(())
}

fn attach_rows(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let fields = ["hostmacroid", "hostid", "macro", "value", "description", "type", "automatic"];
    wants(found, "selectMacros", &fields)?;
    shown::attach_macros(found)?;
    wants(found, "selectTags", &["tag", "value"])?;
    shown::attach_tags(found, &["tag", "value"])?;
    attach_interfaces(found)
}

/// Interfaces of prototypes are not monitored: their state is what new ones have.
const STATE: &[(&str, &str)] =
    &[("available", "0"), ("error", ""), ("errors_from", "0"), ("disable_until", "0")];

fn attach_interfaces(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let fields = ["type", "useip", "ip", "dns", "port", "main", "details"];
    let Some(wanted) = wants(found, "selectInterfaces", &fields)? else { return Ok(()) };
    let ids = found.ids();
    let rows = found.call.read(|c| {
        let sql = "SELECT * FROM interfaces WHERE hostid IN ({ids}) ORDER BY interfaceid";
        Ok(query_by_ids(c, sql, &[], &ids)?)
    })?;
    let mut of_row: BTreeMap<u64, Vec<Json>> = BTreeMap::new();
    for row in rows {
        let mut out = Map::new();
        for name in ["main", "type", "useip", "ip", "dns", "port"].iter().filter(|n| wanted.has(n))
        {
            let value = row.get(name).map(ToString::to_string).unwrap_or_default();
            out.insert((*name).to_owned(), value.into());
        }
        if wanted == Output::Extend {
            out.extend(STATE.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())));
        }
        if wanted.has("details") {
            let details = serde_json::from_str(row.text("details"));
            let details = details.unwrap_or_else(|_| Json::Array(Vec::new()));
            out.insert("details".to_owned(), details);
        }
        of_row.entry(row.id("hostid")).or_default().push(out.into());
    }
    shown::put(found, "interfaces", of_row);
    Ok(())
}
