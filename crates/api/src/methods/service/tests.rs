//! Trees, rights and errors as Zabbix 7.0.22 has them.

use config::db::DbError;
use serde_json::json;

use crate::Json;
use crate::testing::Server;

fn service(server: &Server, name: &str, more: &Json) -> String {
    let mut params = json!({ "name": name, "algorithm": 2, "sortorder": 0 });
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    server.create("service.create", &params)
}

fn ids(list: &[&String]) -> Json {
    list.iter().map(|id| json!({ "serviceid": id })).collect()
}

/// Names, in order.
fn names(server: &Server, params: &Json) -> Vec<String> {
    let mut params = params.clone();
    params["output"] = json!(["name"]);
    params["sortfield"] = json!("serviceid");
    let found = server.call("service.get", &params).unwrap();
    let name = |one: &Json| one["name"].as_str().unwrap().to_owned();
    found.as_array().unwrap().iter().map(name).collect()
}

#[test]
fn a_tree_is_written_and_read() {
    let server = Server::start();
    let root = service(&server, "root", &json!({ "tags": [{ "tag": "sla", "value": "gold" }] }));
    let leaf = service(
        &server,
        "leaf",
        &json!({
            "parents": ids(&[&root]), "weight": 7, "propagation_rule": 1, "propagation_value": 2,
            "problem_tags": [{ "tag": "svc", "value": "x" }, { "tag": "env", "operator": 2, "value": "p" }],
            "status_rules": [{ "type": 1, "limit_value": 50, "limit_status": -1, "new_status": 4 }],
            "description": "d",
        }),
    );
    let found = server.call("service.get", &json!({
        "serviceids": leaf, "output": "extend", "selectParents": ["name"], "selectChildren": "count",
        "selectTags": "extend", "selectProblemTags": "extend", "selectStatusRules": "extend",
        "selectProblemEvents": "extend",
        "selectStatusTimeline": [{ "period_from": 1, "period_to": 2 }],
    })).unwrap();
    let uuid = found[0]["uuid"].as_str().unwrap().to_owned();
    assert_eq!(uuid.len(), 32);
    assert_eq!(
        found,
        json!([{
            "serviceid": leaf, "uuid": uuid, "name": "leaf", "status": "-1", "algorithm": "2",
            "sortorder": "0", "weight": "7", "propagation_rule": "1", "propagation_value": "2",
            "description": "d", "created_at": "1800000000", "readonly": false,
            "parents": [{ "name": "root" }], "children": "0", "tags": [],
            "problem_tags": [
                { "tag": "svc", "operator": "0", "value": "x" },
                { "tag": "env", "operator": "2", "value": "p" }
            ],
            "status_rules": [{ "type": "1", "limit_value": "50", "limit_status": "-1", "new_status": "4" }],
            "problem_events": [], "status_timeline": [{ "start_value": -1, "alarms": [] }],
        }])
    );
    let other = service(&server, "other", &json!({ "children": ids(&[&leaf]) }));
    assert_eq!(names(&server, &json!({ "childids": leaf })), ["root", "other"]);
    assert_eq!(names(&server, &json!({ "parentids": [root] })), ["leaf"]);
    assert_eq!(names(&server, &json!({ "parentids": 0 })), ["root", "other"]);
    assert_eq!(names(&server, &json!({ "childids": 0 })), ["leaf"]);
    let top = service(&server, "top", &json!({ "children": ids(&[&root, &other]) }));
    assert_eq!(names(&server, &json!({ "parentids": top })), ["root", "other"]);
    let deep = json!({ "parentids": top, "deep_parentids": true });
    assert_eq!(names(&server, &deep), ["root", "leaf", "other"]);
    let tagged = json!({ "problem_tags": [{ "tag": "svc", "operator": 4 }] });
    assert_eq!(names(&server, &tagged), ["leaf"]);
    assert_eq!(names(&server, &json!({ "without_problem_tags": true })), ["root", "other", "top"]);
    // Lists that are given replace those before.
    server
        .call("service.update", &json!({ "serviceid": leaf, "parents": ids(&[&other]) }))
        .unwrap();
    assert_eq!(names(&server, &json!({ "childids": leaf })), ["other"]);
    server.call("service.delete", &json!([other, root])).unwrap();
    assert!(names(&server, &json!({ "childids": leaf })).is_empty());
    assert_eq!(names(&server, &json!({})), ["leaf", "top"]);
}

