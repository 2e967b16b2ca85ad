//! Actions that send messages and run scripts, with steps, on events of all sources.

use serde_json::{Value as Json, json};

use crate::testing::Server;

/// Operation that sends to Admin.
fn send() -> Json {
    json!({ "operationtype": 0, "opmessage": {}, "opmessage_usr": [{ "userid": "1" }] })
}

fn with(mut object: Json, more: Json) -> Json {
    for (name, value) in more.as_object().unwrap() {
        object[name] = value.clone();
    }
    object
}

fn action(source: i64, more: Json) -> Json {
    with(json!({ "name": "a", "eventsource": source, "operations": [send()] }), more)
}

/// A script for actions.
fn script(server: &Server) -> String {
    server.create(
        "script.create",
        &json!({ "name": "s", "type": 5, "scope": 1, "command": "return 1;" }),
    )
}

#[test]
fn operations_of_all_modes_live() {
    let server = Server::start();
    let script = script(&server);
    let command = json!({
        "operationtype": 1, "opcommand": { "scriptid": script }, "opcommand_hst": [{ "hostid": 0 }],
    });
    let steps = json!({
        "esc_period": "{$P}", "esc_step_from": 2, "esc_step_to": 0, "evaltype": 2,
        "opconditions": [{ "conditiontype": 14, "value": "1" }, { "conditiontype": 14, "operator": 0, "value": "0" }],
        "opmessage": { "default_msg": 0, "subject": "s", "message": "m", "mediatypeid": "1" },
        "opmessage_grp": [{ "usrgrpid": "7" }],
    });
    let given = action(
        0,
        json!({
            "esc_period": "2m", "pause_suppressed": 0, "pause_symptoms": 0, "notify_if_canceled": 0,
            "operations": [with(send(), steps), command],
            "recovery_operations": [{ "operationtype": 11, "opmessage": {} }, send()],
            "update_operations": [{ "operationtype": 12, "opmessage": { "mediatypeid": "4" } }],
        }),
    );
    let id = server.create("action.create", &given);
    let get = || {
        let options = json!({
            "actionids": id, "selectOperations": "extend", "selectRecoveryOperations": "extend",
            "selectUpdateOperations": "extend",
        });
        server.call("action.get", &options).unwrap()[0].clone()
    };
    let shown = get();
    for (name, value) in
        [("esc_period", "2m"), ("pause_suppressed", "0"), ("notify_if_canceled", "0")]
    {
        assert_eq!(shown[name], value, "{name}");
    }
    let first = &shown["operations"][0];
    let operation = first["operationid"].as_str().unwrap().to_owned();
    assert_eq!(first["opconditions"][1]["value"], "0");
    assert_ne!(
        first["opconditions"][0]["opconditionid"],
        first["opconditions"][1]["opconditionid"]
    );
    let mut known = first.clone();
    known.as_object_mut().unwrap().remove("opconditions");
    assert_eq!(
        known,
        json!({
            "operationid": operation, "actionid": id, "operationtype": "0", "evaltype": "2",
            "esc_period": "{$P}", "esc_step_from": "2", "esc_step_to": "0",
            "opmessage": { "default_msg": "0", "subject": "s", "message": "m", "mediatypeid": "1" },
            "opmessage_grp": [{ "usrgrpid": "7" }], "opmessage_usr": [{ "userid": "1" }],
        })
    );
    let second = &shown["operations"][1];
    assert_eq!(
        (&second["opcommand"]["scriptid"], &second["opcommand_grp"]),
        (&json!(script), &json!([]))
    );
    assert_eq!(second["opcommand_hst"][0]["hostid"], "0");
    let recovery = &shown["recovery_operations"][0];
    assert_eq!(
        *recovery,
        json!({
            "operationid": recovery["operationid"], "actionid": id, "operationtype": "11", "evaltype": "0",
            "opconditions": [],
            "opmessage": { "default_msg": "1", "subject": "", "message": "", "mediatypeid": "0" },
        })
    );
    let update = &shown["update_operations"][0];
    assert_eq!(
        *update,
        json!({
            "operationid": update["operationid"], "operationtype": "12", "evaltype": "0",
            "opmessage": { "default_msg": "1", "subject": "", "message": "", "mediatypeid": "4" },
        })
    );
    for (option, ids, found) in [
        ("mediatypeids", "1", "1"),
        ("mediatypeids", "3", "0"),
        ("userids", "1", "1"),
        ("userids", "2", "0"),
        ("usrgrpids", "7", "1"),
        ("usrgrpids", "8", "0"),
        ("scriptids", script.as_str(), "1"),
        ("hostids", "1", "0"),
    ] {
        let count = json!({ option: ids, "countOutput": true });
        assert_eq!(server.call("action.get", &count).unwrap(), found, "{option} {ids}");
    }
    let change = |more: Json| server.call("action.update", &with(json!({ "actionid": id }), more));
    // A list that is not given stays.
    change(json!({ "operations": [], "recovery_operations": [] })).unwrap();
    let shown = get();
    assert_eq!([&shown["operations"], &shown["recovery_operations"]], [&json!([]), &json!([])]);
    assert_eq!(shown["update_operations"][0]["operationid"], update["operationid"]);
    let refused = change(json!({ "update_operations": [] })).unwrap_err();
    assert_eq!(refused.1, "No operations defined for action \"a\".");
    server.refuses(&[(
        "mediatype.delete",
        json!(["4"]),
        -32602,
        "Media type \"Email (HTML)\" is used by action \"a\".",
    )]);
    server.call("action.delete", &json!([id])).unwrap();
    server.call("mediatype.delete", &json!(["4"])).unwrap();
}

