//! `settings.get`, `settings.update`: settings of the whole server. The texts of those that the
//! server obeys say so; the others are kept for clients.

use config::Edit;
use config::audit::SettingsObject;
use const_format::formatcp;
use objects::sql::FLAGS_PLAIN;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::methods::user::is_web_address;
use crate::object::Access::ReadOnly;
use crate::object::FieldKind::{Id, Int, Name, OneOf, Text};
use crate::permission::Need;
use crate::single::{self, Change, Rule, Setting, Single, Time, setting};
use crate::write::{Target, names};

pub(crate) const METHODS: &[Method] = &[
    Method::user("settings.get", |call, input| single::get(&SETTINGS, call, input)),
    Method::super_admin("settings.update", |call, input| {
        single::update(&SETTINGS, call, input).map(Json::from)
    }),
];

pub(crate) static SETTINGS: Single =
    Single { object: SettingsObject::Settings, settings: ALL, check };

const YEAR_S: i64 = 365 * 86_400;
const FLAG: Rule = Rule::Of(OneOf(&[0, 1]));
const SEVERITY: Rule = Rule::Of(Name(32));

/// A time whose units may be months and years.
const fn span(min: i64) -> Time {
    Time { min, max: 10 * YEAR_S, or_zero: false, years: true, or_macro: false }
}

const PERIOD_DEFAULT: Time = span(60);
const MAX_PERIOD: Time = span(YEAR_S);
const TIMEOUT: Rule =
    Rule::Time(Time { min: 1, max: 600, or_zero: false, years: false, or_macro: true });

const HEARTBEAT: Rule =
    Rule::Time(Time { min: 10, max: 86_400, or_zero: true, years: false, or_macro: false });

const THEMES: &[&str] = &["blue-theme", "dark-theme", "hc-light", "hc-dark"];
const LANGUAGES: &[&str] = &[
    "en_GB", "en_US", "bg_BG", "ca_ES", "zh_CN", "zh_TW", "cs_CZ", "da_DK", "nl_NL", "fi_FI",
    "fr_FR", "ka_GE", "de_DE", "el_GR", "he_IL", "hu_HU", "id_ID", "it_IT", "ko_KR", "ja_JP",
    "lv_LV", "lt_LT", "nb_NO", "fa_IR", "pl_PL", "pt_BR", "pt_PT", "ro_RO", "ru_RU", "sk_SK",
    "es_ES", "sv_SE", "tr_TR", "uk_UA", "vi_VN",
];
const TILES: &[&str] =
    &["", "OpenStreetMap.Mapnik", "OpenTopoMap", "USGS.USTopo", "USGS.USImagery"];