#[test]
fn what_is_refused() {
    let server = Server::start();
    let a = service(&server, "A", &json!({}));
    let b = service(&server, "B", &json!({ "parents": ids(&[&a]) }));
    let c =
        service(&server, "C", &json!({ "parents": ids(&[&b]), "problem_tags": [{ "tag": "t" }] }));
    let rule = json!({ "type": 0, "limit_value": 1, "limit_status": 3, "new_status": 5 });
    let with = |name: &str, value: i64| {
        let mut rule = rule.clone();
        rule[name] = value.into();
        json!({ "status_rules": [rule] })
    };
    let mut percent = with("type", 1);
    percent["status_rules"][0]["limit_value"] = json!(101);
    let propagation =
        "Incompatible \"propagation_rule\" and \"propagation_value\" parameters for service \"x\".";
    for (more, error) in [
        (
            json!({ "algorithm": 3 }),
            "Invalid parameter \"/1/algorithm\": value must be one of 0, 1, 2.",
        ),
        (
            json!({ "sortorder": 1000 }),
            "Invalid parameter \"/1/sortorder\": value must be one of 0-999.",
        ),
        (json!({ "status": 1 }), "Invalid parameter \"/1\": unexpected parameter \"status\"."),
        (
            json!({ "propagation_rule": 1 }),
            "Cannot specify \"propagation_rule\" parameter without specifying \"propagation_value\" \
             parameter for service \"x\".",
        ),
        (json!({ "propagation_rule": 1, "propagation_value": 6 }), propagation),
        (json!({ "propagation_rule": 3, "propagation_value": 1 }), propagation),
        (json!({ "propagation_rule": 4, "propagation_value": -2 }), propagation),
        (json!({ "propagation_value": 1 }), propagation),
        (
            json!({ "tags": [{ "tag": "" }] }),
            "Invalid parameter \"/1/tags/1/tag\": cannot be empty.",
        ),
        (
            json!({ "tags": [{ "tag": "a" }, { "tag": "a" }] }),
            "Invalid parameter \"/1/tags/2\": value (tag, value)=(a, ) already exists.",
        ),
        (
            json!({ "problem_tags": [{ "tag": "a", "operator": 1 }] }),
            "Invalid parameter \"/1/problem_tags/1/operator\": value must be one of 0, 2.",
        ),
        (
            json!({ "status_rules": [rule, rule] }),
            "Invalid parameter \"/1/status_rules/2\": value (type, limit_value, limit_status)=(0, 1, 3) \
             already exists.",
        ),
        (
            with("new_status", -1),
            "Invalid parameter \"/1/status_rules/1/new_status\": value must be one of 0, 1, 2, 3, 4, 5.",
        ),
        (
            percent,
            "Invalid parameter \"/1/status_rules/1/limit_value\": value must be one of 1-100.",
        ),
        (
            json!({ "parents": [{}] }),
            "Invalid parameter \"/1/parents/1\": the parameter \"serviceid\" is missing.",
        ),
        (
            json!({ "parents": ids(&[&a, &a]) }),
            &format!("Invalid parameter \"/1/parents/2\": value (serviceid)=({a}) already exists."),
        ),
        (
            json!({ "parents": [{ "serviceid": 99 }] }),
            "No permissions to referred object or it does not exist!",
        ),
        (
            json!({ "parents": ids(&[&a]), "children": ids(&[&a]) }),
            "Services form a circular dependency.",
        ),
        (
            json!({ "children": ids(&[&a]), "problem_tags": [{ "tag": "a" }] }),
            "Service \"x\" cannot have problem tags and children at the same time.",
        ),
        (
            json!({ "parents": ids(&[&c]) }),
            "Service \"C\" cannot have problem tags and children at the same time.",
        ),
        (json!({ "uuid": "zz" }), "Invalid parameter \"/1/uuid\": must be 32 characters long."),
    ] {
        let mut params = json!({ "name": "x", "algorithm": 2, "sortorder": 0 });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        assert_eq!(server.call("service.create", &params).unwrap_err().1, error, "{more}");
    }
    for (params, error) in [
        (json!({ "serviceid": a, "parents": ids(&[&a]) }), "Services form a circular dependency."),
        (json!({ "serviceid": a, "parents": ids(&[&c]) }), "Services form a circular dependency."),
        (json!({ "serviceid": c, "children": ids(&[&a]) }), "Services form a circular dependency."),
        (
            json!({ "serviceid": b, "problem_tags": [{ "tag": "x" }] }),
            "Service \"B\" cannot have problem tags and children at the same time.",
        ),
        (json!({ "serviceid": 99 }), "No permissions to referred object or it does not exist!"),
    ] {
        assert_eq!(server.call("service.update", &params).unwrap_err().1, error, "{params}");
    }
    assert_eq!(names(&server, &json!({})), ["A", "B", "C"], "nothing is left of what was refused");
}

