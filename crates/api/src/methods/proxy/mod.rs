//! Proxies: their settings. No proxy can connect yet, so each of them is one that never has.

mod hosts;
mod rules;

use config::Edit;
use config::db::{Row, id_params, placeholders};
use config::table;
use objects::ConditionKind;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult, NO_OBJECT};
use crate::found::Found;
use crate::get::{Get, Output};
use crate::methods::host;
use crate::methods::proxygroup::{self, PROXY_GROUP};
use crate::object::Access::{Optional, ReadOnly, Required, WriteOnly};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Draft, Plain, Spec, Unique};
use crate::relate::{Relation, wanted_of};
use crate::write::{nested_ids, no_object_at};

pub(crate) const METHODS: &[Method] = &[
    Method::user("proxy.get", plain::get::<Proxy>),
    Method::super_admin("proxy.create", plain::create::<Proxy>),
    Method::super_admin("proxy.update", plain::update::<Proxy>),
    Method::super_admin("proxy.delete", plain::delete::<Proxy>),
];

const FIELDS: &[Field] = &[
    field("proxyid", Id, ReadOnly, "Id of the proxy."),
    field("name", Name(128), Required, "Name that the proxy sends."),
    field("proxy_groupid", Id, Optional, "Proxy group; 0 = none."),
    field("local_address", Text(255), Optional, "In a group: address that active agents use."),
    field(
        "local_port",
        Name(64),
        Optional,
        "In a group: port that active agents use (default: 10051).",
    ),
    field("operating_mode", OneOf(&[0, 1]), Required, "0 = active, 1 = passive."),
    field("allowed_addresses", Text(255), Optional, "Active: addresses from which it may connect."),
    field("address", Name(255), Optional, "Passive: address (default: 127.0.0.1)."),
    field("port", Name(64), Optional, "Passive: port (default: 10051)."),
    field("description", Text(0), Optional, "Description."),
    field(
        "tls_connect",
        OneOf(&[1, 2, 4]),
        Optional,
        "Passive: 1 no encryption, 2 PSK, 4 certificate.",
    ),
    field("tls_accept", Int(1, 7), Optional, "Active: bit mask of the values of `tls_connect`."),
    field("tls_issuer", Text(1024), Optional, "Issuer of its certificate."),
    field("tls_subject", Text(1024), Optional, "Subject of its certificate."),
    field("tls_psk_identity", Text(128), WriteOnly, "PSK identity."),
    field("tls_psk", Text(512), WriteOnly, "PSK, hexadecimal."),
    field("custom_timeouts", OneOf(&[0, 1]), Optional, "1 = the proxy has its own timeouts."),
    timeout("timeout_zabbix_agent", "Timeout of Zabbix agent items, with `custom_timeouts` 1."),
    timeout("timeout_simple_check", "Timeout of simple checks."),
    timeout("timeout_snmp_agent", "Timeout of SNMP items."),
    timeout("timeout_external_check", "Timeout of external checks."),
    timeout("timeout_db_monitor", "Timeout of ODBC items."),
    timeout("timeout_http_agent", "Timeout of HTTP agent items."),
    timeout("timeout_ssh_agent", "Timeout of SSH items."),
    timeout("timeout_telnet_agent", "Timeout of Telnet items."),
    timeout("timeout_script", "Timeout of script items."),
    timeout("timeout_browser", "Timeout of browser items."),
    field("lastaccess", Int(0, i64::MAX), ReadOnly, "Unix time of its last message; 0 = none."),
    field("version", Int(0, i64::MAX), ReadOnly, "As in `70022`; 0 = unknown."),
    field("compatibility", Int(0, 3), ReadOnly, "0 unknown, 1 current, 2 outdated, 3 unsupported."),
    field("state", Int(0, 2), ReadOnly, "0 unknown, 1 offline, 2 online."),
    field("hosts", Nested, Optional, "Hosts that the proxy monitors: `[{hostid}]`."),
];

const fn timeout(name: &'static str, doc: &'static str) -> Field {
    field(name, Text(255), Optional, doc)
}

pub(crate) static PROXY: Object = Object {
    name: "proxy",
    table: "(SELECT p.*, 0 AS lastaccess, 0 AS version, 0 AS compatibility, 0 AS state FROM proxies p)",
    key: "proxyid",
    keys: "proxyids",
    fields: FIELDS,
    strict: true,
    sort: &["proxyid", "name", "operating_mode"],
};

/// Fields that `selectProxies` takes.
pub(crate) fn fields_in_group() -> Vec<&'static str> {
    let names = PROXY.columns().map(|field| field.name);
    names.filter(|name| *name != "proxy_groupid").collect()
}

static SPEC: Spec = Spec {
    options: &["selectHosts", "selectAssignedHosts", "selectProxyGroup"],
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Proxy \"{name}\" already exists.",
    }),
    ..Spec::new(
        &PROXY,
        &table::PROXIES,
        &[("proxyids", "t.proxyid IN ({ids})"), ("proxy_groupids", "t.proxy_groupid IN ({ids})")],
    )
};

