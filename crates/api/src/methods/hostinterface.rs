//! Interfaces of hosts.

use config::db::query_by_ids;
use const_format::formatcp;
use objects::sql::{FLAGS_REAL, KIND_HOST};
use serde_json::{Map, json};

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::{Found, Get};
use crate::methods::host;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Nested, OneOf, Text};
use crate::object::{Field, Object, field, missing};
use crate::owned::interfaces::{self, Interface};
use crate::owned::shown::ITEMS;
use crate::owned::{discovered, secrets};
use crate::params;
use crate::permission::{Need, on_hosts};
use crate::relate::Relation;
use crate::write::{Target, mass_object, names, nested, required_ids, required_list};

pub(crate) const METHODS: &[Method] = &[
    Method::user("hostinterface.get", get),
    Method::admin("hostinterface.create", create),
    Method::admin("hostinterface.update", update),
    Method::admin("hostinterface.delete", delete),
    Method::admin("hostinterface.massadd", mass_add),
    Method::admin("hostinterface.massremove", mass_remove),
    Method::admin("hostinterface.replacehostinterfaces", replace),
];

const FIELDS: &[Field] = &[
    field("interfaceid", Id, ReadOnly, "Id of the interface."),
    field("hostid", Id, Required, "Host that it belongs to."),
    field("main", OneOf(&[0, 1]), Required, "1 = the default one of its type."),
    field("type", OneOf(&[1, 2, 3, 4]), Required, "1 agent, 2 SNMP, 3 IPMI, 4 JMX."),
    field("useip", OneOf(&[0, 1]), Required, "0 connect to the DNS name, 1 to the IP address."),
    field("ip", Text(64), Required, "IP address, or a macro."),
    field("dns", Text(255), Required, "DNS name, or a macro."),
    field("port", Text(64), Required, "Port, or a macro."),
    field("details", Nested, Optional, "SNMP version, community, keys …; SNMP only."),
    field("available", Nested, ReadOnly, "0 unknown, 1 available, 2 not available."),
    field("error", Nested, ReadOnly, "Why it is not available."),
    field("errors_from", Nested, ReadOnly, "Unix time since when it is not."),
    field("disable_until", Nested, ReadOnly, "Unix time of the next try."),
];

pub(crate) static INTERFACE: Object = Object {
    name: "hostinterface",
    table: "interfaces",
    key: "interfaceid",
    keys: "interfaceids",
    fields: FIELDS,
    strict: false,
    sort: &["interfaceid", "dns", "ip"],
};

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &INTERFACE, &[])?;
    // Row by row, because a list of all hosts costs more than the few interfaces that are asked for; by
    // the host's id, not by the index of kinds.
    get.and(
        formatcp!(
            "EXISTS (SELECT 1 FROM hosts k WHERE k.hostid = t.hostid AND +k.kind = {KIND_HOST})"
        ),
        [],
    );
    get.by_ids("interfaceids", "t.interfaceid IN ({ids})")?;
    get.by_ids("hostids", "t.hostid IN ({ids})")?;
    get.by_ids(
        "itemids",
        "t.interfaceid IN (SELECT interfaceid FROM items WHERE itemid IN ({ids}))",
    )?;
    get.by_ids(
        "triggerids",
        "t.hostid IN (SELECT i.hostid FROM items i JOIN functions f ON f.itemid = i.itemid \
         WHERE f.triggerid IN ({ids}))",
    )?;
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_hosts(call.user(), need, "+t.hostid") {
        get.and(condition, []);
    }
    get.need(&["hostid", "details"]);
    get.works_on(&STATE);
    get.works_on(&["details"]);
    get.works_from_memory();
    get.answer(complete)
}

fn complete(found: &mut Found<'_, '_>) -> ApiResult<()> {
    attach_state(found);
    if found.output.has("details") {
        secrets::hide(found, "hostid")?;
    }
    if let Some(wanted) = found.wants("selectItems")? {
        let pairs = found.call.pairs(
            formatcp!("SELECT interfaceid, itemid FROM items WHERE flags IN {FLAGS_REAL} AND interfaceid IN ({{ids}}) \
             ORDER BY itemid"),
            &found.ids(),
        )?;
        found.relate_as(&ITEMS, &wanted, &pairs)?;
    }
    if let Some(wanted) = found.wants_uncounted("selectHosts")? {
        let pairs: Vec<(u64, u64)> =
            found.rows.iter().map(|row| (row.id, row.row.id("hostid"))).collect();
        let relation = Relation::new("hosts", &host::HOST);
        found.relate_as(&relation, &wanted, &pairs)?;
    }
    Ok(())
}