/// Statuses and causes as the server keeps them.
#[test]
fn causes_and_history_are_shown() {
    let server = Server::start();
    let root = service(&server, "root", &json!({}));
    let leaf = service(
        &server,
        "leaf",
        &json!({ "parents": ids(&[&root]), "problem_tags": [{ "tag": "a" }] }),
    );
    let hidden = service(
        &server,
        "hidden",
        &json!({
            "parents": ids(&[&root]), "problem_tags": [{ "tag": "b" }], "propagation_rule": 3, "propagation_value": 0,
        }),
    );
    let id = |text: &String| text.parse::<u64>().unwrap();
    let written: Result<(), DbError> = server.api.deps.config.write_state(|state| {
        for (event, name, severity) in [(1_u64, "disk", 3_i64), (2, "load", 2)] {
            let row = [("eventid", event.into()), ("value", 1_i64.into())];
            state.insert(&config::table::EVENTS, &row)?;
            let row =
                [("eventid", event.into()), ("name", name.into()), ("severity", severity.into())];
            state.insert(&config::table::PROBLEMS, &row)?;
        }
        for (service, event, status) in [(&leaf, 1_u64, 3_i64), (&hidden, 2, 2)] {
            let row = [("serviceid", id(service).into()), ("eventid", event.into())];
            state.insert(&config::table::SERVICE_PROBLEMS, &row)?;
            let row = [("serviceid", id(service).into()), ("status", status.into())];
            state.insert(&config::table::SERVICE_STATES, &row)?;
        }
        let row = [("serviceid", id(&root).into()), ("status", 3_i64.into())];
        state.insert(&config::table::SERVICE_STATES, &row)?;
        for (clock, value) in [(100_i64, 2_i64), (200, -1), (300, 3)] {
            let row =
                [("serviceid", id(&root).into()), ("clock", clock.into()), ("value", value.into())];
            state.insert_new(&config::table::SERVICE_ALARMS, &row)?;
        }
        Ok(())
    });
    written.unwrap();
    let found = server.call("service.get", &json!({
        "serviceids": [root, hidden], "output": ["status"], "selectProblemEvents": "extend",
        "selectStatusTimeline": [{ "period_from": 150, "period_to": 300 }], "sortfield": "serviceid",
    })).unwrap();
    assert_eq!(
        found,
        json!([
            {
                "status": "3",
                "problem_events": [{ "eventid": "1", "severity": "3", "name": "disk" }],
                "status_timeline": [{ "start_value": 2, "alarms": [{ "clock": 200, "value": -1 }] }],
            },
            {
                "status": "2",
                "problem_events": [{ "eventid": "2", "severity": "2", "name": "load" }],
                "status_timeline": [{ "start_value": -1, "alarms": [] }],
            },
        ])
    );
    assert_eq!(names(&server, &json!({ "filter": { "status": 3 } })), ["root", "leaf"]);
}