#[test]
fn what_operations_refuse() {
    let server = Server::start();
    let script = script(&server);
    let at = "Invalid parameter \"/1/operations/1";
    let nobody = json!({ "operationtype": 0, "opmessage": {} });
    let command =
        |more: Json| with(json!({ "operationtype": 1, "opcommand": { "scriptid": script } }), more);
    let acknowledged = |one: Json| with(send(), json!({ "opconditions": [one] }));
    let here = json!({ "opcommand_hst": [{ "hostid": 0 }] });
    for (operation, code, text) in [
        (nobody, -32602, "No recipients specified for action operation message.".to_owned()),
        (
            with(send(), json!({ "opmessage": { "subject": "x" } })),
            -32602,
            format!("{at}/opmessage\": unexpected parameter \"subject\"."),
        ),
        (
            with(send(), json!({ "opmessage": { "default_msg": 2 } })),
            -32602,
            format!("{at}/opmessage/default_msg\": value must be one of 0, 1."),
        ),
        (
            with(send(), json!({ "opmessage": { "mediatypeid": "999" } })),
            -32500,
            "Media type does not exist".to_owned(),
        ),
        (
            with(send(), json!({ "opmessage_usr": [{ "userid": "999" }] })),
            -32500,
            "Incorrect action operation user. User does not exist or you have no access to it."
                .to_owned(),
        ),
        (
            with(send(), json!({ "opmessage_grp": [{ "usrgrpid": "999" }] })),
            -32500,
            "Incorrect action operation user group.".to_owned(),
        ),
        (
            with(send(), json!({ "esc_period": "30s" })),
            -32602,
            format!("{at}/esc_period\": value must be one of 0, 60-604800."),
        ),
        (
            with(send(), json!({ "esc_step_from": 0, "esc_step_to": 1 })),
            -32602,
            format!("{at}/esc_step_from\": value must be one of 1-99999."),
        ),
        (
            with(send(), json!({ "esc_step_from": 2 })),
            -32602,
            "Parameters \"esc_step_from\" and \"esc_step_to\" must be set together.".to_owned(),
        ),
        (
            with(send(), json!({ "esc_step_from": 3, "esc_step_to": 2 })),
            -32602,
            "Incorrect action operation escalation step values.".to_owned(),
        ),
        (
            with(send(), json!({ "evaltype": 3 })),
            -32602,
            format!("{at}/evaltype\": value must be one of 0, 1, 2."),
        ),
        (
            acknowledged(json!({ "conditiontype": 13, "value": "1" })),
            -32602,
            format!("{at}/opconditions/1/conditiontype\": value must be 14."),
        ),
        (
            acknowledged(json!({ "conditiontype": 14, "operator": 1, "value": "1" })),
            -32602,
            format!("{at}/opconditions/1/operator\": value must be 0."),
        ),
        (
            acknowledged(json!({ "conditiontype": 14, "value": "2" })),
            -32602,
            "value must be one of \"0\", \"1\".".to_owned(),
        ),
        (
            with(send(), json!({ "opcommand": {} })),
            -32602,
            "unexpected parameter \"opcommand\".".to_owned(),
        ),
        (
            json!({ "operationtype": 11, "opmessage": {} }),
            -32602,
            format!("{at}/operationtype\": value must be one of 0, 1."),
        ),
        (json!({ "operationtype": 1 }), -32602, "\"opcommand\" is missing.".to_owned()),
        (
            command(json!({})),
            -32602,
            "No targets specified for action operation global script.".to_owned(),
        ),
        (
            with(command(here), json!({ "opcommand": { "scriptid": "999" } })),
            -32602,
            "Specified script does not exist or you do not have rights on it".to_owned(),
        ),
        (
            command(json!({ "opcommand_hst": [{ "hostid": "999" }] })),
            -32500,
            "Incorrect action condition or operation host. Host does not exist".to_owned(),
        ),
        (
            command(json!({ "opcommand_grp": [{ "groupid": "999" }] })),
            -32500,
            "operation host group.".to_owned(),
        ),
    ] {
        server.refuses(&[(
            "action.create",
            action(0, json!({ "operations": [operation] })),
            code,
            &text,
        )]);
    }
    for (mode, operation, text) in [
        (
            "recovery_operations",
            with(send(), json!({ "esc_period": "1h" })),
            "unexpected parameter \"esc_period\".",
        ),
        (
            "recovery_operations",
            with(send(), json!({ "evaltype": 0 })),
            "unexpected parameter \"evaltype\".",
        ),
        ("recovery_operations", json!({ "operationtype": 12 }), "value must be one of 0, 1, 11."),
        (
            "recovery_operations",
            json!({ "operationtype": 11, "opmessage": { "mediatypeid": "1" } }),
            "unexpected parameter \"mediatypeid\".",
        ),
        (
            "recovery_operations",
            with(send(), json!({ "operationtype": 11 })),
            "unexpected parameter \"opmessage_usr\".",
        ),
        (
            "update_operations",
            json!({ "operationtype": 11, "opmessage": {} }),
            "value must be one of 0, 1, 12.",
        ),
        ("update_operations", json!({ "operationtype": 12 }), "\"opmessage\" is missing."),
    ] {
        server.refuses(&[("action.create", action(0, json!({ mode: [operation] })), -32602, text)]);
    }
}

