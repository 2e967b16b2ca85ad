//! Macros, global regular expressions, settings.

use objects::{ItemType, MacroType, MappingType};
use std::collections::BTreeMap;
use std::sync::Arc;

use const_format::formatcp;
use eval::macros::{MacroDef, MacroKind, UserMacro};
use eval::units::Mapping;
use model::HostId;
use objects::sql::KIND_HOST;

use super::Scope;
use crate::db::{DbResult, Reader, Row, query_by_ids};
use crate::snapshot::{
    AuditSettings, GlobalRegexp, HeartbeatSettings, LinkSettings, LoginSettings, Macros,
    PasswordSettings, Retention, Settings, Tls,
};

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
pub(super) fn macros(connection: &mut dyn Reader, scope: &Scope) -> DbResult<MacroRows> {
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
    let kind = match MacroType::from_number(row.int("type")) {
        Some(MacroType::Secret) => MacroKind::Secret,
        Some(MacroType::Vault) => MacroKind::Vault,
        Some(MacroType::Text) | None => MacroKind::Text,
    };
    Some(MacroDef { name, context, value: row.text("value").to_owned(), kind })
}

pub(super) fn regexps(
    connection: &mut dyn Reader,
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
    connection: &mut dyn Reader,
    hosts: Option<&[u64]>,
) -> DbResult<BTreeMap<u64, Arc<[Mapping]>>> {
    let rows = match hosts {
        None => connection.query(
            formatcp!(
                "SELECT v.valuemapid, m.type, m.value, m.newvalue FROM valuemaps v \
             JOIN hosts h ON h.hostid = v.hostid \
             JOIN valuemap_mappings m ON m.valuemapid = v.valuemapid \
             WHERE h.kind = {KIND_HOST} ORDER BY v.valuemapid, m.sortorder"
            ),
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
            let kind = MappingType::from_number(row.int("type"))?;
            let (value, newvalue) = (row.text("value").to_owned(), row.text("newvalue").to_owned());
            Some(Mapping { kind, value, newvalue })
        };
        let map: Vec<Mapping> = rows.iter().filter_map(mapping).collect();
        let same = shared.entry(format!("{map:?}")).or_insert_with(|| map.into());
        maps.insert(first.id("valuemapid"), Arc::clone(same));
    }
    Ok(maps)
}

/// The settings of default timeouts, with the item types that they are of.
const TIMEOUTS: &[(&str, &[ItemType])] = &[
    ("timeout_zabbix_agent", &[ItemType::Agent, ItemType::AgentActive]),
    ("timeout_simple_check", &[ItemType::Simple]),
    ("timeout_external_check", &[ItemType::External]),
    ("timeout_db_monitor", &[ItemType::Database]),
    ("timeout_ssh_agent", &[ItemType::Ssh]),
    ("timeout_telnet_agent", &[ItemType::Telnet]),
    ("timeout_http_agent", &[ItemType::HttpAgent]),
    ("timeout_snmp_agent", &[ItemType::Snmp]),
    ("timeout_script", &[ItemType::Script]),
    ("timeout_browser", &[ItemType::Browser]),
];

/// The address without what is none: links start with it.
fn address(url: &str) -> String {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| url.starts_with(scheme));
    let is_plain = scheme.is_some_and(|scheme| url.len() > scheme.len())
        && url.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\"<>\\".contains(&byte));
    if is_plain { url.trim_end_matches('/').to_owned() } else { String::new() }
}

/// Settings by the names of the API; what is not set has its default.
pub(super) fn settings(connection: &mut dyn Reader) -> DbResult<Settings> {
    let rows = connection.query("SELECT name, value FROM settings", &[])?;
    let stored: BTreeMap<&str, &str> =
        rows.iter().map(|row| (row.text("name"), row.text("value"))).collect();
    let text = |name: &str| stored.get(name).copied();
    let is_on = |name: &str, default: bool| text(name).map_or(default, |value| value == "1");
    let days = |switch: &str, name: &str, default: &str| {
        let value = text(name).unwrap_or(default);
        is_on(switch, false).then(|| super::text::days(value)).flatten()
    };
    let number = |name: &str| text(name).and_then(|value| value.parse::<u32>().ok());
    let seconds = |name: &str| text(name).and_then(eval::num::parse_seconds).map(u64::from);
    let byte = |name: &str| number(name).and_then(|number| u8::try_from(number).ok());
    let length = number("passwd_min_length").and_then(|number| usize::try_from(number).ok());
    let timeouts = TIMEOUTS.iter().filter_map(|(name, kinds)| Some((text(name)?, *kinds)));
    let default = Settings::default();
    Ok(Settings {
        timezone: text("default_timezone").map_or(default.timezone, str::to_owned),
        timeouts: timeouts
            .flat_map(|(timeout, kinds)| kinds.iter().map(|kind| (*kind, timeout.to_owned())))
            .collect(),
        history_days_global: days("hk_history_global", "hk_history", "31d"),
        trends_days_global: days("hk_trends_global", "hk_trends", "365d"),
        autoregistration: Tls {
            accept: text("autoreg_tls_accept").map_or(default.autoregistration.accept, |accept| {
                accept.parse().unwrap_or(crate::snapshot::NO_TLS)
            }),
            psk_identity: text("autoreg_tls_psk_identity").unwrap_or_default().into(),
            psk: text("autoreg_tls_psk").unwrap_or_default().into(),
            ..default.autoregistration
        },
        audit: AuditSettings {
            enabled: is_on("auditlog_enabled", default.audit.enabled),
            system: is_on("auditlog_mode", default.audit.system),
        },
        logins: LoginSettings {
            attempts: number("login_attempts").unwrap_or(default.logins.attempts),
            block_s: seconds("login_block").unwrap_or(default.logins.block_s),
        },
        retention: Retention::of(text),
        passwords: PasswordSettings {
            length_min: length.unwrap_or(default.passwords.length_min),
            rules: byte("passwd_check_rules").unwrap_or(default.passwords.rules),
        },
        links: LinkSettings {
            address: text("url").map(address).unwrap_or_default(),
            lifetime_s: text("link_lifetime")
                .and_then(eval::num::parse_seconds)
                .unwrap_or(default.links.lifetime_s),
        },
        heartbeat: seconds("heartbeat_period").filter(|period| *period > 0).and_then(|period_s| {
            let url = text("heartbeat_url").filter(|url| !url.is_empty())?;
            Some(HeartbeatSettings { url: url.to_owned(), period_s })
        }),
    })
}
