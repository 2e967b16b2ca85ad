//! Agreements: what is stored, refused and computed, as Zabbix 7.0.22 does it.

use config::db::DbError;
use serde_json::json;

use crate::Json;
use crate::testing::Server;

const DAY: i64 = 86_400;
const NOW: i64 = 1_800_000_000;

fn params(more: &Json) -> Json {
    let mut params = json!({
        "name": "x", "period": 0, "slo": "99.9", "effective_date": 1_577_836_800, "timezone": "UTC",
        "service_tags": [{ "tag": "sla", "value": "gold" }],
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    params
}

#[test]
fn what_is_refused() {
    let server = Server::start();
    server.create("sla.create", &params(&json!({ "name": "taken" })));
    let part = |from: i64, to: i64| json!({ "period_from": from, "period_to": to });
    let down = |from: i64, to: i64| json!({ "name": "d", "period_from": from, "period_to": to });
    for (more, error) in [
        (
            json!({ "slo": "200" }),
            "Invalid parameter \"/1/slo\": value must be within the range of 0-100.",
        ),
        (
            json!({ "slo": "abc" }),
            "Invalid parameter \"/1/slo\": a floating point value is expected.",
        ),
        (json!({ "slo": "99.99999" }), "SLA \"x\" SLO must have no more than 4 fractional digits."),
        (
            json!({ "period": 5 }),
            "Invalid parameter \"/1/period\": value must be one of 0, 1, 2, 3, 4.",
        ),
        (json!({ "service_tags": [] }), "Invalid parameter \"/1/service_tags\": cannot be empty."),
        (
            json!({ "service_tags": [{ "tag": "a" }, { "tag": "a", "operator": 2 }] }),
            "Invalid parameter \"/1/service_tags/2\": value (tag, value)=(a, ) already exists.",
        ),
        (
            json!({ "schedule": [part(-1, 5)] }),
            "Invalid parameter \"/1/schedule/1/period_from\": value must be one of 0-604800.",
        ),
        (
            json!({ "schedule": [part(5, 5)] }),
            "Start time must be less than end time for SLA \"x\".",
        ),
        (
            json!({ "schedule": [part(0, 9), part(0, 9)] }),
            "Invalid parameter \"/1/schedule/2\": value (period_from, period_to)=(0, 9) already exists.",
        ),
        (
            json!({ "excluded_downtimes": [down(6, 5)] }),
            "Start time must be less than end time for excluded downtime \"d\" of SLA \"x\".",
        ),
        (json!({ "name": "taken" }), "SLA \"taken\" already exists."),
    ] {
        let error_of = |params: &Json| server.call("sla.create", params).unwrap_err().1;
        assert_eq!(error_of(&params(&more)), error, "{more}");
    }
    let mut without = params(&json!({}));
    without.as_object_mut().unwrap().remove("service_tags");
    let error = server.call("sla.create", &without).unwrap_err().1;
    assert_eq!(error, "Invalid parameter \"/1\": the parameter \"service_tags\" is missing.");
    let error =
        server.call("sla.create", &params(&json!({ "timezone": "Nowhere" }))).unwrap_err().1;
    assert!(error.starts_with("Invalid parameter \"/1/timezone\": value must be "), "{error}");
}

#[test]
fn schedules_are_joined() {
    let server = Server::start();
    let id = server.create("sla.create", &params(&json!({})));
    let part = |from: i64, to: i64| json!({ "period_from": from, "period_to": to });
    for (given, stored) in [
        (
            json!([part(50, 200), part(0, 100), part(200, 300), part(400, 500)]),
            json!([["0", "300"], ["400", "500"]]),
        ),
        (json!([part(0, 604_800), part(5, 9)]), json!([])),
    ] {
        server.call("sla.update", &json!({ "slaid": id, "schedule": given })).unwrap();
        let found = server
            .call("sla.get", &json!({ "slaids": id, "output": [], "selectSchedule": "extend" }))
            .unwrap();
        let parts = found[0]["schedule"].as_array().unwrap().iter();
        let parts: Json = parts.map(|one| json!([one["period_from"], one["period_to"]])).collect();
        assert_eq!(parts, stored, "{given}");
    }
}

#[test]
fn indicators_of_services() {
    let server = Server::start();
    let mut services = Vec::new();
    for (name, tag) in [("web", "Gold"), ("base", "gold plate"), ("other", "tin")] {
        let params = json!({
            "name": name, "algorithm": 2, "sortorder": 0, "tags": [{ "tag": "sla", "value": tag }],
        });
        services.push(server.create("service.create", &params));
    }
    let tags =
        json!([{ "tag": "sla", "operator": 2, "value": "GOLD" }, { "tag": "none", "value": "" }]);
    let downtime =
        json!([{ "name": "works", "period_from": NOW - 4_000, "period_to": NOW - 3_000 }]);
    let sla = server.create(
        "sla.create",
        &params(&json!({
            "service_tags": tags, "slo": 50, "excluded_downtimes": downtime,
        })),
    );
    let id = |n: usize| services[n].parse::<u64>().unwrap();
    let written: Result<(), DbError> = server.api.deps.config.write_state(|state| {
        for (clock, value) in [(NOW - 3_500, 4_i64), (NOW - 2_500, 5), (NOW - 2_000, -1)] {
            let row =
                [("serviceid", id(0).into()), ("clock", clock.into()), ("value", value.into())];
            state.insert_new(&config::table::SERVICE_ALARMS, &row)?;
        }
        Ok(())
    });
    written.unwrap();
    let created = "UPDATE services SET created_at = ?";
    let changed: Result<u64, DbError> = server
        .api
        .deps
        .config
        .write(|edit| edit.unrecorded().execute(created, &[(NOW - 5_000).into()]));
    changed.unwrap();
    let found = server.call("sla.getsli", &json!({ "slaid": sla, "periods": 1 })).unwrap();
    let start = NOW - NOW % DAY;
    assert_eq!(found["periods"], json!([{ "period_from": start, "period_to": start + DAY }]));
    assert_eq!(found["serviceids"], json!([id(0), id(1)]));
    let works = json!([{ "name": "works", "period_from": NOW - 4_000, "period_to": NOW - 3_000 }]);
    // 4,001 seconds count, 1,000 of them in a downtime that is left out.
    assert_eq!(
        found["sli"][0][0],
        json!({
            "uptime": 3_001, "downtime": 1_000, "sli": 3_001.0 / 4_001.0 * 100.0, "error_budget": 2_001,
            "excluded_downtimes": works,
        })
    );
    assert_eq!(found["sli"][0][1]["sli"], json!(100));
    let one = server
        .call("sla.getsli", &json!({ "slaid": sla, "periods": 1, "serviceids": [id(1)] }))
        .unwrap();
    assert_eq!(one["serviceids"], json!([id(1)]));
    for (params, error) in [
        (json!({}), "Invalid parameter \"/\": the parameter \"slaid\" is missing."),
        (json!({ "slaid": 999 }), "No permissions to referred object or it does not exist!"),
        (
            json!({ "slaid": sla, "periods": 101 }),
            "Invalid parameter \"/periods\": value must be one of 1-100.",
        ),
        (json!({ "slaid": sla, "x": 1 }), "Invalid parameter \"/\": unexpected parameter \"x\"."),
    ] {
        assert_eq!(server.call("sla.getsli", &params).unwrap_err().1, error, "{params}");
    }
    let names = |params: Json| -> Json {
        let found = server.call("service.get", &params).unwrap();
        found.as_array().unwrap().iter().map(|one| one["name"].clone()).collect()
    };
    assert_eq!(names(json!({ "slaids": sla, "output": ["name"] })), json!(["web", "base"]));
}

#[test]
fn a_clock_that_was_set_back_leaves_no_downtime() {
    let server = Server::start();
    let tags = json!([{ "tag": "sla", "value": "gold" }]);
    let service = json!({ "name": "web", "algorithm": 2, "sortorder": 0, "tags": tags });
    let service: u64 = server.create("service.create", &service).parse().unwrap();
    let sla = server.create("sla.create", &params(&json!({})));
    let day = NOW - NOW % DAY;
    server.write_state_sql(&[&format!(
        "INSERT INTO service_alarms (servicealarmid, serviceid, clock, value) VALUES \
                  (1, {service}, {}, 4), (2, {service}, {}, -1)",
        day + 300,
        day + 200
    )]);
    let changed: Result<u64, DbError> = server.api.deps.config.write(|edit| {
        edit.unrecorded().execute("UPDATE services SET created_at = ?", &[(day + 100).into()])
    });
    changed.unwrap();
    let downtime = || {
        let asked = json!({ "slaid": sla, "periods": 1 });
        server.call("sla.getsli", &asked).unwrap()["sli"][0][0]["downtime"].clone()
    };
    assert_eq!(downtime(), json!(0));
    server.write_state_sql(&[&format!(
        "UPDATE service_alarms SET clock = {} WHERE servicealarmid = 2",
        day - 10
    )]);
    assert_eq!(downtime(), json!(0), "back to the day before");
    server.write_state_sql(&[&format!(
        "UPDATE service_alarms SET clock = {} WHERE servicealarmid = 2",
        day + 310
    )]);
    assert_eq!(downtime(), json!(10));
}

#[test]
fn who_sees_agreements() {
    let server = Server::start();
    let of = |name: &str, tag: &str| {
        let tags = json!([{ "tag": "t", "value": tag }]);
        server.create(
            "service.create",
            &json!({ "name": name, "algorithm": 2, "sortorder": 0, "tags": tags }),
        )
    };
    let (mine, _) = (of("mine", "a"), of("theirs", "b"));
    // Of the same agreement as `mine`.
    let hidden = of("hidden", "a");
    let slas = ["a", "b"].map(|tag| {
        let tags = json!([{ "tag": "t", "value": tag }]);
        server.create("sla.create", &params(&json!({ "name": tag, "service_tags": tags })))
    });
    let role = |name: &str, kind: i64, rules: Json| {
        let role = json!({ "name": name, "type": kind, "rules": rules });
        server.user(name, &server.create("role.create", &role), &[])
    };
    let listed = json!({ "services.read.mode": 0, "services.read.list": [{ "serviceid": mine }], "services.write.mode": 0 });
    let none = json!({ "services.read.mode": 0, "services.write.mode": 0 });
    for (session, seen, services, of_hidden) in [
        (role("all", 1, json!({})), &["a", "b"][..], Some(1), 1),
        (role("listed", 1, listed), &["a"], None, 0),
        (role("none", 1, none.clone()), &[], None, 0),
        // Who manages agreements sees them without their services.
        (role("manager", 2, none), &["a", "b"], Some(0), 0),
    ] {
        let call = |method: &str, params: Json| server.call_as(Some(&session), method, &params);
        let found = call("sla.get", json!({ "output": ["name"], "sortfield": "slaid" })).unwrap();
        let names: Vec<&str> =
            found.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names, seen);
        let asked = json!({ "serviceids": [hidden], "output": ["name"] });
        let found = call("sla.get", asked).unwrap();
        assert_eq!(found.as_array().unwrap().len(), of_hidden, "{seen:?}");
        let found = call("sla.getsli", json!({ "slaid": slas[1], "periods": 1 }));
        let found = found.ok().map(|found| found["serviceids"].as_array().unwrap().len());
        assert_eq!(found, services, "{seen:?}");
    }
}