const ALL: &[Setting] = &[
    setting("default_theme", Rule::Word(THEMES), "blue-theme", "Theme of new users."),
    setting("search_limit", Rule::Of(Int(1, 999_999)), "1000", "Rows of a list in the interface."),
    setting("max_in_table", Rule::Of(Int(1, 99_999)), "50", "Elements in a cell of a table."),
    setting(
        "server_check_interval",
        Rule::Of(OneOf(&[0, 10])),
        "10",
        "0 = do not check the server.",
    ),
    setting("work_period", Rule::Periods, "1-5,09:00-18:00", "Working time."),
    setting("show_technical_errors", FLAG, "0", "1 = errors of the database are shown."),
    setting(
        "history_period",
        Time::of(86_400, 604_800),
        "24h",
        "How far back Latest data shows values.",
    ),
    setting("period_default", Rule::Time(PERIOD_DEFAULT), "1h", "Time span of graphs at first."),
    setting("max_period", Rule::Time(MAX_PERIOD), "2y", "Longest time span of graphs."),
    setting("severity_color_0", Rule::Color, "97AAB3", "Colour of severity 0."),
    setting("severity_color_1", Rule::Color, "7499FF", "Colour of severity 1."),
    setting("severity_color_2", Rule::Color, "FFC859", "Colour of severity 2."),
    setting("severity_color_3", Rule::Color, "FFA059", "Colour of severity 3."),
    setting("severity_color_4", Rule::Color, "E97659", "Colour of severity 4."),
    setting("severity_color_5", Rule::Color, "E45959", "Colour of severity 5."),
    setting("severity_name_0", SEVERITY, "Not classified", "Name of severity 0."),
    setting("severity_name_1", SEVERITY, "Information", "Name of severity 1."),
    setting("severity_name_2", SEVERITY, "Warning", "Name of severity 2."),
    setting("severity_name_3", SEVERITY, "Average", "Name of severity 3."),
    setting("severity_name_4", SEVERITY, "High", "Name of severity 4."),
    setting("severity_name_5", SEVERITY, "Disaster", "Name of severity 5."),
    setting("custom_color", FLAG, "0", "1 = the colours of problems below count."),
    setting("ok_period", Time::of(0, 86_400), "5m", "Resolved problems are shown for."),
    setting("blink_period", Time::of(0, 86_400), "2m", "Changed triggers blink for."),
    setting("problem_unack_color", Rule::Color, "CC0000", "Colour of problems."),
    setting("problem_ack_color", Rule::Color, "CC0000", "The same, acknowledged."),
    setting("ok_unack_color", Rule::Color, "009900", "Colour of resolved problems."),
    setting("ok_ack_color", Rule::Color, "009900", "The same, acknowledged."),
    setting("problem_unack_style", FLAG, "1", "1 = problems blink."),
    setting("problem_ack_style", FLAG, "1", "1 = acknowledged problems blink."),
    setting("ok_unack_style", FLAG, "1", "1 = resolved problems blink."),
    setting("ok_ack_style", FLAG, "1", "1 = resolved, acknowledged problems blink."),
    setting(
        "discovery_groupid",
        Rule::Of(Id),
        "0",
        "Host group of discovered hosts; 0 = the one named `Discovered hosts`. Obeyed.",
    ),
    setting("default_inventory_mode", Rule::Of(OneOf(&[-1, 0, 1])), "-1", "Of new hosts."),
    setting("alert_usrgrpid", Rule::Of(Id), "7", "User group that hears of a lost database."),
    setting("snmptrap_logging", FLAG, "1", "1 = SNMP traps without a host are logged."),
    setting("default_lang", Rule::Word(LANGUAGES), "en_US", "Language of new users."),
    setting("default_timezone", Rule::Zone, "system", "Time zone of times of day. Obeyed."),
    setting(
        "login_attempts",
        Rule::Of(Int(1, 32)),
        "5",
        "Failed sign-ins from one source that block the account for it. Obeyed.",
    ),
    setting("login_block", Time::of(30, 3_600), "30s", "It is blocked for. Obeyed."),
    setting("validate_uri_schemes", FLAG, "1", "1 = links have one of the schemes below."),
    setting(
        "uri_valid_schemes",
        Rule::Of(Text(255)),
        "http,https,ftp,file,mailto,tel,ssh",
        "Schemes of links.",
    ),
    setting("x_frame_options", Rule::Of(Name(255)), "SAMEORIGIN", "Who may frame the interface."),
    setting("iframe_sandboxing_enabled", FLAG, "1", "1 = frames are sandboxes."),
    setting("iframe_sandboxing_exceptions", Rule::Of(Text(255)), "", "What they may do."),
    setting("max_overview_table_size", Rule::Of(Int(5, 999_999)), "50", "Rows of overviews."),
    setting("connect_timeout", Time::of(1, 30), "3s", "To connect to the server."),
    setting("socket_timeout", Time::of(1, 300), "3s", "To wait for the server."),
    setting("media_type_test_timeout", Time::of(1, 300), "65s", "To test a media type."),
    setting("script_timeout", Time::of(1, 300), "60s", "To run a script."),
    setting("item_test_timeout", Time::of(1, 600), "60s", "To test an item."),
    setting(
        "url",
        Rule::Of(Text(2_048)),
        "",
        "Address of the interface, for links in messages. Obeyed.",
    ),
    setting("report_test_timeout", Time::of(1, 300), "60s", "To test a report."),
    setting("auditlog_enabled", FLAG, "1", "1 = there is an audit log. Obeyed."),
    setting("auditlog_mode", FLAG, "1", "1 = with what discovery changes. Obeyed."),
    Setting { access: ReadOnly, ..setting("ha_failover_delay", Time::of(10, 900), "1m", "Fixed.") },
    setting(
        "geomaps_tile_provider",
        Rule::Word(TILES),
        TILES[1],
        "Maps; empty = of the URL below.",
    ),
    setting("geomaps_tile_url", Rule::Url(2_048), "", "Where maps come from."),
    setting("geomaps_max_zoom", Rule::Of(Int(0, 30)), "0", "Largest zoom of maps."),
    setting("geomaps_attribution", Rule::Of(Text(1_024)), "", "Whose the maps are."),
    setting("vault_provider", FLAG, "0", "0 HashiCorp, 1 CyberArk."),
    setting("timeout_zabbix_agent", TIMEOUT, "3s", "Timeout of items of agents. Obeyed once set."),
    setting("timeout_simple_check", TIMEOUT, "3s", "The same of simple checks."),
    setting("timeout_snmp_agent", TIMEOUT, "3s", "The same of SNMP."),
    setting("timeout_external_check", TIMEOUT, "3s", "The same of external checks."),
    setting("timeout_db_monitor", TIMEOUT, "3s", "The same of ODBC."),
    setting("timeout_http_agent", TIMEOUT, "3s", "The same of HTTP."),
    setting("timeout_ssh_agent", TIMEOUT, "3s", "The same of SSH."),
    setting("timeout_telnet_agent", TIMEOUT, "3s", "The same of Telnet."),
    setting("timeout_script", TIMEOUT, "3s", "The same of scripts."),
    setting("timeout_browser", TIMEOUT, "60s", "The same of browsers."),
    setting(
        "link_lifetime",
        Time::of(60, 30 * 86_400),
        "24h",
        "Links in messages that do something are good for. Obeyed.",
    )
    .named(),
    setting(
        "heartbeat_url",
        Rule::Of(Text(2_048)),
        "",
        "Address that is requested while everything works; empty = none. Obeyed.",
    )
    .named(),
    setting("heartbeat_period", HEARTBEAT, "0", "How often it is; 0 = never. Obeyed.").named(),
];

