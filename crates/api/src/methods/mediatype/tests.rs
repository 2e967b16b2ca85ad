//! Media types through the methods.

use serde_json::{Value as Json, json};

use crate::testing::Server;

fn mail() -> Json {
    json!({ "name": "m", "type": 0, "smtp_server": "s", "smtp_email": "a@b.c" })
}

fn webhook() -> Json {
    json!({ "name": "w", "type": 4, "script": "return 1" })
}

/// The object with these members more.
fn with(mut object: Json, more: Json) -> Json {
    for (name, value) in more.as_object().unwrap() {
        object[name] = value.clone();
    }
    object
}

#[test]
fn fields_depend_on_the_kind() {
    let server = Server::start();
    let script = json!({ "name": "s", "type": 1, "exec_path": "x" });
    let sms = json!({ "name": "t", "type": 2, "gsm_modem": "x" });
    let message = |source, mode| json!({ "message_templates": [{ "eventsource": source, "recovery": mode }] });
    for (object, refused) in [
        (json!({ "name": "x" }), "\"/1\": the parameter \"type\" is missing."),
        (json!({ "name": "x", "type": 9 }), "\"/1/type\": value must be one of 0, 1, 2, 4."),
        (json!({ "name": "x", "type": 0 }), "the parameter \"smtp_server\" is missing."),
        (with(mail(), json!({ "smtp_server": "" })), "\"/1/smtp_server\": cannot be empty."),
        (with(mail(), json!({ "smtp_port": 65_536 })), "value must be one of 0-65535."),
        (
            with(mail(), json!({ "smtp_verify_host": 1 })),
            "\"/1/smtp_verify_host\": value must be 0.",
        ),
        (with(mail(), json!({ "username": "u" })), "\"/1/username\": value must be empty."),
        (with(mail(), json!({ "script": "x" })), "\"/1/script\": value must be empty."),
        (with(mail(), json!({ "timeout": "5s" })), "\"/1/timeout\": value must be 30."),
        (with(mail(), json!({ "process_tags": 1 })), "\"/1/process_tags\": value must be 0."),
        (
            with(mail(), json!({ "parameters": [{ "name": "a" }] })),
            "\"/1/parameters\": should be empty.",
        ),
        (with(mail(), json!({ "maxsessions": 101 })), "value must be one of 0-100."),
        (with(mail(), json!({ "maxattempts": 0 })), "value must be one of 1-100."),
        (with(mail(), json!({ "attempt_interval": "2h" })), "value must be one of 0-3600."),
        (with(mail(), json!({ "attempt_interval": "-1" })), "value must be one of 0-3600."),
        (with(mail(), json!({ "attempt_interval": "-x" })), "a time unit is expected."),
        (with(mail(), json!({ "attempt_interval": "{$X}" })), "a time unit is expected."),
        (with(mail(), json!({ "attempt_interval": "" })), "cannot be empty."),
        (
            with(mail(), json!({ "content_type": 1, "message_format": 1 })),
            "Deprecated parameter \"/1/content_type\" cannot be used with \"/1/message_format\".",
        ),
        (with(mail(), json!({ "nosuch": 1 })), "unexpected parameter \"nosuch\"."),
        (with(mail(), message(5, 0)), "eventsource\": value must be one of 0, 1, 2, 3, 4."),
        (with(mail(), message(1, 1)), "\"/1/message_templates/1/recovery\": value must be 0."),
        (with(mail(), message(3, 2)), "recovery\": value must be one of 0, 1."),
        (json!({ "name": "x", "type": 1 }), "the parameter \"exec_path\" is missing."),
        (
            with(script.clone(), json!({ "parameters": [{ "value": "x" }] })),
            "\"sortorder\" is missing.",
        ),
        (
            with(script.clone(), json!({ "parameters": [{ "name": "x" }] })),
            "\"/1/parameters/1\": unexpected parameter \"name\".",
        ),
        (
            with(script, json!({ "parameters": [{ "sortorder": 1 }, { "sortorder": "1" }] })),
            "\"/1/parameters/2\": value (sortorder)=(1) already exists.",
        ),
        (with(sms, json!({ "maxsessions": 2 })), "\"/1/maxsessions\": value must be 1."),
        (json!({ "name": "x", "type": 4 }), "the parameter \"script\" is missing."),
        (with(webhook(), json!({ "timeout": "61s" })), "value must be one of 1-60."),
        (with(webhook(), json!({ "show_event_menu": 1 })), "\"event_menu_url\" is missing."),
        (
            with(webhook(), json!({ "event_menu_url": "x" })),
            "event_menu_url\": value must be empty.",
        ),
        (
            with(
                webhook(),
                json!({ "show_event_menu": 1, "event_menu_url": "javascript:x", "event_menu_name": "x" }),
            ),
            "\"/1/event_menu_url\": unacceptable URL.",
        ),
        (with(webhook(), json!({ "parameters": [{ "name": "" }] })), "name\": cannot be empty."),
        (
            with(webhook(), json!({ "parameters": [{ "name": "x" }, { "name": "x" }] })),
            "\"/1/parameters/2\": value (name)=(x) already exists.",
        ),
        (with(webhook(), json!({ "smtp_server": "x" })), "smtp_server\": value must be empty."),
        (with(webhook(), json!({ "name": "Email" })), "Media type \"Email\" already exists."),
        (
            with(webhook(), json!({ "name": "Email", "smtp_server": "x" })),
            "\"/1/smtp_server\": value must be empty.",
        ),
    ] {
        server.refuses(&[("mediatype.create", object, -32602, refused)]);
    }
}

