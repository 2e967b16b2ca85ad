//! Settings; texts and results as the reference gives them.

use objects::ItemType;
use serde_json::{Value as Json, json};

use crate::testing::Server;

#[test]
fn what_is_refused() {
    let server = Server::start();
    for (params, text) in [
        (json!({ "zz": 1 }), "\"/\": unexpected parameter \"zz\"."),
        (json!([1]), "\"/\": unexpected parameter \"0\"."),
        (json!({ "ha_failover_delay": "1m" }), "unexpected parameter \"ha_failover_delay\"."),
        (json!({ "url": "x", "search_limit": 0 }), "\"/search_limit\": value must be one of 1-"),
        (json!({ "search_limit": null }), "\"/search_limit\": an integer is expected."),
        (json!({ "server_check_interval": 5 }), "value must be one of 0, 10."),
        (json!({ "default_theme": "zz" }), "one of \"blue-theme\", \"dark-theme\", \"hc-light\","),
        (json!({ "work_period": "" }), "\"/work_period\": cannot be empty."),
        (json!({ "work_period": "1-7,00:00-24:00;" }), "a time period is expected."),
        (json!({ "history_period": "1h" }), "value must be one of 86400-604800."),
        (json!({ "history_period": "-1d" }), "value must be one of 86400-604800."),
        (json!({ "history_period": "{$X}" }), "a time unit is expected."),
        (json!({ "period_default": "11y" }), "value must be one of 60-315360000."),
        (
            json!({ "period_default": "3y" }),
            "field \"period_default\": time filter default period exceeds the max period.",
        ),
        (json!({ "severity_color_0": "ABCDE" }), "a hexadecimal color code (6 symbols)"),
        (json!({ "severity_color_0": "" }), "cannot be empty."),
        (json!({ "severity_name_0": "x".repeat(33) }), "value is too long."),
        (json!({ "discovery_groupid": 999 }), "Host group with ID \"999\" is not available."),
        (json!({ "discovery_groupid": "x" }), "a number is expected."),
        (json!({ "alert_usrgrpid": 999 }), "User group with ID \"999\" is not available."),
        (json!({ "default_lang": "zz" }), "value must be one of \"en_GB\", \"en_US\","),
        (json!({ "default_timezone": "No/Where" }), "/default_timezone"),
        (json!({ "login_attempts": 33 }), "value must be one of 1-32."),
        (json!({ "login_block": "29" }), "value must be one of 30-3600."),
        (json!({ "geomaps_tile_provider": "zz" }), "must be empty or one of \"OpenStreetMap."),
        (json!({ "geomaps_tile_url": "javascript:1" }), "unacceptable URL."),
        (json!({ "timeout_zabbix_agent": "601" }), "value must be one of 1-600."),
        (json!({ "timeout_zabbix_agent": "{#T}" }), "a time unit is expected."),
    ] {
        server.refuses(&[("settings.update", params, -32602, text)]);
    }
    for (params, text) in [
        (json!({ "output": "count" }), "\"/output\": value must be \"extend\"."),
        (json!({ "output": null }), "an array or a character string is expected."),
        (json!({ "output": ["url", "zz"] }), "\"/output/2\": value must be one of \"default_theme"),
        (json!({ "output": ["url", "url"] }), "\"/output/2\": value (url) already exists."),
    ] {
        server.refuses(&[("settings.get", params, -32602, text)]);
    }
}

#[test]
fn what_is_set_is_shown_and_obeyed_at_once() {
    let server = Server::start();
    let all = server.call("settings.get", &json!({})).unwrap();
    assert_eq!(all.as_object().unwrap().len(), 71);
    let group = server.create("hostgroup.create", &json!({ "name": "found" }));
    let given = json!({
        "timeout_zabbix_agent": "7s", "default_timezone": "Europe/Riga", "login_attempts": "3",
        "login_block": "1m", "discovery_groupid": group, "work_period": "1-5,09:00-18:00;{$X}",
        "geomaps_tile_provider": "OpenTopoMap", "geomaps_max_zoom": 20,
    });
    let names: Json = given.as_object().unwrap().keys().map(String::as_str).collect();
    let mut names: Vec<Json> = names.as_array().unwrap().clone();
    names.extend([json!("geomaps_tile_url"), json!("geomaps_attribution")]);
    assert_eq!(server.call("settings.update", &given), Ok(Json::Array(names)));
    server.answers(&[
        (
            "settings.get",
            json!({ "output": ["login_block", "login_attempts", "geomaps_max_zoom"] }),
            json!({ "login_block": "1m", "login_attempts": "3", "geomaps_max_zoom": "0" }),
        ),
        ("settings.get", json!({ "output": [] }), json!([])),
        ("settings.update", json!([]), json!([])),
        ("apiinfo.timezone", json!([]), json!("Europe/Riga")),
    ]);
    let known = server.api.deps.config.snapshot().settings.clone();
    let timeouts = [ItemType::Agent, ItemType::AgentActive, ItemType::Simple]
        .map(|kind| known.timeouts.get(&kind).cloned().unwrap_or_default());
    assert_eq!(timeouts, ["7s", "7s", ""], "agents, active ones too; others have their default");
    let limits = (known.logins.attempts, known.logins.block_s);
    assert_eq!(limits, (3, 60));
    let user = server.user("u", "1", &[]);
    assert!(server.call_as(Some(&user), "settings.get", &json!({})).is_ok());
    let refused = server.call_as(Some(&user), "settings.update", &json!({})).unwrap_err();
    assert!(refused.1.contains("No permissions to call \"settings.update\"."), "{refused:?}");
}