#[test]
fn sources_have_members_of_their_own() {
    let server = Server::start();
    let script = script(&server);
    let command = json!([{ "operationtype": 1, "opcommand": { "scriptid": script } }]);
    for (member, value, sources) in [
        ("esc_period", json!("2m"), &[0, 3, 4][..]),
        ("pause_suppressed", json!(1), &[0]),
        ("pause_symptoms", json!(1), &[0]),
        ("notify_if_canceled", json!(1), &[0]),
        ("recovery_operations", json!([send()]), &[0, 3, 4]),
        ("update_operations", json!([send()]), &[0, 4]),
        ("operations", json!([with(send(), json!({ "esc_period": "1h" }))]), &[0, 3, 4]),
        ("operations", json!([with(send(), json!({ "opconditions": [] }))]), &[0]),
        ("operations", command, &[4]),
    ] {
        let fits = |source: &i64| {
            let made = server.call("action.create", &action(*source, json!({ member: value })));
            if let Ok(made) = &made {
                server.call("action.delete", &made["actionids"]).unwrap();
            }
            made.is_ok()
        };
        let accepted: Vec<i64> = (0..5).filter(fits).collect();
        assert_eq!(accepted, sources, "{member} {value}");
    }
}

#[test]
fn conditions_on_problems() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host =
        server.create("host.create", &json!({ "host": "h", "groups": [{ "groupid": group }] }));
    let item = json!({ "name": "i", "key_": "k", "hostid": host, "type": 2, "value_type": 3 });
    server.create("item.create", &item);
    let trigger = json!({ "description": "t", "expression": "last(/h/k)>1" });
    let trigger = server.create("trigger.create", &trigger);
    let one = |kind: i64, operator: i64, value: &str| json!({ "conditiontype": kind, "operator": operator, "value": value });
    let filter = |source: i64, conditions: Json| {
        action(source, json!({ "filter": { "evaltype": 0, "conditions": conditions } }))
    };
    let named = |kind: i64, name: &str| with(one(kind, 0, "v"), json!({ "value2": name }));
    let all = json!([
        named(26, "s"), one(25, 0, "b"), one(25, 0, "a"), { "conditiontype": 16, "operator": 11 },
        one(6, 4, "1-5,09:00-18:00"), one(4, 5, "3"), one(3, 2, "x"), one(2, 0, &trigger), one(1, 1, &host), one(0, 0, &group),
    ]);
    let id = server.create("action.create", &filter(0, all));
    let options = json!({ "actionids": id, "selectFilter": "extend", "groupids": group, "hostids": host, "triggerids": trigger });
    let shown = server.call("action.get", &options).unwrap()[0]["filter"].clone();
    let kinds: Vec<&str> = shown["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["conditiontype"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["3", "2", "4", "1", "0", "16", "25", "25", "26", "6"]);
    assert_eq!(shown["eval_formula"], "A and B and C and D and E and F and (G or H) and I and J");
    assert_eq!(shown["conditions"][8]["value2"], "s");
    assert_eq!(server.call("action.get", &json!({ "hostids": "999999" })).unwrap(), json!([]));
    let missing = |kind: i64| one(kind, 0, "999");
    for (source, condition, code, text) in [
        (0, missing(0), -32500, "operation host group. Host group does not exist"),
        (0, missing(1), -32500, "operation host. Host does not exist"),
        (0, missing(2), -32500, "Incorrect action condition trigger. Trigger does not exist"),
        (0, missing(13), -32500, "operation template. Template does not exist"),
        (4, missing(27), -32500, "Incorrect action condition service."),
        (0, one(3, 2, ""), -32602, "value\": cannot be empty."),
        (0, one(4, 0, "6"), -32602, "value must be one of 0, 1, 2, 3, 4, 5."),
        (0, one(6, 4, "x"), -32602, "a time period is expected."),
        (0, one(16, 10, ""), -32602, "unexpected parameter \"value\"."),
        (0, json!({ "conditiontype": 16 }), -32602, "\"operator\" is missing."),
        (0, one(16, 0, ""), -32602, "unexpected parameter \"value\"."),
        (0, json!({ "conditiontype": 16, "operator": 0 }), -32602, "value must be one of 11, 10."),
        (0, one(25, 0, ""), -32602, "value\": cannot be empty."),
        (0, one(26, 0, "v"), -32602, "\"value2\" is missing."),
        (0, named(26, ""), -32602, "value2\": cannot be empty."),
        (0, named(25, "x"), -32602, "unexpected parameter \"value2\"."),
        (3, one(23, 0, "5"), -32602, "value must be one of 0, 2, 4."),
        (4, one(0, 0, "1"), -32602, "value must be one of 27, 28, 25, 26."),
    ] {
        let text = text.to_owned();
        server.refuses(&[(
            "action.create",
            with(filter(source, json!([condition])), json!({ "name": "b" })),
            code,
            &text,
        )]);
    }
}