#[test]
fn another_kind_takes_nothing_over() {
    let server = Server::start();
    let more = json!({
        "parameters": [{ "name": "b", "value": "2" }, { "name": "a" }], "timeout": "1m", "process_tags": 1,
        "message_templates": [{ "eventsource": 4, "recovery": 2, "subject": "z" }, { "eventsource": 0, "recovery": 0 }],
    });
    let id = server.create("mediatype.create", &with(webhook(), more));
    let get = |output: Json| {
        let options = json!({ "mediatypeids": id, "output": output, "selectMessageTemplates": ["recovery", "subject"] });
        server.call("mediatype.get", &options).unwrap()[0].clone()
    };
    assert_eq!(
        get(json!(["parameters", "timeout", "status"])),
        json!({
            "mediatypeid": id, "timeout": "1m", "status": "1",
            "parameters": [{ "name": "b", "value": "2" }, { "name": "a", "value": "" }],
            "message_templates": [{ "recovery": "2", "subject": "z" }, { "recovery": "0", "subject": "" }],
        })
    );
    server.refuses(&[
        (
            "mediatype.update",
            json!({ "mediatypeid": id, "type": 1 }),
            -32602,
            "\"exec_path\" is missing.",
        ),
        (
            "mediatype.update",
            json!({ "mediatypeid": "9999", "name": "z" }),
            -32500,
            "No permissions",
        ),
    ]);
    let script = json!({
        "mediatypeid": id, "type": 1, "exec_path": "x",
        "parameters": [{ "sortorder": 5, "value": "b" }, { "sortorder": 1, "value": "a" }],
    });
    server.call("mediatype.update", &script).unwrap();
    let shown = get(json!("extend"));
    assert_eq!(
        shown["parameters"],
        json!([{ "sortorder": "1", "value": "a" }, { "sortorder": "5", "value": "b" }])
    );
    for (name, value) in
        [("script", ""), ("timeout", "30s"), ("process_tags", "0"), ("content_type", "1")]
    {
        assert_eq!(shown[name], value, "{name}");
    }
    let mail = json!({
        "mediatypeid": id, "type": 0, "smtp_server": "s", "smtp_email": "e", "smtp_authentication": 1,
        "username": "u", "passwd": "p", "content_type": 0,
    });
    server.call("mediatype.update", &mail).unwrap();
    let shown = get(json!("extend"));
    assert_eq!(
        [&shown["passwd"], &shown["message_format"], &shown["parameters"]],
        [&json!("p"), &json!("0"), &json!([])]
    );
    server
        .call("mediatype.update", &json!({ "mediatypeid": id, "smtp_authentication": 0 }))
        .unwrap();
    assert_eq!(get(json!(["username", "passwd"]))["passwd"], "");
}