fn check(call: &Call<'_>, edit: &mut Edit<'_>, change: &mut Change) -> ApiResult<()> {
    let id = |name: &str| change.value(name).parse::<u64>().unwrap_or(0);
    if change.gives("discovery_groupid") {
        let group = id("discovery_groupid");
        let own =
            formatcp!("SELECT groupid FROM groups_ WHERE groupid = ? AND flags = {FLAGS_PLAIN}");
        let is_own = !edit.query(own, &[group.into()])?.is_empty();
        let allowed = call.allowed(edit, Target::HostGroup, Need::Write, &[group])?;
        if !is_own || allowed.is_empty() {
            let text = format!("Host group with ID \"{group}\" is not available.");
            return Err(ApiError::params(text));
        }
    }
    let users = id("alert_usrgrpid");
    if change.gives("alert_usrgrpid")
        && users != 0
        && names(edit, "usergroups", "usrgrpid", "name", &[users])?.is_empty()
    {
        return Err(ApiError::params(format!("User group with ID \"{users}\" is not available.")));
    }
    if change.gives("geomaps_tile_provider") && !change.value("geomaps_tile_provider").is_empty() {
        change.set("geomaps_tile_url", "");
        change.set("geomaps_max_zoom", "0");
        change.set("geomaps_attribution", "");
    }
    let url = change.value("heartbeat_url");
    let is_http = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    if change.gives("heartbeat_url") && !url.is_empty() && !(is_http && is_web_address(url)) {
        return Err(ApiError::at("/heartbeat_url", "unacceptable URL"));
    }
    let (first, longest) = ("period_default", "max_period");
    let is_longer =
        PERIOD_DEFAULT.seconds(change.value(first)) > MAX_PERIOD.seconds(change.value(longest));
    let (name, error) = match (change.gives(first), change.gives(longest)) {
        (true, _) if is_longer => (first, "time filter default period exceeds the max period"),
        (false, true) if is_longer => {
            (longest, "max period is less than time filter default period")
        }
        _ => return Ok(()),
    };
    Err(ApiError::params(format!("Incorrect value for field \"{name}\": {error}.")))
}

#[cfg(test)]
mod tests;
