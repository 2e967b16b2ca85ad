//! Macros, global regular expressions, settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use eval::macros::{MacroDef, MacroKind, UserMacro};
use eval::units::{Mapping, MappingKind};
use model::HostId;

use super::Scope;
use crate::db::{Connection, DbResult, Row, query_by_ids};
use crate::snapshot::{GlobalRegexp, Macros, Settings};

/// [`Macros`] as they are read.
#[derive(Default)]
pub(super) struct MacroRows {
    pub(super) global: Vec<MacroDef>,
    pub(super) of_host: BTreeMap<HostId, Vec<MacroDef>>,
    pub(super) templates_of: BTreeMap<HostId, Vec<HostId>>,
}

impl From<MacroRows> for Macros {
    fn from(rows: MacroRows) -> Self {
        let mut macros = Self { global: rows.global, ..Self::default() };
        macros.of_host.extend(rows.of_host);
        macros.templates_of.extend(rows.templates_of);
        macros
    }
}

/// Macros and template links of the hosts and templates in scope; global macros with all.
pub(super) fn macros(connection: &mut dyn Connection, scope: &Scope) -> DbResult<MacroRows> {
    let mut macros = MacroRows::default();
    let of_host = "SELECT hostid, macro, value, type FROM hostmacros";
    let links = "SELECT hostid, templateid FROM host_templates";
    let (of_host, links) = match scope {
        Scope::All => {
            let global = "SELECT macro, value, type FROM globalmacros ORDER BY globalmacroid";
            macros.global = connection.query(global, &[])?.iter().filter_map(definition).collect();
            (
                connection.query(&format!("{of_host} ORDER BY hostmacroid"), &[])?,
                connection.query(&format!("{links} ORDER BY templateid"), &[])?,
            )
        }
        Scope::Ids(ids) => (
            query_by_ids(connection, &format!("{of_host} WHERE hostid IN ({{ids}})"), &[], ids)?,
            query_by_ids(
                connection,
                &format!("{links} WHERE hostid IN ({{ids}}) ORDER BY templateid"),
                &[],
                ids,
            )?,
        ),
    };
    for row in of_host {
        if let Some(definition) = definition(&row) {
            macros.of_host.entry(HostId(row.id("hostid"))).or_default().push(definition);
        }
    }
    for row in links {
        let templates = macros.templates_of.entry(HostId(row.id("hostid"))).or_default();
        templates.push(HostId(row.id("templateid")));
    }
    Ok(macros)
}

/// A macro; one with a name that cannot be (the API refuses those) is left out.
fn definition(row: &Row) -> Option<MacroDef> {
    let UserMacro { name, context } = UserMacro::parse(row.text("macro")).ok()?;
    let kind = match row.int("type") {
        1 => MacroKind::Secret,
        2 => MacroKind::Vault,
        _ => MacroKind::Text,
    };
    Some(MacroDef { name, context, value: row.text("value").to_owned(), kind })
}

pub(super) fn regexps(
    connection: &mut dyn Connection,
) -> DbResult<BTreeMap<String, Vec<GlobalRegexp>>> {
    let rows = connection.query(
        "SELECT r.name, e.expression, e.expression_type, e.exp_delimiter, e.case_sensitive \
         FROM regexps r JOIN regexp_expressions e ON e.regexpid = r.regexpid \
         ORDER BY r.regexpid, e.position",
        &[],
    )?;
    let mut regexps: BTreeMap<String, Vec<GlobalRegexp>> = BTreeMap::new();
    for row in rows {
        regexps.entry(row.text("name").to_owned()).or_default().push(GlobalRegexp {
            expression: row.text("expression").to_owned(),
            kind: u8::try_from(row.int("expression_type")).unwrap_or(0),
            delimiter: row.text("exp_delimiter").chars().next().unwrap_or(','),
            case_sensitive: row.int("case_sensitive") == 1,
        });
    }
    Ok(regexps)
}

/// Value maps of hosts, all of them or those of `hosts`. Hosts have copies of their templates'
/// maps: equal ones share their rows.
pub(super) fn valuemaps(
    connection: &mut dyn Connection,
    hosts: Option<&[u64]>,
) -> DbResult<BTreeMap<u64, Arc<[Mapping]>>> {
    let rows = match hosts {
        None => connection.query(
            "SELECT v.valuemapid, m.type, m.value, m.newvalue FROM valuemaps v \
             JOIN hosts h ON h.hostid = v.hostid \
             JOIN valuemap_mappings m ON m.valuemapid = v.valuemapid \
             WHERE h.kind = 0 ORDER BY v.valuemapid, m.sortorder",
            &[],
        )?,
        Some(hosts) => query_by_ids(
            connection,
            "SELECT v.valuemapid, m.type, m.value, m.newvalue FROM valuemaps v \
             JOIN valuemap_mappings m ON m.valuemapid = v.valuemapid \
             WHERE v.hostid IN ({ids}) ORDER BY v.valuemapid, m.sortorder",
            &[],
            hosts,
        )?,
    };
    let mut maps: BTreeMap<u64, Arc<[Mapping]>> = BTreeMap::new();
    let mut shared: BTreeMap<String, Arc<[Mapping]>> = BTreeMap::new();
    for rows in rows.chunk_by(|a, b| a.id("valuemapid") == b.id("valuemapid")) {
        let Some(first) = rows.first() else { continue };
        let mapping = |row: &Row| {
            let kind = MappingKind::from_api(u8::try_from(row.int("type")).ok()?)?;
            let (value, newvalue) = (row.text("value").to_owned(), row.text("newvalue").to_owned());
            Some(Mapping { kind, value, newvalue })
        };
        let map: Vec<Mapping> = rows.iter().filter_map(mapping).collect();
        let same = shared.entry(format!("{map:?}")).or_insert_with(|| map.into());
        maps.insert(first.id("valuemapid"), Arc::clone(same));
    }
    Ok(maps)
}

/// Settings by the names of the API; what is not set has its default.
pub(super) fn settings(connection: &mut dyn Connection) -> DbResult<Settings> {
    let mut settings = Settings::default();
    let mut keeps_audit = false;
    for row in connection.query("SELECT name, value FROM settings", &[])? {
        let value = row.text("value");
        match row.text("name") {
            "default_timezone" => settings.timezone = value.to_owned(),
            "auditlog_enabled" => settings.audit = value != "0",
            "hk_audit" => settings.audit_days = super::text::days(value).unwrap_or(0),
            "hk_audit_mode" => keeps_audit = value == "0",
            "hk_history" => settings.history_days_global = super::text::days(value),
            "hk_trends" => settings.trends_days_global = super::text::days(value),
            "autoreg_tls_accept" => {
                settings.autoregistration.accept = value.parse().unwrap_or(crate::snapshot::NO_TLS);
            }
            "autoreg_tls_psk_identity" => settings.autoregistration.psk_identity = value.into(),
            "autoreg_tls_psk" => settings.autoregistration.psk = value.into(),
            name => {
                if let Some(kind) = name.strip_prefix("timeout_").and_then(|n| n.parse().ok()) {
                    settings.timeouts.insert(kind, value.to_owned());
                }
            }
        }
    }
    if keeps_audit {
        settings.audit_days = 0;
    }
    Ok(settings)
}