/// What the running pollers know.
const STATE: [&str; 4] = ["available", "error", "errors_from", "disable_until"];

/// Availability comes from the running pollers, details from their JSON text.
fn attach_state(found: &mut Found<'_, '_>) {
    if STATE.iter().any(|name| found.output.has(name)) {
        let ids: Vec<model::InterfaceId> =
            found.ids().into_iter().map(model::InterfaceId).collect();
        let states = found.call.api.deps.live.interfaces(&ids);
        let output = found.output.clone();
        for (row, state) in found.rows.iter_mut().zip(states) {
            if output.has("available") {
                row.out.push_int("available", state.available as i64);
            }
            if output.has("error") {
                row.out.push_text("error", &state.error);
            }
            if output.has("errors_from") {
                row.out.push_int("errors_from", i64::from(state.errors_from));
            }
            if output.has("disable_until") {
                row.out.push_int("disable_until", i64::from(state.disable_until));
            }
        }
    }
    if found.output.has("details") {
        let none = || Json::Array(Vec::new());
        for row in &mut found.rows {
            let details = match row.row.text("details") {
                "" => none(),
                text => {
                    serde_json::from_str::<Map<_, _>>(text).map_or_else(|_| none(), Json::Object)
                }
            };
            row.out.push("details", details);
        }
    }
}

fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let objects = params::objects(input)?;
    call.write(|edit| {
        let mut ids = Vec::new();
        let mut hosts = Vec::new();
        for (path, object) in &objects {
            let hostid = object.get("hostid").ok_or_else(|| missing(path, "hostid"))?;
            let hostid = params::id(hostid, &format!("{path}/hostid"))?;
            check_hosts(call, edit, &[hostid], "update")?;
            let host = host_name(edit, hostid)?;
            let members = object.as_object().ok_or_else(|| missing(path, "hostid"))?;
            let interface = Interface::parse(members, None, path, &host)?;
            ids.push(interfaces::insert(edit, hostid, &interface)?);
            hosts.push(hostid);
        }
        finish(edit, &hosts)?;
        Ok(INTERFACE.result(&ids))
    })
}

fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let updates = INTERFACE.updates(input)?;
    call.write(|edit| {
        let mut hosts = Vec::new();
        for (path, id, object) in &updates {
            let rows =
                edit.query("SELECT * FROM interfaces WHERE interfaceid = ?", &[(*id).into()])?;
            let row = rows.first().ok_or_else(no_object)?;
            let hostid = row.id("hostid");
            check_hosts(call, edit, &[hostid], "update")?;
            let given = object.get("hostid").map(|v| params::id(v, path)).transpose()?;
            if given.is_some_and(|given| given != hostid) {
                return Err(ApiError::params("Cannot switch host for interface."));
            }
            let host = host_name(edit, hostid)?;
            let members = object.as_object().ok_or_else(|| missing(path, "interfaceid"))?;
            let interface = Interface::parse(members, Some(row), path, &host)?;
            interfaces::update(edit, *id, &interface)?;
            hosts.push(hostid);
        }
        finish(edit, &hosts)?;
        let ids: Vec<u64> = updates.iter().map(|(_, id, _)| *id).collect();
        Ok(INTERFACE.result(&ids))
    })
}

fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        let rows = query_by_ids(
            edit,
            "SELECT interfaceid, hostid FROM interfaces WHERE interfaceid IN ({ids})",
            &[],
            &ids,
        )?;
        if rows.len() != ids.len() {
            return Err(no_object());
        }
        let hosts: Vec<u64> = rows.iter().map(|row| row.id("hostid")).collect();
        check_hosts(call, edit, &hosts, "delete")?;
        interfaces::delete(edit, &ids)?;
        finish(edit, &hosts)?;
        Ok(INTERFACE.result(&ids))
    })
}

