//! `housekeeping.get`, `housekeeping.update`: how long data is kept. All settings are obeyed but the switches of history
//! and trends, and those of compression: history goes by whole files or partitions, which costs next to nothing.

use config::audit::SettingsObject;

use crate::call::{Json, Method};
use crate::object::Access::ReadOnly;
use crate::object::FieldKind::{OneOf, Text};
use crate::single::{self, Rule, Setting, Single, Time, setting};

pub(crate) const METHODS: &[Method] = &[
    Method::user("housekeeping.get", |call, input| single::get(&HOUSEKEEPING, call, input)),
    Method::super_admin("housekeeping.update", |call, input| {
        single::update(&HOUSEKEEPING, call, input).map(Json::from)
    }),
];

const DAY_S: i64 = model::DAY_S as i64;
const YEARS_25_S: i64 = 25 * 365 * DAY_S;
const FLAG: Rule = Rule::Of(OneOf(&[0, 1]));
const DAYS: Rule = Time::of(DAY_S, YEARS_25_S);

const fn or_zero(min: i64) -> Rule {
    Rule::Time(Time { min, max: YEARS_25_S, or_zero: true, years: false, or_macro: false })
}

pub(crate) static HOUSEKEEPING: Single =
    Single { object: SettingsObject::Housekeeping, settings: SETTINGS, check: |_, _, _| Ok(()) };

const SETTINGS: &[Setting] = &[
    setting("hk_events_mode", FLAG, "1", "1 = old events are deleted."),
    setting("hk_events_trigger", DAYS, "365d", "Events of triggers are kept for."),
    setting("hk_events_service", DAYS, "1d", "Events of services are kept for."),
    setting("hk_events_internal", DAYS, "1d", "Internal events are kept for."),
    setting("hk_events_discovery", DAYS, "1d", "Events of network discovery are kept for."),
    setting("hk_events_autoreg", DAYS, "1d", "Events of autoregistration are kept for."),
    setting("hk_services_mode", FLAG, "1", "1 = old status changes of services are deleted."),
    setting("hk_services", DAYS, "365d", "Status changes of services are kept for."),
    setting("hk_audit_mode", FLAG, "1", "1 = old entries of the audit log are deleted."),
    setting("hk_audit", DAYS, "31d", "The audit log is kept for."),
    setting("hk_sessions_mode", FLAG, "1", "1 = unused sessions end."),
    setting("hk_sessions", DAYS, "365d", "Unused sessions are kept for."),
    setting("hk_history_mode", FLAG, "1", "Stored only: old history is always deleted."),
    setting("hk_history_global", FLAG, "0", "1 = `hk_history` overrides the period of each item."),
    setting("hk_history", or_zero(3_600), "31d", "History of all items is kept for."),
    setting("hk_trends_mode", FLAG, "1", "Stored only: old trends are always deleted."),
    setting("hk_trends_global", FLAG, "0", "1 = `hk_trends` overrides the period of each item."),
    setting("hk_trends", or_zero(DAY_S), "365d", "Trends of all items are kept for."),
    Setting {
        access: ReadOnly,
        ..setting("db_extension", Rule::Of(Text(32)), "", "Extension of the database: none.")
    },
    setting("compression_status", FLAG, "0", "Stored only: history is always compressed."),
    setting(
        "compress_older",
        Time::of(7 * DAY_S, YEARS_25_S),
        "7d",
        "Stored only: age of what is compressed.",
    ),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Server;

    #[test]
    fn history_and_trend_periods_are_checked_and_applied() {
        let server = Server::start();
        let kept = || {
            let settings = server.api.deps.config.snapshot().settings.clone();
            (
                settings.history_days_global,
                settings.trends_days_global,
                settings.retention.sessions_s,
            )
        };
        let year_s = 365 * 86_400;
        assert_eq!(kept(), (None, None, Some(year_s)));
        let update = |params: serde_json::Value| server.call("housekeeping.update", &params);
        update(json!({ "hk_history": "40d", "hk_trends": "0" })).unwrap();
        assert_eq!(kept(), (None, None, Some(year_s)), "items decide unless `…_global` is set");
        let given = json!({ "hk_trends_global": 1, "hk_history_global": "1", "hk_sessions": "2d" });
        let names = json!(["hk_trends_global", "hk_history_global", "hk_sessions"]);
        assert_eq!(update(given), Ok(names));
        assert_eq!(kept(), (Some(40), Some(0), Some(172_800)));
        update(json!({ "hk_sessions_mode": 0, "hk_history_global": 0 })).unwrap();
        assert_eq!(kept(), (None, Some(0), None));
        let all = server.call("housekeeping.get", &json!([])).unwrap();
        assert_eq!(all.as_object().unwrap().len(), 21);
        assert_eq!((&all["hk_history"], &all["hk_audit"]), (&json!("40d"), &json!("31d")));
        for (params, text) in [
            (json!({ "hk_events_trigger": "23h" }), "must be one of 86400-788400000."),
            (json!({ "hk_history": "59m" }), "value must be one of 0, 3600-788400000."),
            (json!({ "hk_trends": "1y" }), "\"/hk_trends\": a time unit is expected."),
            (json!({ "hk_audit": "" }), "\"/hk_audit\": cannot be empty."),
            (json!({ "hk_audit": null }), "\"/hk_audit\": a character string is expected."),
            (json!({ "hk_events_mode": 2 }), "value must be one of 0, 1."),
            (json!({ "db_extension": "x" }), "unexpected parameter \"db_extension\"."),
            (json!([1]), "\"/\": unexpected parameter \"0\"."),
        ] {
            server.refuses(&[("housekeeping.update", params, -32602, text)]);
        }
        let user = server.user("u", "1", &[]);
        assert!(server.call_as(Some(&user), "housekeeping.get", &json!({})).is_ok());
        assert!(server.call_as(Some(&user), "housekeeping.update", &json!({})).is_err());
    }
}