#[test]
fn roles_limit_what_is_seen_and_changed() {
    let server = Server::start();
    let root = service(&server, "root", &json!({}));
    let middle = service(&server, "middle", &json!({ "parents": ids(&[&root]) }));
    let leaf = service(&server, "leaf", &json!({ "parents": ids(&[&middle]) }));
    let role = |name: &str, kind: i64, rules: Json| {
        let role = json!({ "name": name, "type": kind, "rules": rules });
        server.create("role.create", &role)
    };
    let listed = json!({
        "services.read.mode": 0, "services.read.list": [{ "serviceid": middle }], "services.write.mode": 0,
    });
    let session = server.user("reader", &role("reader", 1, listed), &[]);
    let call =
        |session: &str, method: &str, params: Json| server.call_as(Some(session), method, &params);
    let all = json!({ "output": ["name", "readonly"], "selectParents": ["name"], "sortfield": "serviceid" });
    assert_eq!(
        call(&session, "service.get", all.clone()).unwrap(),
        json!([
            { "name": "middle", "readonly": true, "parents": [] },
            { "name": "leaf", "readonly": true, "parents": [{ "name": "middle" }] },
        ])
    );
    let of = |params: Json| call(&session, "service.get", params).unwrap();
    for (relative, found) in [(&root, 0), (&middle, 1)] {
        for option in ["parentids", "childids"] {
            let mut params = json!({ "countOutput": true });
            params[option] = json!([relative]);
            let found = if option == "parentids" { found } else { 0 };
            assert_eq!(of(params), json!(found.to_string()), "{option} {relative}");
        }
    }
    let deep = json!({ "parentids": root, "deep_parentids": true, "countOutput": true });
    assert_eq!(of(deep), json!("0"), "nobody tells what is below a service that is not seen");
    let refused = |name: &str| {
        format!("Cannot update service \"{name}\": read-write access to the service is required.")
    };
    let update = |session: &str, params: Json| {
        call(session, "service.update", params).map(drop).map_err(|error| error.1)
    };
    assert_eq!(update(&session, json!({ "serviceid": leaf, "weight": 1 })), Err(refused("leaf")));
    let unseen = "No permissions to referred object or it does not exist!".to_owned();
    assert_eq!(update(&session, json!({ "serviceid": root, "weight": 1 })), Err(unseen.clone()));

    let writing = json!({
        "services.read.mode": 0, "services.write.mode": 0, "services.write.list": [{ "serviceid": middle }],
    });
    let session = server.user("writer", &role("writer", 2, writing), &[]);
    assert_eq!(update(&session, json!({ "serviceid": leaf, "weight": 1 })), Ok(()));
    assert_eq!(
        update(&session, json!({ "serviceid": leaf, "parents": ids(&[&root]) })),
        Err(unseen)
    );
    // The user cannot lose a service, and does not see the parent that stays.
    let lost = "Cannot update service \"leaf\": read-write access to the service must be retained.";
    assert_eq!(
        update(&session, json!({ "serviceid": middle, "children": [] })),
        Err(lost.to_owned())
    );
    assert_eq!(update(&session, json!({ "serviceid": middle, "parents": [] })), Ok(()));
    assert_eq!(names(&server, &json!({ "childids": middle })), ["root"]);
    let new = |parents: Json| json!({ "name": "new", "algorithm": 1, "sortorder": 0, "parents": parents });
    let error = call(&session, "service.create", new(json!([]))).unwrap_err().1;
    assert_eq!(
        error,
        "Cannot create service \"new\": read-write access to the service is required."
    );
    call(&session, "service.create", new(ids(&[&middle]))).unwrap();
    let error = call(&session, "service.delete", json!([root])).unwrap_err().1;
    assert_eq!(error, "No permissions to referred object or it does not exist!");

    // Super admins are bound by their roles, too.
    let none = json!({ "services.read.mode": 0, "services.write.mode": 0 });
    let session = server.user("blind", &role("blind", 3, none), &[]);
    assert_eq!(call(&session, "service.get", all).unwrap(), json!([]));
}
