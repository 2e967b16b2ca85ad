mod rights;
mod standing_in;

use serde_json::json;

use crate::Json;
use crate::testing::Server;

/// Friday, 2027-01-15 08:00 UTC.
pub(super) const NOW: i64 = 1_800_000_000;
pub(super) const DAY: i64 = 86_400;

/// The id of a user made by [`Server::user`].
pub(super) fn id_of(server: &Server, username: &str) -> String {
    server.text(&format!("SELECT userid FROM users WHERE username = '{username}'"))
}

pub(super) fn group_of(server: &Server, name: &str) -> String {
    server.text(&format!("SELECT usrgrpid FROM usergroups WHERE name = '{name}'"))
}

/// A schedule in UTC in which these users take turns daily at 08:00.
pub(super) fn rota(server: &Server, name: &str, users: &[&String], more: &Json) -> String {
    let users: Json = users.iter().map(|id| json!({ "userid": id })).collect();
    let mut params = json!({
        "name": name, "timezone": "UTC",
        "layers": [{ "name": "days", "users": users, "start": NOW, "period": "1d" }],
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    server.create("oncall.create", &params)
}

/// Shifts as `user from to by`, times in hours since [`NOW`].
pub(super) fn shifts(server: &Server, session: Option<&str>, params: &Json) -> Vec<String> {
    let found = match session {
        Some(session) => server.call_as(Some(session), "oncall.shifts", params),
        None => server.call("oncall.shifts", params),
    };
    let hours = |one: &Json, name: &str| {
        let at: i64 = one[name].as_str().unwrap().parse().unwrap();
        (at - NOW) / 3_600
    };
    let shown = |one: &Json| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        let by = match (text("gap").as_str(), text("overrideid").as_str()) {
            ("1", _) => "gap".to_owned(),
            (_, "0") => format!("layer {}", text("layer")),
            (_, id) => format!("override {id}"),
        };
        format!("{} {} {} {by}", text("userid"), hours(one, "from"), hours(one, "to"))
    };
    found.unwrap().as_array().unwrap().iter().map(shown).collect()
}

#[test]
fn a_schedule_is_written_and_read() {
    let server = Server::start();
    let group = group_of(&server, "Zabbix administrators");
    let params = json!({
        "name": "Linux", "timezone": "Europe/Berlin", "description": "d",
        "usergroups": [{ "usrgrpid": group, "permission": 3 }],
        "holidays": [{ "date": "2026-12-25", "name": "Christmas" }],
        "layers": [
            { "name": "weeks", "users": [{ "userid": 1 }, { "userid": 2 }, { "userid": 1 }],
              "start": NOW, "period": "1w", "handoff": "09:00" },
            { "name": "nights", "users": { "userid": "1" }, "start": NOW, "end": NOW + DAY, "period": "12h",
              "on_holidays": 2, "restrictions": [{ "from": "18:00", "to": "08:00" }, { "weekdays": 96, "from": "00:00", "to": "24:00" }] },
        ],
    });
    let id = server.create("oncall.create", &params);
    let read = json!({
        "selectLayers": "extend", "selectHolidays": "extend", "selectUserGroups": "extend",
        "selectOverrides": "extend", "selectUsers": ["userid", "username"],
    });
    let user = |id: &str| json!({ "userid": id });
    let schedule = json!({
        "scheduleid": id, "name": "Linux", "timezone": "Europe/Berlin", "description": "d", "holiday_calendar": "",
        "holidays": [{ "date": "2026-12-25", "name": "Christmas" }],
        "usergroups": [{ "usrgrpid": group, "permission": "3" }],
        "layers": [
            { "name": "weeks", "users": [user("1"), user("2"), user("1")], "start": NOW.to_string(), "end": "0",
              "period": "1w", "handoff": "09:00", "on_holidays": "0", "restrictions": [], "calendar": "",
              "calendar_error": "" },
            { "name": "nights", "users": [user("1")], "start": NOW.to_string(), "end": (NOW + DAY).to_string(),
              "period": "12h", "handoff": "", "on_holidays": "2",
              "restrictions": [{ "weekdays": "127", "from": "18:00", "to": "08:00" },
                               { "weekdays": "96", "from": "00:00", "to": "24:00" }],
              "calendar": "", "calendar_error": "" },
        ],
        "overrides": [],
        "users": [{ "userid": "1", "username": "Admin" }, { "userid": "2", "username": "guest" }],
    });
    server.answers(&[("oncall.get", read.clone(), json!([schedule]))]);
    // What is read can be written.
    let layers = schedule["layers"].as_array().unwrap().iter().map(|layer| {
        let mut layer = layer.clone();
        layer.as_object_mut().unwrap().remove("calendar_error");
        layer
    });
    let update = json!({ "scheduleid": id, "layers": layers.collect::<Vec<_>>() });
    server.call("oncall.update", &update).unwrap();
    server.answers(&[
        ("oncall.get", read, json!([schedule])),
        ("oncall.update", json!({ "scheduleid": id, "layers": [] }), json!({ "scheduleids": [id] })),
        (
            "oncall.get",
            json!({ "output": ["name"], "selectLayers": "count", "selectUsers": "count", "userids": 1 }),
            json!([]),
        ),
        ("oncall.delete", json!([id]), json!({ "scheduleids": [id] })),
    ]);
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM oncall_layers"), 0);
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM oncall_holidays"), 0);
}

#[test]
fn what_is_refused() {
    let server = Server::start();
    rota(&server, "taken", &[&"1".to_owned()], &json!({}));
    let layer = |more: &Json| {
        let mut layer = json!({ "name": "l", "users": [{ "userid": 1 }], "start": NOW });
        for (name, value) in more.as_object().into_iter().flatten() {
            layer[name] = value.clone();
        }
        json!({ "layers": [layer] })
    };
    let restricted =
        |from: &str, to: &str| layer(&json!({ "restrictions": [{ "from": from, "to": to }] }));
    for (more, error) in [
        (json!({ "name": "taken" }), "On-call schedule \"taken\" already exists."),
        (json!({ "name": "" }), "/1/name\": cannot be empty"),
        (json!({ "timezone": "Mars/Base" }), "/1/timezone\": value must be \"system\" or the name"),
        (json!({ "holidays": [{ "date": "2026-02-30" }] }), "/1/holidays/1/date\": a date such as"),
        (json!({ "holidays": [{ "date": "20261225" }] }), "/1/holidays/1/date\": a date such as"),
        (
            json!({ "holidays": vec![json!({ "date": "2026-12-25" }); 2] }),
            "value (date)=(2026-12-25) already",
        ),
        (json!({ "holiday_calendar": "x" }), "/1/holiday_calendar\": the text is not a calendar"),
        (json!({ "overrides": [] }), "unexpected parameter \"overrides\""),
        (
            json!({ "layers": [{ "users": [] }] }),
            "/1/layers/1\": the parameter \"start\" is missing",
        ),
        (
            json!({ "layers": vec![json!({}); 21] }),
            "/1/layers\": the list is limited to 20 entries",
        ),
        (layer(&json!({ "users": [] })), "/1/layers/1/users\": cannot be empty"),
        (layer(&json!({ "period": "30m" })), "/1/layers/1/period\": a time of 1h to 53w"),
        (
            layer(&json!({ "period": "12h", "handoff": "09:00" })),
            "/1/layers/1/handoff\": value must be empty",
        ),
        (layer(&json!({ "handoff": "9:00" })), "/1/layers/1/handoff\": a time of the day"),
        (layer(&json!({ "handoff": "24:00" })), "/1/layers/1/handoff\": a time of the day"),
        (layer(&json!({ "end": NOW })), "/1/layers/1/end\": value must be 0 or after \"start\""),
        (
            layer(&json!({ "on_holidays": 3 })),
            "/1/layers/1/on_holidays\": value must be one of 0, 1, 2",
        ),
        (layer(&json!({ "color": 3 })), "unexpected parameter \"color\""),
        (layer(&json!({ "calendar": "x" })), "/1/layers/1/users\": value must be empty"),
        (
            json!({ "layers": [{ "calendar": "x" }] }),
            "/1/layers/1/calendar\": the text is not a calendar",
        ),
        (restricted("24:00", "08:00"), "/restrictions/1/from\": a time of the day"),
        (restricted("08:00", "8"), "/restrictions/1/to\": a time of the day"),
        (
            layer(&json!({ "restrictions": [{ "from": "08:00", "to": "09:00", "weekdays": 0 }] })),
            "one of 1-127",
        ),
    ] {
        let mut params = json!({ "name": "x" });
        for (name, value) in more.as_object().into_iter().flatten() {
            params[name] = value.clone();
        }
        server.refuses(&[("oncall.create", params, -32602, error)]);
    }
    let nobody = layer(&json!({ "users": [{ "userid": 999 }] }));
    for (mut params, path) in [
        (json!({ "usergroups": [{ "usrgrpid": 999 }] }), "usergroups/1"),
        (nobody, "layers/1/users/1"),
    ] {
        params["name"] = json!("x");
        let error =
            format!("Invalid parameter \"/1/{path}\": object does not exist, or you have no");
        server.refuses(&[("oncall.create", params, -32500, &error)]);
    }
    for (params, error) in [
        (json!({ "to": 1 }), "the parameter \"from\" is missing"),
        (json!({ "from": 5, "to": 5 }), "/to\": value must be greater than \"from\""),
        (json!({ "from": -1, "to": 5 }), "/from\": value must be one of 0-"),
        (json!({ "from": 0, "to": 401 * DAY }), "/to\": the time is limited to 400 days"),
        (json!({ "from": 0, "to": 5, "of": "x" }), "/of\": value must be one of"),
        (json!({ "from": 0, "to": 5, "what": 1 }), "unexpected parameter \"what\""),
        (json!([]), "an object is expected"),
    ] {
        server.refuses(&[("oncall.shifts", params, -32602, error)]);
    }
}

#[test]
fn shifts_have_gaps_and_layers() {
    let server = Server::start();
    let (one, two) = ("1".to_owned(), "2".to_owned());
    let id = rota(&server, "a", &[&one, &two], &json!({}));
    let night = json!({
        "name": "n", "users": [{ "userid": 2 }], "start": NOW, "restrictions": [{ "from": "20:00", "to": "08:00" }],
    });
    let nights = rota(&server, "b", &[], &json!({ "layers": [night] }));
    let within = json!({ "from": NOW - 3_600, "to": NOW + 2 * DAY, "scheduleids": [id] });
    assert_eq!(shifts(&server, None, &within), ["0 -1 0 gap", "1 0 24 layer 0", "2 24 48 layer 0"]);
    let mut own = within;
    own["userids"] = json!([2]);
    own["scheduleids"] = Json::Null;
    assert_eq!(
        shifts(&server, None, &own),
        ["2 24 48 layer 0", "2 12 24 layer 0", "2 36 48 layer 0"]
    );
    let layers =
        json!({ "from": NOW, "to": NOW + DAY, "scheduleids": nights, "of": "layers", "limit": 1 });
    assert_eq!(shifts(&server, None, &layers), ["2 12 24 layer 0"]);
    let now = json!({ "from": NOW, "to": NOW + 1 });
    assert_eq!(shifts(&server, None, &now), ["1 0 0 layer 0", "0 0 0 gap"]);
}

#[test]
fn too_many_shifts_are_refused() {
    let server = Server::start();
    let layer = json!({ "users": [{ "userid": 1 }, { "userid": 2 }], "start": 0, "period": "1h" });
    for name in ["a", "b", "c"] {
        rota(&server, name, &[], &json!({ "layers": [layer] }));
    }
    let year = json!({ "from": NOW, "to": NOW + 400 * DAY });
    server.refuses(&[("oncall.shifts", year, -32602, "The result is limited to 20000 shifts")]);
}

#[test]
fn a_calendar_puts_users_on_call() {
    let server = Server::start();
    let event = |from: &str, to: &str, more: &str| {
        format!(
            "BEGIN:VEVENT\r\nUID:{from}\r\nDTSTART:{from}\r\nDTEND:{to}\r\n{more}\r\nEND:VEVENT\r\n"
        )
    };
    let events = [
        event("20270115T090000Z", "20270115T100000Z", "SUMMARY:admin"),
        event(
            "20270115T110000Z",
            "20270115T120000Z",
            "SUMMARY:x\r\nATTENDEE:mailto:Guest@example.com",
        ),
        event("20270115T130000Z", "20270115T140000Z", "SUMMARY:Nobody"),
    ];
    let calendar =
        format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{}END:VCALENDAR\r\n", events.concat());
    let media_type = server.text("SELECT mediatypeid FROM media_types WHERE type = 0");
    let media = json!([{ "mediatypeid": media_type, "sendto": ["guest@example.com"] }]);
    server.call("user.update", &json!({ "userid": 2, "medias": media })).unwrap();
    let layers = json!({ "layers": [{ "name": "c", "calendar": calendar }] });
    let id = rota(&server, "calendar", &[], &layers);
    let within = json!({ "from": NOW, "to": NOW + 6 * 3_600, "scheduleids": id });
    assert_eq!(
        shifts(&server, None, &within),
        ["0 0 1 gap", "1 1 2 layer 0", "0 2 3 gap", "2 3 4 layer 0", "0 4 6 gap"]
    );
    let error = "1 event(s) of the calendar name no user, such as \"Nobody\".";
    let read = json!({ "output": ["name"], "selectLayers": ["calendar_error"], "selectUsers": ["userid"] });
    let users = json!([{ "userid": "1" }, { "userid": "2" }]);
    let found =
        json!([{ "name": "calendar", "layers": [{ "calendar_error": error }], "users": users }]);
    server.answers(&[("oncall.get", read, found)]);
}