fn mass_add(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = mass_object(input, &["hosts", "interfaces"])?;
    let hosts = required_ids(input, "", "hosts", "hostid")?;
    let list = members.get("interfaces").ok_or_else(|| missing("/", "interfaces"))?;
    call.write(|edit| {
        check_hosts(call, edit, &hosts, "update")?;
        let ids = add_to_hosts(edit, &hosts, list)?;
        // The reference nests the ids once more here.
        Ok(json!({ "interfaceids": INTERFACE.result(&ids) }))
    })
}

/// Adds interfaces to each of the hosts; returns their ids.
pub(crate) fn add_to_hosts(
    edit: &mut config::Edit<'_>,
    hosts: &[u64],
    list: &Json,
) -> ApiResult<Vec<u64>> {
    let mut ids = Vec::new();
    for hostid in hosts {
        let host = host_name(edit, *hostid)?;
        for (path, members) in nested(list, "/interfaces")? {
            let interface = Interface::parse(members, None, &path, &host)?;
            ids.push(interfaces::insert(edit, *hostid, &interface)?);
        }
    }
    finish(edit, hosts)?;
    Ok(ids)
}

fn mass_remove(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = mass_object(input, &["hostids", "interfaces"])?;
    let hosts = required_list(input, "hostids")?;
    let list = members.get("interfaces").ok_or_else(|| missing("/", "interfaces"))?;
    call.write(|edit| {
        check_hosts(call, edit, &hosts, "delete")?;
        let ids = remove_from_hosts(edit, &hosts, list)?;
        Ok(json!({ "interfaceids": ids }))
    })
}

/// Removes the interfaces of these hosts that have the address of one in the list; returns their
/// ids.
pub(crate) fn remove_from_hosts(
    edit: &mut config::Edit<'_>,
    hosts: &[u64],
    list: &Json,
) -> ApiResult<Vec<u64>> {
    let mut ids = Vec::new();
    for (path, members) in nested(list, "/interfaces")? {
        let text = |name: &str| match members.get(name) {
            Some(value) => params::text(value, &format!("{path}/{name}")),
            None => Err(missing(&path, name)),
        };
        let (ip, dns, port) = (text("ip")?, text("dns")?, text("port")?);
        let rows = query_by_ids(
            edit,
            "SELECT interfaceid FROM interfaces WHERE ip = ? AND dns = ? AND port = ? \
             AND hostid IN ({ids})",
            &[ip.into(), dns.into(), port.into()],
            hosts,
        )?;
        ids.extend(rows.iter().map(|row| row.id("interfaceid")));
    }
    interfaces::delete(edit, &ids)?;
    finish(edit, hosts)?;
    Ok(ids)
}

fn replace(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = mass_object(input, &["hostid", "interfaces"])?;
    let hostid = members.get("hostid").ok_or_else(|| missing("/", "hostid"))?;
    let hostid = params::id(hostid, "/hostid")?;
    let list = members.get("interfaces").ok_or_else(|| missing("/", "interfaces"))?;
    call.write(|edit| {
        check_hosts(call, edit, &[hostid], "update")?;
        let host = host_name(edit, hostid)?;
        let ids = interfaces::replace(edit, hostid, &host, list, "/interfaces")?;
        Ok(INTERFACE.result(&ids))
    })
}

/// Interface methods call a missing object a parameter error.
fn no_object() -> ApiError {
    ApiError::params(crate::error::NO_OBJECT)
}

/// The user may `verb` interfaces of these hosts.
fn check_hosts(
    call: &Call<'_>,
    edit: &mut config::Edit<'_>,
    hosts: &[u64],
    verb: &str,
) -> ApiResult<()> {
    let allowed = call.allowed(edit, Target::Host, Need::Write, hosts)?;
    if !hosts.iter().all(|id| allowed.contains(id)) {
        return Err(no_object());
    }
    discovered::refuse_interfaces(edit, hosts, verb)
}

fn host_name(edit: &mut config::Edit<'_>, hostid: u64) -> ApiResult<String> {
    Ok(names(edit, "hosts", "hostid", "name", &[hostid])?.remove(&hostid).unwrap_or_default())
}

fn finish(edit: &mut config::Edit<'_>, hosts: &[u64]) -> ApiResult<()> {
    for hostid in hosts {
        interfaces::check_defaults(edit, *hostid)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