#[test]
fn users_see_actions_whose_parts_they_see() {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    let user = json!({ "username": "u2", "passwd": "Pa55word-x", "roleid": "2", "usrgrps": { "usrgrpid": ug } });
    server.create("user.create", &user);
    let session = server.login("u2", "Pa55word-x");
    let to_group =
        json!([{ "operationtype": 0, "opmessage": {}, "opmessage_grp": [{ "usrgrpid": ug }] }]);
    let condition =
        json!({ "evaltype": 0, "conditions": [{ "conditiontype": 0, "value": group }] });
    let own = server.create("action.create", &action(0, json!({ "operations": to_group })));
    server.create("action.create", &action(0, json!({ "name": "to Admin" })));
    server.create(
        "action.create",
        &action(0, json!({ "name": "of g", "operations": to_group, "filter": condition })),
    );
    let seen =
        || server.call_as(Some(&session), "action.get", &json!({ "output": ["name"] })).unwrap();
    assert_eq!(seen(), json!([{ "actionid": own, "name": "a" }]));
    let rights = json!({ "usrgrpid": ug, "hostgroup_rights": [{ "id": group, "permission": 2 }] });
    server.call("usergroup.update", &rights).unwrap();
    assert_eq!(seen().as_array().unwrap().len(), 2);
    let used = "User \"u2\" is used in \"to u2\" action.";
    let u2 =
        server.call("user.get", &json!({ "filter": { "username": "u2" } })).unwrap()[0]["userid"]
            .clone();
    let to_u2 =
        json!([{ "operationtype": 0, "opmessage": {}, "opmessage_usr": [{ "userid": u2 }] }]);
    server.create("action.create", &action(0, json!({ "name": "to u2", "operations": to_u2 })));
    server.refuses(&[("user.delete", json!([u2]), -32602, used)]);
    // An administrator writes to users of the own groups only.
    let to_admin =
        server.call_as(Some(&session), "action.create", &action(0, json!({ "name": "b" })));
    assert_eq!(
        to_admin.unwrap_err().1,
        "Incorrect action operation user. User does not exist or you have no access to it."
    );
}