#[test]
fn own_settings_are_shown_by_name() {
    let server = Server::start();
    let links = || {
        let settings = server.api.deps.config.snapshot().settings.clone();
        (settings.links.address.clone(), settings.links.lifetime_s)
    };
    assert_eq!(links(), (String::new(), 86_400));
    let given = json!({ "link_lifetime": "2h", "url": "https://monitor.test/v/" });
    server.call("settings.update", &given).unwrap();
    assert_eq!(links(), ("https://monitor.test/v".to_owned(), 7_200));
    let shown = json!({ "link_lifetime": "2h" });
    server.answers(&[("settings.get", json!({ "output": ["link_lifetime"] }), shown)]);
    for output in [json!({}), json!({ "output": "extend" })] {
        let all = server.call("settings.get", &output).unwrap();
        assert!(all.get("link_lifetime").is_none() && all.get("url").is_some());
    }
    for wrong in ["59", "31d", ""] {
        let params = json!({ "link_lifetime": wrong });
        server.refuses(&[("settings.update", params, -32602, "/link_lifetime")]);
    }
}

#[test]
fn failed_sign_ins_block_as_the_settings_say() {
    let server = Server::start();
    let given = json!({ "login_attempts": 2, "login_block": "10m" });
    server.call("settings.update", &given).unwrap();
    server.user("u", "1", &[]);
    let sign_in = |password: &str| {
        let params = json!({ "username": "Admin", "password": password });
        server.call_as(None, "user.login", &params).is_ok()
    };
    assert!(!sign_in("wrong") && !sign_in("wrong"));
    assert!(!sign_in("zabbix"), "blocked after two");
    server.clock.advance(std::time::Duration::from_secs(590));
    assert!(!sign_in("zabbix"), "for ten minutes");
    server.clock.advance(std::time::Duration::from_secs(20));
    assert!(sign_in("zabbix"));
}

#[test]
fn only_super_admins_who_name_the_heartbeat_see_it() {
    let server = Server::start();
    let given = json!({ "heartbeat_url": "https://example.com/secret", "heartbeat_period": "1m" });
    server.call("settings.update", &given).unwrap();
    let known = server.api.deps.config.snapshot().settings.heartbeat.clone().unwrap();
    assert_eq!((known.url.as_str(), known.period_s), ("https://example.com/secret", 60));
    let named = json!({ "output": ["heartbeat_url", "heartbeat_period"] });
    assert_eq!(server.call("settings.get", &named).unwrap(), given);
    for options in [json!({}), json!({ "output": "extend" })] {
        let shown = server.call("settings.get", &options).unwrap();
        assert!(shown.get("heartbeat_url").is_none() && shown["work_period"].is_string());
    }
    let admin = server.user("adm", "2", &[]);
    let (_, error) = server.call_as(Some(&admin), "settings.get", &named).unwrap_err();
    assert!(error.contains("value must be one of") && !error.contains("heartbeat"), "{error}");
    server.refuses(&[
        ("settings.update", json!({ "heartbeat_period": "9s" }), -32602, "one of 0, 10-86400"),
        ("settings.update", json!({ "heartbeat_url": "ftp://x/y" }), -32602, "unacceptable URL"),
        ("settings.update", json!({ "heartbeat_url": "x" }), -32602, "unacceptable URL"),
    ]);
    server.call("settings.update", &json!({ "heartbeat_period": "0" })).unwrap();
    assert_eq!(server.api.deps.config.snapshot().settings.heartbeat, None);
}
