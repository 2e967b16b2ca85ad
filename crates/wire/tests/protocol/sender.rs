//! Values of senders and agents: what is taken, when it is stamped, how rows are counted.

use proptest::prelude::*;
use wire::sender::{self, Outcome};
use wire::trapper::Request;
use wire::{Content, MessageError, Moment, Reading, Target};

const NOW: Moment = Moment { clock: 2000, ns: 500 };

fn rows(data: &str) -> sender::SenderData<'static> {
    let text = format!("{{\"request\":\"sender data\",\"data\":[{data}]}}").leak();
    sender::parse_sender_data(text, NOW).unwrap()
}

/// One good row with these members behind host and key.
fn one(members: &str) -> Option<Reading<'static>> {
    rows(&format!("{{\"host\":\"h\",\"key\":\"k\"{members}}}")).readings.rows.pop()
}

#[test]
fn values_come_as_text_as_they_were_written() {
    for (json, expected) in [
        ("1", Some("1")),
        ("1.50", Some("1.50")),
        ("-1e5", Some("-1e5")),
        ("true", Some("true")),
        ("null", Some("")),
        ("\"\"", Some("")),
        ("\"a\"", Some("a")),
        (r#""a\u00e9\n\"""#, Some("aé\n\"")),
        ("18446744073709551616", Some("18446744073709551616")),
        ("{\"a\":1}", None),
        ("[1,2]", None),
    ] {
        let reading = one(&format!(",\"value\":{json}")).unwrap();
        let expected =
            expected.map_or(Content::Nothing, |text| Content::Value(text.to_owned().into()));
        assert_eq!(reading.content, expected, "{json}");
    }
    assert_eq!(one("").unwrap().content, Content::Nothing);
    assert_eq!(
        one(",\"value\":\"first\",\"value\":\"second\"").unwrap().content,
        Content::Value("first".into())
    );
    for state in ["1", "\"1\""] {
        let reading = one(&format!(",\"value\":\"why\",\"state\":{state}")).unwrap();
        assert_eq!(reading.content, Content::NotSupported("why".into()));
    }
}

#[test]
fn clocks_are_digits_or_the_row_fails() {
    for (members, expected) in [
        ("\"clock\":1700000000", Some((1_700_000_000, 0))),
        ("\"clock\":\"1700000000\"", Some((1_700_000_000, 0))),
        ("\"clock\":0", Some((0, 0))),
        ("\"clock\":2147483647", Some((2_147_483_647, 0))),
        ("\"clock\":5,\"ns\":7", Some((5, 7))),
        ("\"clock\":5,\"ns\":\"7\"", Some((5, 7))),
        ("\"clock\":5,\"ns\":999999999", Some((5, 999_999_999))),
        ("\"ns\":7", Some((2000, 500))),
        ("\"x\":7", Some((2000, 500))),
        ("\"clock\":2147483648", None),
        ("\"clock\":4000000000", None),
        ("\"clock\":99999999999999999999", None),
        ("\"clock\":1700000000.5", None),
        ("\"clock\":\" 1700000000\"", None),
        ("\"clock\":\"+1700000000\"", None),
        ("\"clock\":\"abc\"", None),
        ("\"clock\":\"\"", None),
        ("\"clock\":-5", None),
        ("\"clock\":null", None),
        ("\"clock\":5,\"ns\":1000000000", None),
        ("\"clock\":5,\"ns\":-1", None),
        ("\"clock\":5,\"ns\":\"x\"", None),
    ] {
        let reading = one(&format!(",\"value\":1,{members}"));
        let expected = expected.map(|(clock, ns)| Moment { clock, ns });
        assert_eq!(reading.map(|r| r.at), expected, "{members}");
    }
}

#[test]
fn values_of_one_second_get_rising_ns() {
    let row = |members: &str| format!("{{\"host\":\"h\",\"key\":\"k\",\"value\":1{members}}}");
    let moments = |members: &[&str]| -> Vec<(u32, u32)> {
        let data: Vec<String> = members.iter().map(|m| row(m)).collect();
        rows(&data.join(",")).readings.rows.iter().map(|r| (r.at.clock, r.at.ns)).collect()
    };
    assert_eq!(
        moments(&[",\"clock\":5", ",\"clock\":5,\"ns\":100", ",\"clock\":5", ",\"clock\":6"]),
        [(5, 0), (5, 100), (5, 1), (6, 2)]
    );
    assert_eq!(
        moments(&[",\"clock\":5,\"ns\":0", ",\"clock\":5,\"ns\":\"0\"", ",\"clock\":6"]),
        [(5, 0), (5, 1), (6, 2)]
    );
    assert_eq!(moments(&["", "", ""]), [(2000, 500), (2000, 501), (2000, 502)]);
    assert_eq!(Moment { clock: 1, ns: 999_999_999 }.plus_ns(2), Moment { clock: 2, ns: 1 });
}

#[test]
fn bad_rows_are_counted_as_zabbix_counts_them() {
    let good = r#"{"host":"h","key":"k","value":1}"#;
    for (bad, counted) in [
        (r#"{"key":"k","value":1}"#, true),
        (r#"{"host":"h","value":1}"#, true),
        (r#"{"host":"h","key":"k","value":1,"clock":"x"}"#, true),
        ("{}", true),
        ("[]", true),
        ("[1]", true),
        ("5", false),
        ("\"x\"", false),
        ("null", false),
    ] {
        let readings = rows(&format!("{good},{bad},{good}")).readings;
        let expected = if counted { (2, 1, false) } else { (0, 0, true) };
        assert_eq!((readings.rows.len(), readings.malformed, readings.refused), expected, "{bad}");
        // A request without any good row is answered with zeros.
        let readings = rows(&format!("{bad},{bad}")).readings;
        assert_eq!((readings.rows.len(), readings.malformed), (0, 0), "{bad}");
    }
    let full = vec![good; 256].join(",");
    assert_eq!(rows(&format!("{full},{{}}")).readings.malformed, 0);
    assert_eq!(rows(&format!("{{}},{full},{{}}")).readings.malformed, 1);
    assert_eq!(rows(&format!("{full},{{}},{good}")).readings.malformed, 1);
}

#[test]
fn requests_without_usable_data_say_so() {
    for (text, expected) in [
        ("{\"request\":\"sender data\"}", "cannot open \"data\" token"),
        ("{\"request\":\"sender data\",\"data\":\"x\"}", "cannot open \"data\" token"),
        ("{\"request\":\"sender data\",\"data\":5}", "cannot open \"data\" token"),
        ("{\"request\":\"sender data\",\"data\":[] } x", "cannot parse as a valid JSON object: "),
        ("{\"request\":\"sender data\",\"data\":[{", "cannot parse as a valid JSON object: "),
        ("{", "cannot parse as a valid JSON object: "),
        ("[]", "cannot parse as a valid JSON object: "),
        ("", "cannot parse as a valid JSON object: "),
    ] {
        let error = sender::parse_sender_data(text, NOW).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
    }
    let data = sender::parse_sender_data("{\"data\":{\"a\":1}}", NOW).unwrap();
    assert!(data.readings.refused);
}

#[test]
fn agent_data_names_items_by_id_or_key() {
    let session = "a".repeat(32);
    let text = format!(
        r#"{{"request":"agent data","session":"{session}","version":"7.0.22","variant":1,
        "host":"web","data":[{{"itemid":11,"value":"1","id":3,"clock":5,"ns":6}},
        {{"itemid":"12","value":"no","state":1,"id":4,"clock":5,"ns":7}},
        {{"host":"old","key":"log[x]","value":"line","lastlogsize":10,"mtime":0,
        "timestamp":9,"source":"s","severity":3,"eventid":77}}],
        "commands":[{{"id":4,"error":"no"}},{{"id":5,"value":"out"}},{{"value":"no id"}}],
        "clock":1,"ns":2}}"#
    );
    let data = sender::parse_agent_data(&text, NOW).unwrap();
    assert_eq!((data.host.as_deref(), data.session.as_ref()), (Some("web"), session.as_str()));
    assert_eq!(data.version, wire::Version::new(7, 0));
    let rows = &data.readings.rows;
    assert_eq!((&rows[0].target, rows[0].id), (&Target::Item(11), Some(3)));
    assert_eq!(rows[1].target, Target::Item(12));
    assert_eq!(rows[1].content, Content::NotSupported("no".into()));
    let expected = Target::Key { host: "old".into(), key: "log[x]".into() };
    assert_eq!(rows[2].target, expected);
    let log = rows[2].log.as_ref().unwrap();
    assert_eq!((log.lastlogsize, log.mtime, log.timestamp), (Some(10), Some(0), Some(9)));
    assert_eq!((log.source.as_deref(), log.severity, log.eventid), (Some("s"), Some(3), Some(77)));
    let commands: Vec<_> = data.commands.iter().map(|c| (c.id, c.result.is_ok())).collect();
    assert_eq!(commands, [(4, false), (5, true)]);

    let error = sender::parse_agent_data("{\"session\":\"abc\",\"data\":[]}", NOW).unwrap_err();
    assert_eq!(error, MessageError::SessionLength(3));
    assert_eq!(error.to_string(), "invalid session token length 3");
    let only_commands = "{\"commands\":[{\"id\":1,\"value\":\"\"}]}";
    assert_eq!(sender::parse_agent_data(only_commands, NOW).unwrap().commands.len(), 1);
    let sender = sender::parse_sender_data("{\"data\":[{\"itemid\":1,\"value\":2}]}", NOW).unwrap();
    assert_eq!(sender.readings.rows, []);
}

#[test]
fn the_answer_has_the_words_that_senders_parse() {
    let outcome = Outcome { processed: 2, failed: 1, seconds: 0.000_041 };
    let expected = r#"{"response":"success","info":"processed: 2; failed: 1; total: 3; seconds spent: 0.000041"}"#;
    assert_eq!(outcome.answer(false), expected);
    assert!(outcome.answer(true).contains("\"upload\":\"disabled\""));
    assert_eq!(Outcome::parse_info(&outcome.info()), Some(outcome));
    assert_eq!(Outcome::parse_info("nonsense"), None);
    for (text, expected) in [
        (outcome.answer(true), Some((true, true))),
        (outcome.answer(false), Some((true, false))),
        (wire::failed("x"), Some((false, false))),
        ("{}".to_owned(), None),
        ("OK".to_owned(), None),
    ] {
        let answer = sender::SendAnswer::parse(&text).ok();
        assert_eq!(answer.map(|a| (a.success, a.upload_disabled)), expected, "{text}");
    }
    assert_eq!(wire::failed("a \"b\""), r#"{"response":"failed","info":"a \"b\""}"#);
}

#[test]
fn history_push_is_taken_whole_or_not_at_all() {
    let push = |rows: &str| {
        let text =
            format!("{{\"request\":\"history.push\",\"sid\":\"s\",\"data\":[{rows}]}}").leak();
        sender::parse_history_push(text, NOW)
    };
    let ok = push(
        r#"{"itemid":5,"value":1},{"host":"h","key":"k","value":"x","clock":9},
           {"itemid":"6","value":"y","clock":9,"ns":4}"#,
    )
    .unwrap();
    let moments: Vec<_> = ok.rows.iter().map(|r| (r.at.clock, r.at.ns)).collect();
    assert_eq!(moments, [(2000, 500), (9, 1), (9, 4)]);
    assert_eq!(ok.sid.as_deref(), Some("s"));
    for bad in [
        "{\"itemid\":5}",
        "{\"value\":5}",
        "{\"host\":\"h\",\"value\":5}",
        "{\"itemid\":\"x\",\"value\":5}",
        "{\"itemid\":5,\"host\":\"h\",\"key\":\"k\",\"value\":5}",
        "{\"itemid\":5,\"value\":5,\"ns\":1}",
        "{\"itemid\":5,\"value\":5,\"clock\":0}",
        "{\"itemid\":5,\"value\":5,\"clock\":2147483648}",
        "{\"itemid\":5,\"value\":5,\"clock\":1,\"ns\":1000000000}",
    ] {
        let error = push(&format!("{{\"itemid\":5,\"value\":1}},{bad}")).unwrap_err();
        assert!(matches!(error, MessageError::Row { row: 2, .. }), "{bad}: {error:?}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,80}") {
        let _ = sender::parse_sender_data(&text, NOW);
        let _ = Request::parse(&text, NOW);
    }

    #[test]
    fn no_json_panics(
        members in prop::collection::vec(
            (
                prop::sample::select(vec![
                    "request", "data", "host", "key", "value", "clock", "ns", "session", "sid",
                    "commands", "params", "type", "item", "steps", "expressions", "options",
                ]),
                prop::sample::select(vec![
                    "\"sender data\"", "\"agent data\"", "\"active checks\"", "\"item.test\"",
                    "\"history.push\"", "\"queue.get\"", "\"zabbix.stats\"", "\"queue\"", "null",
                    "[]", "{}", "[{}]", "[[1]]", "5", "-1", "1e999", "\"\\ud800\"", "\"\\u0000\"",
                    "[{\"host\":\"h\",\"key\":\"k\",\"value\":\"\\ud800\"}]", "{\"item\":{}}",
                    "{\"expressions\":[\"1\",2]}", "{\"expressions\":[{}]}",
                ]),
            ),
            0..8,
        )
    ) {
        let members: Vec<String> =
            members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        let text = format!("{{{}}}", members.join(","));
        let _ = Request::parse(&text, NOW);
        let _ = sender::parse_agent_data(&text, NOW);
        let _ = sender::parse_history_push(&text, NOW);
    }

    #[test]
    fn any_string_survives(host in any::<String>(), value in any::<String>()) {
        let text = serde_json::json!({
            "request": "sender data",
            "data": [{ "host": host, "key": "k", "value": value }],
        })
        .to_string();
        let data = sender::parse_sender_data(&text, NOW).unwrap();
        let reading = &data.readings.rows[0];
        prop_assert_eq!(&reading.target, &Target::Key { host: host.into(), key: "k".into() });
        prop_assert_eq!(&reading.content, &Content::Value(value.into()));
    }
}

#[test]
fn deep_json_is_refused_or_skipped_without_recursion() {
    for open in ["[", "{\"a\":"] {
        let deep = open.repeat(200_000);
        for text in [
            format!("{{\"request\":\"sender data\",\"data\":{deep}"),
            format!("{{\"request\":\"sender data\",\"data\":[{deep}"),
            format!("{{\"request\":\"sender data\",\"data\":[{{\"value\":{deep}"),
            format!("{{\"x\":{deep}"),
            deep.clone(),
        ] {
            assert!(Request::parse(&text, NOW).is_err() || !text.starts_with('{'));
        }
    }
}
