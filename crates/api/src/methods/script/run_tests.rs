//! Who may run scripts, on what, with which input.

use serde_json::{Value as Json, json};

use crate::testing::Server;

const NO_OBJECT: &str = "No permissions to referred object or it does not exist!";

/// A problem (event 1) on the host `h`.
fn problem(server: &Server, host: &str) {
    let item = json!({ "hostid": host, "name": "t", "key_": "t", "type": 2, "value_type": 3 });
    server.create("item.create", &item);
    let trigger = json!({ "description": "t", "expression": "last(/h/t)>0" });
    let trigger = server.create("trigger.create", &trigger);
    server.write_state_sql(&[&format!(
        "INSERT INTO events (eventid, objectid, value, clock) VALUES (1, {trigger}, 1, 1)"
    )]);
}

struct World {
    server: Server,
    host: String,
    group: String,
    reader: String,
}

fn world() -> World {
    let server = Server::start();
    let group = server.create("hostgroup.create", &json!({ "name": "g" }));
    let host = json!({ "host": "h", "groups": [{ "groupid": group }] });
    let host = server.create("host.create", &host);
    problem(&server, &host);
    let reader = server.user("reader", "1", &[(&group, 2)]);
    World { server, host, group, reader }
}

impl World {
    fn script(&self, name: &str, more: &Json) -> String {
        let mut script = json!({ "name": name, "type": 5, "scope": 2, "command": "return 1;" });
        for (name, value) in more.as_object().unwrap() {
            script[name] = value.clone();
        }
        self.server.create("script.create", &script)
    }

    fn run(&self, params: &Json) -> Result<Json, (i64, String)> {
        self.server.call("script.execute", params)
    }

    /// As the user who may read the host.
    fn read(&self, method: &str, params: &Json) -> Result<Json, (i64, String)> {
        self.server.call_as(Some(&self.reader), method, params)
    }
}

#[test]
fn calls_name_a_script_of_their_scope_and_one_object() {
    let world = world();
    let host = &world.host;
    let script = world.script("on host", &json!({}));
    let event = world.script("on event", &json!({ "scope": 4 }));
    let action = world.script("in action", &json!({ "scope": 1 }));
    let url = json!({ "name": "u", "type": 6, "scope": 2, "url": "http://x" });
    let url = world.server.create("script.create", &url);
    let of = |script: &str| json!({ "scriptid": script, "hostid": host });
    for (params, code, text) in [
        (json!({ "hostid": host }), -32602, "the parameter \"scriptid\" is missing."),
        (json!({ "scriptid": script }), -32602, "the parameter \"eventid\" is missing."),
        (
            json!({ "scriptid": script, "hostid": host, "eventid": 1 }),
            -32602,
            "unexpected parameter \"eventid\".",
        ),
        (
            json!({ "scriptid": script, "hostid": host, "x": 1 }),
            -32602,
            "unexpected parameter \"x\".",
        ),
        (
            json!({ "scriptid": script, "hostid": host, "manualinput": "1" }),
            -32602,
            "unexpected parameter \"manualinput\".",
        ),
        (of("999"), -32500, NO_OBJECT),
        (of(&url), -32500, "Cannot execute URL type script."),
        (of(&event), -32500, NO_OBJECT),
        (of(&action), -32500, NO_OBJECT),
        (json!({ "scriptid": script, "hostid": 999 }), -32500, NO_OBJECT),
        (json!({ "scriptid": event, "eventid": 999 }), -32500, NO_OBJECT),
    ] {
        world.server.refuses(&[("script.execute", params, code, text)]);
    }
    assert!(world.server.asked.lock().unwrap().is_empty());
    let done = json!({ "response": "success", "value": "done", "debug": [] });
    assert_eq!(world.run(&of(&script)).unwrap(), done);
    let logs = json!({ "logs": [{ "level": 4, "ms": 5, "message": "logged" }], "ms": 7 });
    assert_eq!(world.run(&json!({ "scriptid": event, "eventid": 1 })).unwrap()["debug"], logs);
}