#[test]
fn messages_can_be_grouped() {
    let server = Server::start();
    let id = server.create("action.create", &action(0, json!({})));
    let get = |output: Json| {
        server.call("action.get", &json!({ "actionids": id, "output": output })).unwrap()[0].clone()
    };
    assert!(get(json!("extend")).get("grouping").is_none());
    assert_eq!(get(json!(["grouping"]))["grouping"], Json::Null);
    let set = |grouping: Json| {
        let update = json!({ "actionid": id, "grouping": grouping });
        server.call("action.update", &update).map(|_| get(json!(["grouping"]))["grouping"].clone())
    };
    let all =
        json!({ "by": ["service", "{HOST.HOST}"], "wait": "0", "interval": "1h", "repeat": "1d" });
    assert_eq!(set(all.clone()).unwrap(), all);
    let defaults = json!({ "by": [], "wait": "30s", "interval": "5m", "repeat": "0" });
    assert_eq!(set(json!({ "by": [] })).unwrap(), defaults);
    server.call("action.update", &json!({ "actionid": id, "status": 1 })).unwrap();
    assert_eq!(get(json!(["grouping"]))["grouping"], defaults, "what is not given stays");
    for (grouping, refused) in [
        (json!([]), "\"/1/grouping\": an object or null is expected."),
        (json!({}), "\"/1/grouping\": the parameter \"by\" is missing."),
        (json!({ "by": "x" }), "\"/1/grouping/by\": an array is expected."),
        (json!({ "by": [""] }), "\"/1/grouping/by/1\": cannot be empty."),
        (json!({ "by": ["a", "a"] }), "value (by)=(a) already exists."),
        (json!({ "by": ["{HOST.IP}"] }), "the name of a tag or {HOST.HOST} is expected."),
        (json!({ "by": ["x".repeat(256)] }), "value is too long."),
        (json!({ "by": vec!["x"; 11] }), "at most 10 names are allowed."),
        (json!({ "by": [], "wait": "2h" }), "\"/1/grouping/wait\": value must be one of 0-3600."),
        (json!({ "by": [], "interval": "0" }), "interval\": value must be one of 1-86400."),
        (json!({ "by": [], "repeat": "5s" }), "repeat\": value must be one of 0, 60-2592000."),
        (json!({ "by": [], "repeat": "{$X}" }), "a time unit is expected."),
        (json!({ "by": [], "x": 1 }), "unexpected parameter \"x\"."),
    ] {
        let error = set(grouping.clone()).unwrap_err();
        assert!(error.0 == -32602 && error.1.contains(refused), "{grouping}: {error:?}");
    }
    assert_eq!(set(Json::Null).unwrap(), Json::Null);
}
