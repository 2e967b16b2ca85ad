//! Passive and active checks, both sides, against what real agents and servers 7.0.22 write.

use wire::agent::active::{
    self, ActiveAnswer, ActiveChecks, ActiveItem, ActiveList, AgentValue, GlobalRegexp, Heartbeat,
    RemoteCommand, is_unchanged,
};
use wire::agent::passive::{
    Answer, Dialect, Parsed, Request, encode_answer, parse_answer, request,
};
use wire::{Moment, Version, sender};

#[test]
fn passive_requests_are_read() {
    let ok = |key: &str, timeout| Ok((key.to_owned(), timeout));
    let err = |text: &str| Err(text.to_owned());
    let check = |row: &str| format!("{{\"request\":\"passive checks\",\"data\":[{row}]}}");
    for (text, dialect, expected) in [
        ("agent.ping".to_owned(), Dialect::Plain, ok("agent.ping", None)),
        ("agent.ping\r\nx".to_owned(), Dialect::Plain, ok("agent.ping", None)),
        (String::new(), Dialect::Plain, ok("", None)),
        ("{bad".to_owned(), Dialect::Plain, ok("{bad", None)),
        (check(r#"{"key":"a[\"b\"]","timeout":3}"#), Dialect::Json, ok("a[\"b\"]", Some(3))),
        (check(r#"{"key":"k","timeout":"3s"}"#), Dialect::Json, ok("k", Some(3))),
        (check(r#"{"key":"k","timeout":"1m"}"#), Dialect::Json, ok("k", Some(60))),
        (check(r#"{"key":"k","timeout":"x"}"#), Dialect::Json, ok("k", Some(0))),
        (
            check(r#"{"key":"a","timeout":3},{"key":"b","timeout":3}"#),
            Dialect::Json,
            ok("a", Some(3)),
        ),
        (check(""), Dialect::Json, err("received empty \"data\" tag")),
        (check(r#"{"key":"k"}"#), Dialect::Json, err("cannot find \"timeout\" token")),
        (check(r#"{"timeout":3}"#), Dialect::Json, err("cannot find \"key\" token")),
        (
            "{\"request\":\"passive checks\"}".to_owned(),
            Dialect::Json,
            err("cannot find \"data\" token"),
        ),
        ("{\"request\":\"foo\"}".to_owned(), Dialect::Json, err("unknown request \"foo\"")),
        ("{}".to_owned(), Dialect::Json, err("cannot find \"request\" token")),
    ] {
        let got = Request::parse(&text);
        let check = got.check.map(|c| (c.key.into_owned(), c.timeout_s));
        assert_eq!((got.dialect, check), (dialect, expected), "{text}");
    }
    let written = request("a[\"b\"]", 3, Dialect::Json);
    assert_eq!(written, r#"{"request":"passive checks","data":[{"key":"a[\"b\"]","timeout":3}]}"#);
    assert_eq!(request("k", 3, Dialect::Plain), "k");
    for (timeout_s, supported) in
        [(None, true), (Some(0), false), (Some(600), true), (Some(601), false)]
    {
        let check = wire::agent::passive::Check { key: "k".into(), timeout_s };
        assert_eq!(check.timeout_is_supported(), supported, "{timeout_s:?}");
    }
}

#[test]
fn passive_answers_go_both_ways() {
    for (answer, json, plain) in [
        (Answer::Value("1".into()), r#""data":[{"value":"1"}]"#, "1"),
        (Answer::Value("a\n\"".into()), r#""data":[{"value":"a\n\""}]"#, "a\n\""),
        (
            Answer::NotSupported("Unsupported item key.".into()),
            r#""data":[{"error":"Unsupported item key."}]"#,
            "ZBX_NOTSUPPORTED\0Unsupported item key.",
        ),
    ] {
        let text = encode_answer(&answer, Dialect::Json, "7.0.22");
        assert_eq!(text, format!("{{\"version\":\"7.0.22\",\"variant\":1,{json}}}"));
        assert_eq!(parse_answer(&text, Dialect::Json), Parsed::Answer(answer.clone()));
        let text = encode_answer(&answer, Dialect::Plain, "7.0.22");
        assert_eq!(text, plain);
        assert_eq!(parse_answer(&text, Dialect::Plain), Parsed::Answer(answer));
    }
    let nothing = encode_answer(&Answer::Nothing, Dialect::Json, "7.0.0");
    assert_eq!(parse_answer(&nothing, Dialect::Json), Parsed::Answer(Answer::Nothing));
    let broken = encode_answer(&Answer::AgentError("x".into()), Dialect::Json, "7.0.0");
    assert_eq!(broken, r#"{"version":"7.0.0","variant":1,"error":"x"}"#);
    assert_eq!(
        parse_answer(&broken, Dialect::Json),
        Parsed::Answer(Answer::AgentError("x".into()))
    );
    let error = encode_answer(&Answer::AgentError("x".into()), Dialect::Plain, "7.0.0");
    assert!(matches!(parse_answer(&error, Dialect::Plain), Parsed::Answer(Answer::AgentError(_))));
    assert_eq!(encode_answer(&Answer::Refused, Dialect::Json, "7.0.0"), "");
}

#[test]
fn an_old_agent_makes_the_server_ask_again_in_plain_text() {
    for text in ["ZBX_NOTSUPPORTED\0Unsupported item key.", "ZBX_NOTSUPPORTED", "1", "{", "[]"] {
        assert_eq!(parse_answer(text, Dialect::Json), Parsed::RetryPlain, "{text}");
    }
    for dialect in [Dialect::Json, Dialect::Plain] {
        assert_eq!(parse_answer("", dialect), Parsed::Answer(Answer::Refused));
    }
    for text in
        ["{}", "{\"data\":[]}", "{\"data\":5}", "{\"data\":[{}]}", "{\"data\":[{\"value\":[]}]}"]
    {
        let parsed = parse_answer(text, Dialect::Json);
        assert!(matches!(parsed, Parsed::Answer(Answer::AgentError(_))), "{text}: {parsed:?}");
    }
    let bare = parse_answer("ZBX_NOTSUPPORTED", Dialect::Plain);
    assert!(matches!(bare, Parsed::Answer(Answer::NotSupported(_))));
    assert_eq!(
        wire::agent::passive::answer_version("{\"version\":\"7.0.22\"}"),
        Some(Version::new(7, 0))
    );
}

fn list() -> ActiveList<'static> {
    ActiveList {
        config_revision: 55,
        items: vec![ActiveItem {
            key: "log[/x,@rx]".into(),
            itemid: 7,
            delay: "1m;wd1-5h9-18".into(),
            lastlogsize: 10,
            mtime: 3,
            timeout: "3s".into(),
        }],
        regexps: vec![GlobalRegexp {
            name: "rx".into(),
            expression: "a,b".into(),
            expression_type: 1,
            exp_delimiter: ',',
            case_sensitive: false,
        }],
    }
}

#[test]
fn active_lists_are_written_for_each_version() {
    let answer =
        ActiveAnswer::Success { list: Some(list()), commands: vec![], upload_disabled: false };
    let regexp = r#""regexp":[{"name":"rx","expression":"a,b","expression_type":1,"exp_delimiter":",","case_sensitive":0}]}"#;
    let new = r#"{"response":"success","config_revision":55,"data":[{"key":"log[/x,@rx]","itemid":7,"delay":"1m;wd1-5h9-18","lastlogsize":10,"mtime":3,"timeout":"3s"}],"#;
    let old = r#"{"response":"success","config_revision":55,"data":[{"key":"log[/x,@rx]","delay":60,"lastlogsize":10,"mtime":3,"timeout":"3s"}],"#;
    for (version, start, unsupported) in [
        ("7.0.22", new, false),
        ("6.0", new, false),
        ("5.0.0", new, true),
        ("4.4.1", new, true),
        ("4.2", old, false),
        ("", old, false),
        ("x", old, false),
    ] {
        let refresh = if unsupported { "\"refresh_unsupported\":600," } else { "" };
        assert_eq!(answer.encode(Version::parse(version)), format!("{start}{refresh}{regexp}"));
    }
    assert_eq!(ActiveAnswer::encode_old_text(&list().items), "log[/x,@rx]:60:10\nZBX_EOF\n");
    let unchanged = ActiveAnswer::Success { list: None, commands: vec![], upload_disabled: false };
    assert_eq!(unchanged.encode(Version::new(7, 0)), r#"{"response":"success"}"#);
    let refused = ActiveAnswer::Failed(active::host_not_found("nope").into());
    assert_eq!(
        refused.encode(Version::new(7, 0)),
        r#"{"response":"failed","info":"host [nope] not found"}"#
    );
}

#[test]
fn active_answers_are_read_back() {
    let commands = vec![RemoteCommand { id: 4, command: "id".into(), wait: true }];
    for answer in [
        ActiveAnswer::Success { list: Some(list()), commands, upload_disabled: true },
        ActiveAnswer::Success { list: None, commands: vec![], upload_disabled: false },
        ActiveAnswer::Failed("host [x] not found".into()),
    ] {
        let text = answer.encode(Version::new(7, 0));
        assert_eq!(ActiveAnswer::parse(&text).unwrap(), answer);
    }
    for text in ["", "{}", "{\"response\":\"x\"}", "{\"response\":\"success\",\"data\":5}"] {
        assert!(ActiveAnswer::parse(text).is_err(), "{text}");
    }
}

#[test]
fn active_requests_are_those_of_a_real_agent() {
    let text = r#"{"request":"active checks","host":"cmp-host","ip":"127.0.0.1","port":21152,"config_revision":5,"session":"bc936141f07468109cb72a42557c7af5","version":"7.0.22","variant":1}"#;
    let request = ActiveChecks::parse(text).unwrap();
    assert_eq!((request.host.as_ref(), request.port(), request.variant), ("cmp-host", 21152, 1));
    assert_eq!(request.encode(), text);
    assert_eq!(request.version(), Version::new(7, 0));
    let bare = ActiveChecks::parse("{\"host\":\"h\"}").unwrap();
    assert_eq!((bare.port(), bare.version(), bare.session.as_ref()), (10050, Version::UNKNOWN, ""));
    for (text, info) in [
        ("{\"request\":\"active checks\"}", "cannot find \"host\" token"),
        ("{\"host\":\"h\",\"session\":\"abc\"}", "invalid session token length 3"),
    ] {
        assert_eq!(ActiveChecks::parse(text).unwrap_err().to_string(), info);
    }
    let session = request.session.clone().into_owned();
    for (known, revision, unchanged) in [
        (session.as_str(), 5, true),
        (session.as_str(), 4, true),
        (session.as_str(), 6, false),
        ("another", 5, false),
        ("", 5, false),
    ] {
        assert_eq!(is_unchanged(&request, known, revision), unchanged, "{known} {revision}");
    }
    let fresh = ActiveChecks { config_revision: 0, ..request };
    assert!(!is_unchanged(&fresh, &session, 0));
    let beat = r#"{"request":"active check heartbeat","host":"cmp-host","heartbeat_freq":5,"version":"7.0.22","variant":1}"#;
    assert_eq!(Heartbeat::parse(beat).unwrap().encode(), beat);
    assert!(Heartbeat::parse("{\"host\":\"h\"}").is_err());
}

#[test]
fn agent_data_is_that_of_a_real_agent() {
    let at = Moment { clock: 5, ns: 6 };
    let values = [
        AgentValue { itemid: 11, value: Ok("1".into()), id: 1, at },
        AgentValue { itemid: 12, value: Err("no".into()), id: 2, at },
    ];
    let session = "a".repeat(32);
    let text = active::encode_agent_data("h", &session, "7.0.22", &values, at);
    let expected = format!(
        r#"{{"request":"agent data","session":"{session}","version":"7.0.22","variant":1,"host":"h","data":[{{"itemid":11,"value":"1","id":1,"clock":5,"ns":6}},{{"itemid":12,"value":"no","state":1,"id":2,"clock":5,"ns":6}}],"clock":5,"ns":6}}"#
    );
    assert_eq!(text, expected);
    assert_eq!(sender::parse_agent_data(&text, at).unwrap().readings.rows.len(), 2);
}