#[test]
fn rights_on_script_host_and_event_are_needed() {
    let world = world();
    let other = world.server.create("hostgroup.create", &json!({ "name": "other" }));
    let params = |script: &str| json!({ "scriptid": script, "hostid": world.host });
    let run = |script: &str| world.read("script.execute", &params(script)).map_err(|error| error.1);
    let refused = Err(NO_OBJECT.to_owned());
    let plain = world.script("plain", &json!({}));
    assert_eq!(run(&plain).unwrap()["value"], "done");
    for (n, more) in
        [json!({ "host_access": 3 }), json!({ "groupid": other }), json!({ "usrgrpid": 7 })]
            .iter()
            .enumerate()
    {
        assert_eq!(run(&world.script(&format!("s{n}"), more)), refused, "{more}");
    }
    let own = world.script("own group", &json!({ "groupid": world.group }));
    assert!(run(&own).is_ok());
    let stranger = world.server.user("stranger", "1", &[(&other, 3)]);
    let call = |method: &str, params: &Json| world.server.call_as(Some(&stranger), method, params);
    assert_eq!(call("script.execute", &params(&plain)).unwrap_err().1, NO_OBJECT);
    let event = world.script("event", &json!({ "scope": 4 }));
    let on_event = json!({ "scriptid": event, "eventid": 1 });
    assert_eq!(call("script.execute", &on_event).unwrap_err().1, NO_OBJECT);
    assert_eq!(
        call("script.getscriptsbyhosts", &json!({ "hostid": world.host })).unwrap(),
        json!([])
    );
    assert_eq!(call("script.getscriptsbyevents", &json!({ "eventid": 1 })).unwrap(), json!([]));
    assert!(world.read("script.execute", &on_event).is_ok());
    let rules = json!({ "actions": [{ "name": "execute_scripts", "status": 0 }] });
    world.server.call("role.update", &json!({ "roleid": 1, "rules": rules })).unwrap();
    let denied = run(&plain).unwrap_err();
    assert_eq!(denied, "You do not have permission to perform this operation.");
}

#[test]
fn inputs_match_their_pattern_or_list() {
    let world = world();
    let input = |kind: i64, validator: &str| {
        let more = json!({
            "manualinput": 1, "manualinput_prompt": "p", "manualinput_validator": validator,
            "manualinput_validator_type": kind,
        });
        world.script(validator, &more)
    };
    let (pattern, list) = (input(0, "^([0-9]+|fail|)$"), input(1, "a, b,c d"));
    let run = |script: &str, input: &str| {
        let params = json!({ "scriptid": script, "hostid": world.host, "manualinput": input });
        world.run(&params).map(|result| result["value"].clone()).map_err(|error| error.1)
    };
    assert_eq!(run(&pattern, "12").unwrap(), "done");
    for (script, value, text) in [
        (&pattern, "12;id", "input does not match the provided pattern: ^([0-9]+|fail|)$."),
        (&list, "d", "value must be one of a, b, c d."),
        (&pattern, "fail", "exit 5"),
    ] {
        let why = run(script, value).unwrap_err();
        assert!(why.contains(text), "{value}: {why}");
    }
    assert_eq!(run(&list, "b").unwrap(), "done");
    let missing = world.run(&json!({ "scriptid": list, "hostid": world.host })).unwrap_err().1;
    assert!(missing.contains("\"manualinput\" is missing"), "{missing}");
    let last = world.server.asked.lock().unwrap().last().cloned().unwrap();
    assert!(last.contains("input: Some(\"b\")"), "{last}");
}

#[test]
fn executions_are_in_the_audit_log() {
    let world = world();
    let shell = json!({ "type": 0, "execute_on": 1, "command": "id" });
    let script = world.script("shell", &shell);
    world.read("script.execute", &json!({ "scriptid": script, "hostid": world.host })).unwrap();
    let wanted = json!({ "output": "extend", "filter": { "action": 7 } });
    let log = world.server.call("auditlog.get", &wanted).unwrap();
    let entry = &log[0];
    let shown = ["resourcetype", "resourceid", "resourcename", "username"].map(|name| &entry[name]);
    assert_eq!(shown, [&json!("25"), &json!(world.host), &json!("h"), &json!("reader")]);
    let details: Json = serde_json::from_str(entry["details"].as_str().unwrap()).unwrap();
    assert_eq!(
        details,
        json!({
            "script.execute_on": ["add", "1"],
            "script.hostid": ["add", world.host],
            "script.command": ["add", format!("command of {script} on {}", world.host)],
            "script.output": ["add", "done"],
        })
    );
}

#[test]
fn users_see_what_they_can_run_with_expanded_texts() {
    let world = world();
    let more = json!({ "confirmation": "Run on {HOST.ID}?" });
    let script = world.script("b", &more);
    world.script("a", &json!({ "host_access": 3 }));
    let shown = |method: &str, params: &Json, id: &str| {
        let found = world.read(method, params).unwrap();
        let scripts = found[id].as_array().unwrap().clone();
        let one = |script: &Json| format!("{} {}", script["name"], script["confirmation"]);
        scripts.iter().map(one).collect::<Vec<_>>()
    };
    let expected = [format!("\"b\" \"Run on {}?\"", world.host)];
    let by_host = json!({ "hostid": world.host });
    assert_eq!(shown("script.getscriptsbyhosts", &by_host, &world.host), expected);
    assert_eq!(shown("script.getscriptsbyevents", &json!({ "eventid": 1 }), "1"), expected);
    let one = json!({ "hostid": world.host, "scriptid": script });
    assert_eq!(shown("script.getscriptsbyhosts", &one, &world.host), expected);
    let found = world.server.call("script.getscriptsbyhosts", &by_host).unwrap();
    let names = found[&world.host].as_array().unwrap().iter().map(|one| one["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["a", "b"]);
    assert!(found[&world.host][0].get("parameters").is_none());
}
