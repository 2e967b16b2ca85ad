//! Schedules as recipients of operations.

use serde_json::{Value as Json, json};

use crate::testing::Server;

fn schedule(server: &Server, name: &str) -> String {
    let layer = json!({ "users": [{ "userid": 1 }], "start": 0 });
    server.create("oncall.create", &json!({ "name": name, "layers": [layer] }))
}

fn action(name: &str, on_call: &Json) -> Json {
    let operation = json!({ "operationtype": 0, "opmessage": {}, "opmessage_oncall": on_call });
    json!({ "name": name, "eventsource": 0, "operations": [operation] })
}

#[test]
fn a_schedule_can_be_the_only_recipient() {
    let server = Server::start();
    let id = schedule(&server, "Linux");
    let to = json!([{ "scheduleid": id }, { "scheduleid": id, "who": 2 }]);
    let action_id = server.create("action.create", &action("a", &to));
    let shown = |more: Json| {
        let mut params = json!({ "output": [], "selectOperations": "extend" });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        server.call("action.get", &params).unwrap()
    };
    let found = shown(json!({ "scheduleids": [id] }));
    let operation = &found[0]["operations"][0];
    assert_eq!(
        operation["opmessage_oncall"],
        json!([{ "scheduleid": id, "who": "0" }, { "scheduleid": id, "who": "2" }])
    );
    assert_eq!(
        (&operation["opmessage_usr"], &operation["opmessage_grp"]),
        (&json!([]), &json!([]))
    );
    // What is read can be written, and is gone when it is left out.
    let operations = json!([{ "operationtype": 0, "opmessage": {}, "opmessage_oncall": operation["opmessage_oncall"] }]);
    server
        .call("action.update", &json!({ "actionid": action_id, "operations": operations }))
        .unwrap();
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM operation_message_schedules"), 2);
    let operations =
        json!([{ "operationtype": 0, "opmessage": {}, "opmessage_usr": [{ "userid": 1 }] }]);
    server
        .call("action.update", &json!({ "actionid": action_id, "operations": operations }))
        .unwrap();
    let found = shown(json!({ "actionids": [action_id] }));
    assert_eq!(found[0]["operations"][0].get("opmessage_oncall"), None, "as in Zabbix");
    assert_eq!(shown(json!({ "scheduleids": [id] })), json!([]));
}

#[test]
fn what_is_refused() {
    let server = Server::start();
    let id = schedule(&server, "Linux");
    let to = |more: Json| action("a", &json!([more]));
    for (params, error) in [
        (action("a", &json!([])), "No recipients specified for action operation message."),
        (to(json!({ "who": 1 })), "/opmessage_oncall/1\": the parameter \"scheduleid\" is missing"),
        (
            to(json!({ "scheduleid": id, "who": 3 })),
            "/opmessage_oncall/1/who\": value must be one of 0, 1, 2",
        ),
        (to(json!({ "scheduleid": id, "x": 3 })), "unexpected parameter \"x\""),
        (
            action("a", &json!([{ "scheduleid": id }, { "scheduleid": id, "who": 0 }])),
            ", 0) already exists",
        ),
    ] {
        server.refuses(&[("action.create", params, -32602, error)]);
    }
    let unknown = "Incorrect action operation on-call schedule. On-call schedule does not exist or you have no access to it.";
    server.refuses(&[("action.create", to(json!({ "scheduleid": 99 })), -32500, unknown)]);
    server.create("action.create", &action("Tell Linux", &json!([{ "scheduleid": id }])));
    let used = "On-call schedule \"Linux\" is used in \"Tell Linux\" action.";
    server.refuses(&[("oncall.delete", json!([id]), -32602, used)]);
}

#[test]
fn actions_are_hidden_with_their_schedules() {
    let server = Server::start();
    let session = server.user("admin", "2", &[]);
    let group = server.text("SELECT usrgrpid FROM usergroups WHERE name = 'admin'");
    let id = schedule(&server, "Linux");
    server.create("action.create", &action("a", &json!([{ "scheduleid": id }])));
    let seen = || server.call_as(Some(&session), "action.get", &json!({})).unwrap();
    let own = action("b", &json!([{ "scheduleid": id }]));
    let create = || server.call_as(Some(&session), "action.create", &own);
    assert_eq!(seen(), json!([]));
    assert!(create().is_err());
    let groups = json!([{ "usrgrpid": group }]);
    server.call("oncall.update", &json!({ "scheduleid": id, "usergroups": groups })).unwrap();
    assert_eq!(seen().as_array().unwrap().len(), 1);
    create().unwrap();
}