#[test]
fn only_super_admins_see_secrets() {
    let server = Server::start();
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    let secret = with(mail(), json!({ "smtp_authentication": 1, "username": "u", "passwd": "p" }));
    let id = server.create("mediatype.create", &secret);
    let user = server.create(
        "user.create",
        &json!({
            "username": "u2", "passwd": "Pa55word-x", "roleid": "2", "usrgrps": { "usrgrpid": ug },
            "medias": [{ "mediatypeid": id, "sendto": ["a@b.c", "Bob <d@e.f>"] }],
        }),
    );
    let session = server.login("u2", "Pa55word-x");
    let as_admin = |method: &str, params: Json| server.call_as(Some(&session), method, &params);
    assert_eq!(
        as_admin(
            "mediatype.get",
            json!({
                "mediatypeids": id, "selectUsers": ["username"], "selectMessageTemplates": "extend",
                "filter": { "passwd": "x", "name": "m" },
            })
        )
        .unwrap(),
        json!([{
            "mediatypeid": id, "type": "0", "name": "m", "status": "1", "description": "", "maxattempts": "3",
            "users": [{ "userid": user, "username": "u2" }],
        }])
    );
    // Parameters may also be a list.
    let all = as_admin("mediatype.get", json!([])).unwrap();
    assert!(!all.as_array().unwrap().is_empty() && !all.to_string().contains("passwd"), "{all}");
    for option in ["filter", "search"] {
        let counted = as_admin(
            "mediatype.get",
            json!({ "countOutput": true, option: { "passwd": "nosuch" } }),
        );
        assert_eq!(counted.unwrap(), "3", "{option}");
    }
    assert_eq!(as_admin("mediatype.get", json!({ "editable": true })).unwrap(), json!([]));
    assert_eq!(as_admin("mediatype.update", json!({ "mediatypeid": id })).unwrap_err().0, -32500);
    let export = json!({ "format": "raw", "options": { "mediaTypes": [id] } });
    assert_eq!(
        as_admin("configuration.export", export.clone()).unwrap()["zabbix_export"]
            .get("media_types"),
        None
    );
    let exported = server.call("configuration.export", &export).unwrap();
    let node = &exported["zabbix_export"]["media_types"][0];
    assert_eq!((&node["username"], node.get("password")), (&json!("u"), None));
    assert_eq!(
        as_admin("user.get", json!({ "userids": user, "output": ["userid"], "selectMedias": ["sendto"], "selectMediatypes": ["name", "passwd"] })).unwrap(),
        json!([{
            "userid": user, "medias": [{ "sendto": ["a@b.c", "Bob <d@e.f>"] }],
            "mediatypes": [{ "mediatypeid": id, "name": "m" }],
        }])
    );
    // Details of the audit log have neither the password nor the address.
    let log = server.call("auditlog.get", &json!({ "output": ["details"] })).unwrap().to_string();
    assert!(log.contains("mediatype.passwd") && log.contains("user.medias"), "{log}");
    assert!(!log.contains("\\\"p\\\"") && !log.contains("d@e.f"), "{log}");
    server.call("mediatype.delete", &json!([id])).unwrap();
    let medias = json!({ "userids": user, "output": ["userid"], "selectMedias": "extend" });
    assert_eq!(server.call("user.get", &medias).unwrap()[0]["medias"], json!([]));
}