#[derive(Default)]
struct Proxy;

impl Plain for Proxy {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        if get.flag("editable") && !call.is_super_admin() {
            get.and("1 = 0", []);
        }
        if input.get("selectProxyGroup").is_some() {
            get.need(&["proxy_groupid"]);
        }
        for option in ["selectHosts", "selectAssignedHosts"] {
            wanted_of(input, option, host::FIELDS_OF_PROXY)?;
        }
        let group = wanted_of(input, "selectProxyGroup", proxygroup::FIELDS_OF_PROXY)?;
        match group {
            Some(Output::Count) => {
                Err(ApiError::at("/selectProxyGroup", "value must be \"extend\""))
            }
            _ => Ok(()),
        }
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        let ids = found.ids();
        if let Some(wanted) = wanted_of(found.params, "selectAssignedHosts", host::FIELDS_OF_PROXY)?
        {
            // A proxy group assigns hosts to proxies that are online: none is.
            found.relate_as(&Relation::new("assignedHosts", &host::HOST).bare(), &wanted, &[])?;
        }
        if let Some(wanted) = wanted_of(found.params, "selectHosts", host::FIELDS_OF_PROXY)? {
            let sql = "SELECT proxyid, hostid FROM hosts WHERE proxyid IN ({ids}) ORDER BY hostid";
            let pairs = found.call.pairs(sql, &ids)?;
            found.relate_as(&Relation::new("hosts", &host::HOST).bare(), &wanted, &pairs)?;
        }
        let option = "selectProxyGroup";
        if let Some(wanted) = wanted_of(found.params, option, proxygroup::FIELDS_OF_PROXY)? {
            let pairs = found.rows.iter().map(|row| (row.id, row.row.id("proxy_groupid")));
            let pairs: Vec<(u64, u64)> = pairs.filter(|(_, group)| *group != 0).collect();
            let relation = Relation::new("proxyGroup", &PROXY_GROUP).bare();
            found.relate_one(&relation, &wanted, &pairs)?;
        }
        Ok(())
    }

    fn given(&self, call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        let sql = "SELECT proxyid FROM proxies WHERE proxyid = ?";
        if draft.id != 0 && call.rows(sql, &[draft.id.into()])?.is_empty() {
            return Err(ApiError::params(NO_OBJECT));
        }
        rules::check_texts(draft)?;
        if let Some(list) = draft.input.get("hosts") {
            nested_ids(list, &format!("{}/hosts", draft.path), "hostid")?;
        }
        Ok(())
    }

    fn write(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        rules::complete(&SPEC, edit, draft, before)?;
        let group = draft.value("proxy_groupid", None).as_int();
        let sql = "SELECT proxy_groupid FROM proxy_groups WHERE proxy_groupid = ?";
        if group != 0 && edit.query(sql, &[group.into()])?.is_empty() {
            return Err(no_object_at(&format!("{}/proxy_groupid", draft.path)));
        }
        Ok(())
    }

    fn written(&self, call: &Call<'_>, edit: &mut Edit<'_>, drafts: &[Draft<'_>]) -> ApiResult<()> {
        drafts.iter().try_for_each(|draft| hosts::assign(call, edit, draft))
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        refuse_used(edit, rows)?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}

/// Refuses to delete proxies that others refer to.
fn refuse_used(edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
    let marks = placeholders(rows.len());
    let ids = || rows.iter().map(|row| row.id("proxyid"));
    let name = |id: u64| {
        rows.iter().find(|row| row.id("proxyid") == id).map_or("", |row| row.text("name"))
    };
    let sql = format!("SELECT name, proxyid FROM drules WHERE proxyid IN ({marks}) LIMIT 1");
    if let Some(rule) = edit.query(&sql, &id_params(ids()))?.first() {
        let (proxy, rule) = (name(rule.id("proxyid")), rule.text("name"));
        let text = format!("Proxy \"{proxy}\" is used by discovery rule \"{rule}\".");
        return Err(ApiError::params(text));
    }
    let sql = format!("SELECT name, proxyid FROM hosts WHERE proxyid IN ({marks}) LIMIT 1");
    if let Some(host) = edit.query(&sql, &id_params(ids()))?.first() {
        let (proxy, host) = (name(host.id("proxyid")), host.text("name"));
        let text = format!("Host \"{host}\" is monitored by proxy \"{proxy}\".");
        return Err(ApiError::params(text));
    }
    let sql = format!(
        "SELECT a.name, c.value FROM action_conditions c JOIN actions a ON a.actionid = c.actionid \
         WHERE c.conditiontype = {} AND c.value IN ({marks}) LIMIT 1",
        ConditionKind::Proxy.number()
    );
    let values: Vec<_> = ids().map(|id| id.to_string().into()).collect();
    match edit.query(&sql, &values)?.first() {
        Some(action) => {
            let proxy = name(action.text("value").parse().unwrap_or(0));
            let action = action.text("name");
            let text = format!("Proxy \"{proxy}\" is used by action \"{action}\".");
            Err(ApiError::params(text))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
