//! Network discovery: rules, their checks, and the hosts and services that they found.

mod checks;
mod write;

use crate::call::{Call, Json, Method, UserType};
use crate::error::ApiResult;
use crate::get::{Found, Get};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, FieldKind, Object, field};
use crate::relate::Relation;

pub(crate) const METHODS: &[Method] = &[
    Method::user("drule.get", rules),
    Method::admin("drule.create", write::create),
    Method::admin("drule.update", write::update),
    Method::admin("drule.delete", write::delete),
    Method::user("dcheck.get", checks_of),
    Method::user("dhost.get", hosts),
    Method::user("dservice.get", services),
];

const TIME: FieldKind = Int(0, i64::MAX);

pub(crate) static DRULE: Object = Object {
    name: "drule",
    table: "drules",
    key: "druleid",
    keys: "druleids",
    fields: &[
        field("druleid", Id, ReadOnly, "Id of the rule."),
        field("proxyid", Id, ReadOnly, "0: the server looks itself."),
        field("name", Name(255), Required, "Name."),
        field("iprange", Text(2048), Required, "Addresses: `10.0.0.1-254,10.1.0.0/16`."),
        field("delay", Text(255), Optional, "From one round to the next."),
        field("status", OneOf(&[0, 1]), Optional, "1 = switched off."),
        field("concurrency_max", Int(0, 999), Optional, "Addresses at one time; 0 = any number."),
        field("error", Text(0), ReadOnly, "Why it cannot work."),
        field("dchecks", Nested, Required, "What to look for."),
    ],
    strict: false,
    sort: &["druleid", "name"],
};

pub(crate) static DCHECK: Object = Object {
    name: "dcheck",
    table: "dchecks",
    key: "dcheckid",
    keys: "dcheckids",
    fields: checks::FIELDS,
    strict: false,
    sort: &["dcheckid", "druleid"],
};

pub(crate) static DHOST: Object = Object {
    name: "dhost",
    table: "dhosts",
    key: "dhostid",
    keys: "dhostids",
    fields: &[
        field("dhostid", Id, ReadOnly, "Id of the found host."),
        field("druleid", Id, ReadOnly, "Rule that found it."),
        field("status", OneOf(&[0, 1]), ReadOnly, "0 up, 1 down."),
        field("lastup", TIME, ReadOnly, "Up since, unix time; 0 = it is down."),
        field("lastdown", TIME, ReadOnly, "Down since, unix time; 0 = it is up."),
    ],
    strict: false,
    sort: &["dhostid", "druleid"],
};

const DSERVICE_FIELDS: &[Field] = &[
    field("dserviceid", Id, ReadOnly, "Id of the found service."),
    field("dhostid", Id, ReadOnly, "Found host that has it."),
    field("value", Text(0), ReadOnly, "What an agent or an SNMP device answered."),
    field("port", Int(0, 65_535), ReadOnly, "Port."),
    field("status", OneOf(&[0, 1]), ReadOnly, "0 up, 1 down."),
    field("lastup", TIME, ReadOnly, "Up since, unix time; 0 = it is down."),
    field("lastdown", TIME, ReadOnly, "Down since, unix time; 0 = it is up."),
    field("dcheckid", Id, ReadOnly, "Check that found it."),
    field("ip", Text(0), ReadOnly, "Address."),
    field("dns", Text(0), ReadOnly, "Name of the address."),
];

pub(crate) static DSERVICE: Object = Object {
    name: "dservice",
    table: "dservices",
    key: "dserviceid",
    keys: "dserviceids",
    fields: DSERVICE_FIELDS,
    strict: false,
    sort: &["dserviceid", "dhostid", "ip"],
};

const DRULES: Relation = Relation::new("drules", "drule.get", "druleids", "druleid");
const DCHECKS: Relation = Relation::new("dchecks", "dcheck.get", "dcheckids", "dcheckid");
const DHOSTS: Relation = Relation::new("dhosts", "dhost.get", "dhostids", "dhostid");
const DSERVICES: Relation = Relation::new("dservices", "dservice.get", "dserviceids", "dserviceid");
const HOSTS: Relation = Relation::new("hosts", "host.get", "hostids", "hostid").bare();

/// Users who are no administrators see nothing of network discovery: its objects belong to no host
/// group that a right could be on.
fn administrators_only(get: &mut Get<'_, '_>, call: &Call<'_>) {
    if call.user().kind < UserType::Admin {
        get.and("1 = 0", []);
    }
}