#[test]
fn media_of_users_keep_ids_that_are_given() {
    let server = Server::start();
    let ug = server.create("usergroup.create", &json!({ "name": "ug" }));
    let hook = server.create("mediatype.create", &webhook());
    let media =
        |kind: &str, sendto: Json| json!({ "medias": [{ "mediatypeid": kind, "sendto": sendto }] });
    let user = with(
        json!({ "username": "u", "passwd": "Pa55word-x", "usrgrps": { "usrgrpid": ug } }),
        media(&hook, json!("a")),
    );
    let id = server.create("user.create", &user);
    let medias = || {
        let options = json!({ "userids": id, "output": ["userid"], "selectMedias": ["mediaid", "sendto", "severity"] });
        server.call("user.get", &options).unwrap()[0]["medias"].clone()
    };
    let first = medias()[0]["mediaid"].clone();
    let change = json!({ "userid": id, "medias": [
        { "mediaid": first, "mediatypeid": hook, "sendto": ["b"], "severity": 5 },
        { "mediatypeid": hook, "sendto": "c" },
    ] });
    server.call("user.update", &change).unwrap();
    let shown = medias();
    assert_eq!(
        [&shown[0]["mediaid"], &shown[0]["sendto"], &shown[0]["severity"]],
        [&first, &json!("b"), &json!("5")]
    );
    assert_eq!(shown[1]["sendto"], "c");
    let update = |more: Json| with(json!({ "userid": id }), more);
    for (more, refused) in [
        (media("999", json!("x")), "\"/1/medias/1/mediatypeid\": object does not exist."),
        (
            media(&hook, json!(["a", "b"])),
            "\"/1/medias/1/sendto\": a character string is expected.",
        ),
        (media("1", json!(["nomail"])), "\"/1/medias/1/sendto/1\": an email address is expected."),
        (media("1", json!([""])), "\"/1/medias/1/sendto/1\": cannot be empty."),
        (media(&hook, json!("x".repeat(1_025))), "\"/1/medias/1/sendto\": value is too long."),
        (
            json!({ "medias": [{ "mediaid": "99", "mediatypeid": hook, "sendto": "x" }] }),
            "\"/1/medias/1/mediaid\": object does not exist or belongs to another object.",
        ),
    ] {
        server.refuses(&[("user.update", update(more), -32602, refused)]);
    }
    assert_eq!(medias(), shown);
    server.call("user.update", &update(json!({ "medias": [] }))).unwrap();
    assert_eq!(medias(), json!([]));
}

