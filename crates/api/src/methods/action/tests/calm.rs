//! Settings that spare users messages.

use serde_json::{Value as Json, json};

use crate::testing::Server;

/// An action on problems with more members.
fn with(more: &Json) -> Json {
    let mut action = json!({
        "name": "a", "eventsource": 0,
        "operations": [{
            "operationtype": 0, "opmessage": { "default_msg": 1 }, "opmessage_usr": [{ "userid": "1" }],
        }],
    });
    let members = more.as_object().unwrap().clone();
    action.as_object_mut().unwrap().extend(members);
    action
}

/// The members of the only action.
fn shown(server: &Server, output: &Json) -> Json {
    server.call("action.get", &json!({ "output": output })).unwrap()[0].clone()
}

#[test]
fn an_action_can_inhibit_and_stop_it() {
    let server = Server::start();
    let tags = json!({ "tags": ["service", "{$SITE}"] });
    let id = server.create("action.create", &with(&json!({ "inhibition": tags })));
    let named = json!(["inhibition"]);
    assert_eq!(shown(&server, &named)["inhibition"], tags);
    assert!(shown(&server, &json!("extend")).get("inhibition").is_none(), "7.0 has no such member");
    let update = |more: Json| {
        let mut update = json!({ "actionid": id });
        update.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.call("action.update", &update)
    };
    update(json!({ "name": "b" })).unwrap();
    assert_eq!(shown(&server, &named)["inhibition"], tags, "it stays");
    update(json!({ "inhibition": null })).unwrap();
    assert_eq!(shown(&server, &named)["inhibition"], Json::Null);
}

#[test]
fn an_action_can_calm_and_stop_it() {
    let server = Server::start();
    let given = json!({ "transients": "1" });
    let id = server.create("action.create", &with(&json!({ "calming": given })));
    let named = json!(["calming"]);
    let whole = json!({ "transients": 1, "flapping": 0, "max_hold": "10m" });
    assert_eq!(shown(&server, &named)["calming"], whole);
    assert!(shown(&server, &json!("extend")).get("calming").is_none());
    let update = json!({ "actionid": id, "calming": { "flapping": 1, "max_hold": "1h" } });
    server.call("action.update", &update).unwrap();
    let whole = json!({ "transients": 0, "flapping": 1, "max_hold": "1h" });
    assert_eq!(shown(&server, &named)["calming"], whole, "the members belong together");
    server.call("action.update", &json!({ "actionid": id, "calming": null })).unwrap();
    assert_eq!(shown(&server, &named)["calming"], Json::Null);
    for (given, at, why) in [
        (json!([1]), "/1/calming", "an object or null is expected"),
        (json!({ "transients": 2 }), "/1/calming/transients", "value must be one of 0, 1"),
        (json!({ "transients": [] }), "/1/calming/transients", "an integer is expected"),
        (json!({ "max_hold": "soon" }), "/1/calming/max_hold", "a time unit is expected"),
        (json!({ "max_hold": "0" }), "/1/calming/max_hold", "value must be one of 1-86400"),
        (json!({ "max_hold": "2d" }), "/1/calming/max_hold", "value must be one of 1-86400"),
        (json!({ "more": 1 }), "/1/calming", "unexpected parameter \"more\""),
    ] {
        let error = server.call("action.create", &with(&json!({ "calming": given })));
        let (_, error) = error.unwrap_err();
        assert!(error.contains(&format!("\"{at}\"")) && error.contains(why), "{given}: {error}");
    }
}

#[test]
fn bad_inhibitions_are_refused() {
    let server = Server::start();
    let many: Vec<String> = (0..21).map(|n| format!("t{n}")).collect();
    for (given, at, why) in [
        (json!(1), "/1/inhibition", "an object or null is expected"),
        (json!([]), "/1/inhibition", "an object or null is expected"),
        (json!({}), "/1/inhibition", "\"tags\" is missing"),
        (json!({ "tags": "a" }), "/1/inhibition/tags", "an array is expected"),
        (json!({ "tags": [] }), "/1/inhibition/tags", "cannot be empty"),
        (json!({ "tags": ["a", ""] }), "/1/inhibition/tags/2", "cannot be empty"),
        (json!({ "tags": ["a", {}] }), "/1/inhibition/tags/2", "a character string is expected"),
        (json!({ "tags": ["a", "a"] }), "/1/inhibition/tags/2", "(tag)=(a) already exists"),
        (json!({ "tags": ["a".repeat(256)] }), "/1/inhibition/tags/1", "value is too long"),
        (json!({ "tags": many }), "/1/inhibition/tags", "at most 20 tags"),
        (json!({ "tags": ["a"], "more": 1 }), "/1/inhibition", "unexpected parameter \"more\""),
    ] {
        let error = server.call("action.create", &with(&json!({ "inhibition": given })));
        let (_, error) = error.unwrap_err();
        assert!(error.contains(&format!("\"{at}\"")) && error.contains(why), "{given}: {error}");
    }
    let internal = with(&json!({ "eventsource": 3, "inhibition": null }));
    let (_, error) = server.call("action.create", &internal).unwrap_err();
    assert!(error.contains("unexpected parameter \"inhibition\""), "{error}");
}