/// Answers a `select…` option: `sql` gives pairs of ids.
fn select(
    found: &mut Found<'_, '_>,
    option: &str,
    relation: &Relation,
    sql: &str,
) -> ApiResult<()> {
    if let Some(wanted) = found.wants(option)? {
        let pairs = found.call.pairs(sql, &found.ids())?;
        found.relate_as(relation, &wanted, &pairs)?;
    }
    Ok(())
}

fn rules(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &DRULE, &[])?;
    administrators_only(&mut get, call);
    get.by_ids("druleids", "t.druleid IN ({ids})")?;
    get.by_ids(
        "dcheckids",
        "t.druleid IN (SELECT druleid FROM dchecks WHERE dcheckid IN ({ids}))",
    )?;
    get.by_ids("dhostids", "t.druleid IN (SELECT druleid FROM dhosts WHERE dhostid IN ({ids}))")?;
    get.by_ids(
        "dserviceids",
        "t.druleid IN (SELECT h.druleid FROM dhosts h JOIN dservices s ON s.dhostid = h.dhostid \
         WHERE s.dserviceid IN ({ids}))",
    )?;
    let mut found = get.run()?;
    select(
        &mut found,
        "selectDChecks",
        &DCHECKS,
        "SELECT druleid, dcheckid FROM dchecks WHERE druleid IN ({ids}) ORDER BY dcheckid",
    )?;
    select(
        &mut found,
        "selectDHosts",
        &DHOSTS,
        "SELECT druleid, dhostid FROM dhosts WHERE druleid IN ({ids}) ORDER BY dhostid",
    )?;
    Ok(found.finish())
}

fn checks_of(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &DCHECK, &[])?;
    administrators_only(&mut get, call);
    get.by_ids("dcheckids", "t.dcheckid IN ({ids})")?;
    get.by_ids("druleids", "t.druleid IN ({ids})")?;
    get.by_ids("dhostids", "t.druleid IN (SELECT druleid FROM dhosts WHERE dhostid IN ({ids}))")?;
    get.by_ids(
        "dserviceids",
        "t.dcheckid IN (SELECT dcheckid FROM dservices WHERE dserviceid IN ({ids}))",
    )?;
    let mut found = get.run()?;
    let sql = "SELECT dcheckid, druleid FROM dchecks WHERE dcheckid IN ({ids})";
    select(&mut found, "selectDRules", &DRULES, sql)?;
    Ok(found.finish())
}

fn hosts(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &DHOST, &[])?;
    administrators_only(&mut get, call);
    get.by_ids("dhostids", "t.dhostid IN ({ids})")?;
    get.by_ids("druleids", "t.druleid IN ({ids})")?;
    get.by_ids(
        "dserviceids",
        "t.dhostid IN (SELECT dhostid FROM dservices WHERE dserviceid IN ({ids}))",
    )?;
    let mut found = get.run()?;
    let sql = "SELECT dhostid, druleid FROM dhosts WHERE dhostid IN ({ids})";
    select(&mut found, "selectDRules", &DRULES, sql)?;
    select(
        &mut found,
        "selectDServices",
        &DSERVICES,
        "SELECT dhostid, dserviceid FROM dservices WHERE dhostid IN ({ids}) ORDER BY dserviceid",
    )?;
    Ok(found.finish())
}

fn services(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &DSERVICE, &[])?;
    administrators_only(&mut get, call);
    get.by_ids("dserviceids", "t.dserviceid IN ({ids})")?;
    get.by_ids("dhostids", "t.dhostid IN ({ids})")?;
    get.by_ids("dcheckids", "t.dcheckid IN ({ids})")?;
    get.by_ids("druleids", "t.dhostid IN (SELECT dhostid FROM dhosts WHERE druleid IN ({ids}))")?;
    let mut found = get.run()?;
    select(
        &mut found,
        "selectDRules",
        &DRULES,
        "SELECT s.dserviceid, h.druleid FROM dservices s JOIN dhosts h ON h.dhostid = s.dhostid \
         WHERE s.dserviceid IN ({ids})",
    )?;
    let sql = "SELECT dserviceid, dhostid FROM dservices WHERE dserviceid IN ({ids})";
    select(&mut found, "selectDHosts", &DHOSTS, sql)?;
    select(
        &mut found,
        "selectHosts",
        &HOSTS,
        "SELECT DISTINCT s.dserviceid, i.hostid FROM dservices s JOIN interfaces i ON i.ip = s.ip \
         JOIN hosts h ON h.hostid = i.hostid WHERE h.kind = 0 AND s.dserviceid IN ({ids}) \
         ORDER BY s.dserviceid, i.hostid",
    )?;
    Ok(found.finish())
}

#[cfg(test)]
mod tests;