#[test]
fn exports_and_imports_are_inverse() {
    let server = Server::start();
    let all = json!({ "createMissing": true, "updateExisting": true });
    let import = |format: &str, source: &Json| {
        let params = json!({ "format": format, "source": source, "rules": { "mediaTypes": all } });
        server.call("configuration.import", &params)
    };
    let full = with(
        mail(),
        json!({
            "smtp_port": "465", "smtp_security": 2, "smtp_verify_peer": 1, "smtp_authentication": 1, "username": "u",
            "maxsessions": 5, "maxattempts": 7, "attempt_interval": "20s", "message_format": 0, "status": 0,
            "provider": 3, "description": "two\nlines",
        }),
    );
    let hook = with(
        webhook(),
        json!({
            "parameters": [{ "name": "a", "value": "1" }, { "name": "b" }], "show_event_menu": 1,
            "event_menu_url": "http://x/{EVENT.TAGS.x}", "event_menu_name": "n",
            "message_templates": [{ "eventsource": 4, "recovery": 2, "subject": "s", "message": "one\ntwo" }],
        }),
    );
    let script = json!({ "name": "s", "type": 1, "exec_path": "x", "parameters": [{ "sortorder": 3, "value": "v" }] });
    let mut ids = vec!["1".to_owned()];
    ids.extend([full, hook, script].iter().map(|one| server.create("mediatype.create", one)));
    let get = || {
        let options = json!({ "filter": { "name": ["Email", "m", "w", "s"] }, "selectMessageTemplates": "extend" });
        let mut all: Vec<Json> =
            server.call("mediatype.get", &options).unwrap().as_array().unwrap().clone();
        for one in &mut all {
            one.as_object_mut().unwrap().remove("mediatypeid");
        }
        all.sort_by_key(|one| one["name"].to_string());
        all
    };
    let before = get();
    for format in ["yaml", "xml", "json"] {
        let options = json!({ "format": format, "options": { "mediaTypes": ids } });
        let source = server.call("configuration.export", &options).unwrap();
        import(format, &source).unwrap();
        assert_eq!(get(), before, "{format}: changed by an update");
        server.call("mediatype.delete", &json!(ids)).unwrap();
        import(format, &source).unwrap();
        let found = server.call("mediatype.get", &json!({ "output": ["mediatypeid"], "filter": { "name": ["Email", "m", "w", "s"] } })).unwrap();
        ids = found
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["mediatypeid"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(get(), before, "{format}: made again");
    }
    for (text, refused) in [
        ("type: SMSX", "media_type(1)/type\": unexpected constant \"SMSX\"."),
        ("gsm_modem: x", "media_type(1)\": the tag \"type\" is missing."),
        ("type: SMS", "\"/1/gsm_modem\": cannot be empty."),
        ("type: SMS, gsm_modem: x, nosuch: y", "unexpected tag \"nosuch\"."),
        ("type: WEBHOOK, script: x, parameters: [{sortorder: 0}]", "unexpected tag \"sortorder\"."),
        ("type: WEBHOOK, script: x, parameters: [{value: y}]", "the tag \"name\" is missing."),
        (
            "type: SMS, gsm_modem: x, message_templates: [{event_source: TRIGGERS}]",
            "\"operation_mode\" is missing.",
        ),
    ] {
        let source =
            format!("zabbix_export: {{version: '7.0', media_types: [{{name: N, {text}}}]}}");
        let error = import("yaml", &json!(source)).unwrap_err().1;
        assert!(error.contains(refused), "{text}: {error}");
    }
}

#[test]
fn a_test_sends_what_is_given() {
    let server = Server::start();
    let parameters = json!([{ "name": "to", "value": "{ALERT.SENDTO}" }, { "name": "e", "value": "{EVENT.ID}" }]);
    let hook = with(webhook(), json!({ "parameters": parameters }));
    let hook = server.create("mediatype.create", &hook);
    let mail = server.create("mediatype.create", &mail());
    for (params, result) in [
        (
            json!({ "mediatypeid": hook, "sendto": "a", "subject": "s", "message": "m" }),
            r#""a" s m [("to", "a"), ("e", "{EVENT.ID}")]"#,
        ),
        (
            json!({ "mediatypeid": hook, "parameters": [{ "name": "x", "value": 5 }, { "name": "y" }] }),
            r#""" s m [("x", "5"), ("y", "")]"#,
        ),
        (json!({ "mediatypeid": hook, "parameters": [] }), r#""" s m []"#),
        (json!({ "mediatypeid": mail, "sendto": ["a@b.c", "d@e.f"] }), r#""a@b.c\nd@e.f" s m []"#),
    ] {
        let params = with(json!({ "subject": "s", "message": "m" }), params);
        let tested = server.call("mediatype.test", &params).unwrap();
        assert_eq!(tested["result"], result);
        assert_eq!(tested["duration"], "12");
        assert_eq!(tested["log"], json!(["> x"]));
        assert_eq!(tested["script_log"], json!([{ "level": 4, "ms": 7, "message": "logged" }]));
    }
    let long = "x".repeat(65_536);
    for (params, code, text) in [
        (json!([]), -32602, "an object is expected"),
        (json!({}), -32602, "the parameter \"mediatypeid\" is missing."),
        (json!({ "mediatypeid": "9999" }), -32500, "No permissions"),
        (json!({ "mediatypeid": hook, "x": 1 }), -32602, "unexpected parameter \"x\"."),
        (json!({ "mediatypeid": mail }), -32602, "the parameter \"sendto\" is missing."),
        (json!({ "mediatypeid": mail, "sendto": "" }), -32602, "\"/sendto\": cannot be empty."),
        (json!({ "mediatypeid": mail, "sendto": [] }), -32602, "\"/sendto\": cannot be empty."),
        (json!({ "mediatypeid": hook, "message": long }), -32602, "value is too long."),
        (json!({ "mediatypeid": hook, "subject": long }), -32602, "value is too long."),
        (
            json!({ "mediatypeid": mail, "sendto": "a", "parameters": [] }),
            -32602,
            "only webhooks and scripts have parameters.",
        ),
        (
            json!({ "mediatypeid": hook, "parameters": [{ "value": "x" }] }),
            -32602,
            "\"/parameters/1\": the parameter \"name\" is missing.",
        ),
        (json!({ "mediatypeid": hook, "subject": "busy" }), -32500, "try later"),
        (
            json!({ "mediatypeid": hook, "subject": "failed" }),
            -32500,
            "The webhook failed: because\n\nLog:\nlogged",
        ),
        (
            json!({ "mediatypeid": mail, "sendto": "a", "subject": "failed" }),
            -32500,
            "The mail server did not accept the message: because",
        ),
        (
            json!({ "mediatypeid": hook, "subject": "impossible" }),
            -32500,
            "Media type \"w\" cannot send with its settings: because",
        ),
        (
            json!({ "mediatypeid": hook, "subject": "unknown" }),
            -32500,
            "It is not known whether the receiver has the message: because",
        ),
    ] {
        server.refuses(&[("mediatype.test", params, code, text)]);
    }
    let reported =
        json!({ "mediatypeid": hook, "subject": "failed", "report_failure": 1, "parameters": [] });
    let reported = server.call("mediatype.test", &reported).unwrap();
    assert_eq!((&reported["error"], &reported["log"]), (&json!("because"), &json!(["> x"])));
    let session = server.user("adm", "2", &[]);
    let refused = server.call_as(Some(&session), "mediatype.test", &json!({ "mediatypeid": hook }));
    assert!(refused.unwrap_err().1.contains("No permissions to call"), "only super admins test");
}

#[test]
fn an_address_can_have_a_limit() {
    let server = Server::start();
    let limit = json!({ "messages": 20, "period": "5m" });
    let id = server.create("mediatype.create", &with(mail(), json!({ "storm_limit": limit })));
    let get = || {
        let options = json!({ "mediatypeids": id, "output": ["storm_limit"] });
        server.call("mediatype.get", &options).unwrap()[0]["storm_limit"].clone()
    };
    assert_eq!(get(), limit);
    let plain = server.call("mediatype.get", &json!({ "mediatypeids": id })).unwrap();
    assert!(plain[0].get("storm_limit").is_none());
    // A file has it, or stands for none.
    let rules = json!({ "mediaTypes": { "createMissing": true, "updateExisting": true } });
    let file = || {
        let options = json!({ "format": "yaml", "options": { "mediaTypes": [id] } });
        server.call("configuration.export", &options).unwrap()
    };
    let import = |source: &Json| {
        let params = json!({ "format": "yaml", "source": source, "rules": rules });
        server.call("configuration.import", &params).unwrap();
    };
    let limited = file();
    assert!(limited.as_str().unwrap().contains("storm_limit:"), "{limited}");
    server.call("mediatype.update", &json!({ "mediatypeid": id, "storm_limit": null })).unwrap();
    assert_eq!(get(), Json::Null);
    let unlimited = file();
    assert!(!unlimited.as_str().unwrap().contains("storm_limit"), "{unlimited}");
    import(&limited);
    assert_eq!(get(), limit);
    import(&unlimited);
    assert_eq!(get(), Json::Null);
    for (limit, refused) in [
        (json!(5), "\"/1/storm_limit\": an object or null is expected."),
        (json!({ "messages": 1 }), "the parameter \"period\" is missing."),
        (json!({ "messages": 0, "period": "1m" }), "value must be one of 1-10000."),
        (json!({ "messages": 1, "period": "0" }), "value must be one of 1-86400."),
        (json!({ "messages": 1, "period": "x" }), "a time unit is expected."),
        (json!({ "messages": 1, "period": "1m", "x": 1 }), "unexpected parameter \"x\"."),
    ] {
        let update = json!({ "mediatypeid": id, "storm_limit": limit });
        server.refuses(&[("mediatype.update", update, -32602, refused)]);
    }
}
