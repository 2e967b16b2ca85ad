//! Every step, with values that pass, fail and are remembered.

use model::{LogMeta, Payload, Timestamp, ValueType};

use super::{Outcome, State, Step, StepKind, run};
use crate::script::Scripts;

fn scripts() -> Scripts {
    Scripts::new(stdx::clock::SimClock::at(std::time::Duration::from_secs(1)))
}

fn step(kind: StepKind, params: &str) -> Step {
    Step::from_api(kind as u8, params, 0, "").unwrap()
}

fn shown(outcome: Outcome) -> Result<Option<String>, String> {
    match outcome {
        Outcome::Value(value) => Ok(Some(super::convert::to_text(&value).into())),
        Outcome::Discarded => Ok(None),
        Outcome::NotSupported(error) => Err(error.into()),
    }
}

fn check(kind: StepKind, params: &str, value: &str, value_type: ValueType, wanted: Option<&str>) {
    let payload = Payload::Text(value.into());
    let at = Timestamp::from_s(100);
    let steps = [step(kind, params)];
    let got = run(&steps, &mut State::default(), payload, at, value_type, &mut scripts());
    let got = shown(got);
    let case = format!("{kind:?} {params:?} {value:?}: {got:?}");
    assert_eq!(got.ok().flatten().as_deref(), wanted, "{case}");
}

#[test]
fn steps_without_memory() {
    use StepKind as K;
    let walk =
        ".1.3.6.1.1 = INTEGER: 5\n.1.3.6.1.2 = STRING: \"a\nb\"\n.1.3.6.2.1 = Hex-STRING: 41 42\n";
    let metrics = "# HELP m Help\n# TYPE m gauge\nm{l=\"a\"} 1\nm{l=\"b\"} 2.5\n";
    for (kind, params, value, wanted) in [
        (K::Multiplier, "8", "2.5", Some("20")),
        (K::Multiplier, "0.5", "x", None),
        (K::Multiplier, "x", "1", None),
        (K::Multiplier, "1e308", "1e308", Some("INF")),
        (K::RightTrim, "\\s\\n", "a \n ", Some("a")),
        (K::LeftTrim, "0", "0010", Some("10")),
        (K::Trim, "\"", "\"a\"", Some("a")),
        (K::Regex, "v=(\\d+)\n\\1", "v=12", Some("12")),
        (K::Regex, "v=(\\d+)\n\\1", "w", None),
        (K::Regex, "(\n\\1", "w", None),
        (K::BoolToDecimal, "", "Running", Some("1")),
        (K::BoolToDecimal, "", "x", None),
        (K::OctalToDecimal, "", "17", Some("15")),
        (K::HexToDecimal, "", "fF", Some("255")),
        (K::XmlXPath, "/a/b/text()", "<a><b>7</b></a>", Some("7")),
        (K::XmlXPath, "/a[", "<a/>", None),
        (K::JsonPath, "$.a[0]", "{\"a\":[7]}", Some("7")),
        (K::JsonPath, "$.b", "{\"a\":[7]}", None),
        (K::InRange, "1\n", "0.5", None),
        (K::InRange, "\n5", "5", Some("5")),
        (K::InRange, "5\n1", "3", None),
        (K::MatchesRegex, "^a", "ab", Some("ab")),
        (K::MatchesRegex, "^a", "ba", None),
        (K::NotMatchesRegex, "^a", "ba", Some("ba")),
        (K::NotMatchesRegex, "^a", "ab", None),
        (K::CheckJsonError, "$.err", "{\"ok\":1}", Some("{\"ok\":1}")),
        (K::CheckJsonError, "$.err", "{\"err\":\"bad\"}", None),
        (K::CheckXmlError, "//err/text()", "<a><err>bad</err></a>", None),
        (K::CheckXmlError, "//err", "<a/>", Some("<a/>")),
        (K::CheckRegexError, "ERR (.*)\n\\1", "ERR x", None),
        (K::CheckRegexError, "ERR (.*)\n\\1", "fine", Some("fine")),
        (K::JavaScript, "return value.length", "abc", Some("3")),
        (K::JavaScript, "return null", "abc", None),
        (K::JavaScript, "throw 1", "abc", None),
        (K::PrometheusPattern, "m{l=\"b\"}\nvalue\n", metrics, Some("2.5")),
        (K::PrometheusPattern, "m == 1\nlabel\nl", metrics, Some("a")),
        (K::PrometheusPattern, "m\nfunction\nsum", metrics, Some("3.5")),
        (K::PrometheusPattern, "m\nfunction\ncount", metrics, Some("2")),
        (K::PrometheusPattern, "m{l!~\"a\"}\nfunction\nmax", metrics, Some("2.5")),
        (K::PrometheusPattern, "m\nvalue\n", metrics, None),
        (K::PrometheusPattern, "m\nnothing\n", metrics, None),
        (
            K::PrometheusToJson,
            "m{l=\"a\"}",
            metrics,
            Some(
                "[{\"name\":\"m\",\"value\":\"1\",\"line_raw\":\"m{l=\\\"a\\\"} 1\",\
                 \"labels\":{\"l\":\"a\"},\"type\":\"gauge\",\"help\":\"Help\"}]",
            ),
        ),
        (K::PrometheusToJson, "m{", metrics, None),
        (K::CsvToJson, ";\n\"\n1", "a;b\n\"1;\"\"\";2", Some("[{\"a\":\"1;\\\"\",\"b\":\"2\"}]")),
        (K::CsvToJson, ",\n\n0", "a,b", Some("[{\"1\":\"a\",\"2\":\"b\"}]")),
        (K::CsvToJson, ",,\n\n0", "a,b", None),
        (K::Replace, "a\\n\nb", "xa\ny", Some("xby")),
        (K::Replace, "\nb", "x", None),
        (K::CheckNotSupported, "", "fine", Some("fine")),
        (
            K::XmlToJson,
            "",
            "<a x=\"1\"><b>t</b><b/><c>5</c></a>",
            Some("{\"a\":{\"@x\":\"1\",\"b\":[\"t\",null],\"c\":\"5\"}}"),
        ),
        (K::XmlToJson, "", "<a", None),
        (K::SnmpWalkValue, "1.3.6.1.1\n0", walk, Some("5")),
        (K::SnmpWalkValue, ".1.3.6.1.2\n0", walk, Some("a\nb")),
        (K::SnmpWalkValue, ".1.3.6.2.1\n1", walk, Some("AB")),
        (K::SnmpWalkValue, ".1.3.6.2.1\n2", walk, Some("41:42")),
        (
            K::SnmpWalkValue,
            "IF-MIB::ifIndex.7\n0",
            ".1.3.6.1.2.1.2.2.1.1.7 = INTEGER: 7",
            Some("7"),
        ),
        (K::SnmpWalkValue, ".1.3.6.9\n0", walk, None),
        (
            K::SnmpWalkToJson,
            "{#A}\n.1.3.6.1\n0\n{#B}\n.1.3.6.2\n1",
            walk,
            Some(
                "[{\"{#SNMPINDEX}\":\"1\",\"{#A}\":\"5\",\"{#B}\":\"AB\"},\
                 {\"{#SNMPINDEX}\":\"2\",\"{#A}\":\"a\\nb\"}]",
            ),
        ),
        (K::SnmpGetValue, "3", "01 01", Some("257")),
        (K::SnmpGetValue, "7", "01", None),
    ] {
        check(kind, params, value, ValueType::Text, wanted);
    }
    for (kind, params, value, value_type, wanted) in [
        (K::Multiplier, "3", "1.5", ValueType::Unsigned, Some("3")),
        (K::Multiplier, "1.5", "3", ValueType::Unsigned, Some("4")),
        (K::Multiplier, "3", "1.5", ValueType::Float, Some("4.5")),
        (
            K::Multiplier,
            "10",
            "1844674407370955161",
            ValueType::Unsigned,
            Some("18446744073709551610"),
        ),
    ] {
        check(kind, params, value, value_type, wanted);
    }
}

#[test]
fn steps_with_memory() {
    use StepKind as K;
    // Values with their second; what comes out of each.
    type Row<'a> = (&'a str, u32, Option<&'a str>);
    let tables: [(K, &str, ValueType, &[Row<'_>]); 7] = [
        (
            K::SimpleChange,
            "",
            ValueType::Unsigned,
            &[("5", 1, None), ("8", 2, Some("3")), ("7", 3, None), ("7", 4, Some("0"))],
        ),
        (
            K::SimpleChange,
            "",
            ValueType::Float,
            &[("1.5", 1, None), ("4", 2, Some("2.5")), ("3", 3, None)],
        ),
        (
            K::ChangePerSecond,
            "",
            ValueType::Unsigned,
            &[("10", 1, None), ("35", 11, Some("2")), ("36", 11, None), ("46", 12, Some("10"))],
        ),
        (
            K::ChangePerSecond,
            "",
            ValueType::Float,
            &[("10", 1, None), ("35", 11, Some("2.5")), ("34", 12, None), ("33", 5, None)],
        ),
        (
            K::DiscardUnchanged,
            "",
            ValueType::Text,
            &[("a", 1, Some("a")), ("a", 2, None), ("b", 3, Some("b")), ("a", 4, Some("a"))],
        ),
        (
            K::DiscardUnchangedHeartbeat,
            "10s",
            ValueType::Text,
            &[("a", 1, Some("a")), ("a", 10, None), ("a", 11, Some("a")), ("a", 12, None)],
        ),
        (
            K::DiscardUnchangedHeartbeat,
            "0",
            ValueType::Text,
            &[("a", 1, Some("a")), ("a", 1, Some("a"))],
        ),
    ];
    for (kind, params, value_type, rows) in tables {
        let steps = [step(kind, params)];
        let mut state = State::default();
        for (value, second, wanted) in rows {
            let at = Timestamp::from_s(*second);
            let payload = Payload::Text((*value).into());
            let got = run(&steps, &mut state, payload, at, value_type, &mut scripts());
            let got = shown(got).ok().flatten();
            assert_eq!(got.as_deref(), *wanted, "{kind:?} {value} at {second}");
        }
        // A state that was saved goes on where it was.
        let saved = State::from_remembered(state.remembered().to_vec());
        assert_eq!(saved, state);
    }
}

#[test]
fn error_handlers() {
    let fail = |handler, params: &str| Step::from_api(1, "2", handler, params).unwrap();
    let text = |t: &str| Payload::Text(t.into());
    let unsupported = |t: &str| Payload::NotSupported(t.into());
    let ns = |params: &str, handler, text: &str| Step::from_api(26, params, handler, text).unwrap();
    let append = || step(StepKind::Regex, "(.*)\n<\\1>");
    for (steps, input, wanted) in [
        (vec![fail(1, ""), append()], text("x"), Ok(None)),
        (vec![fail(2, "7"), append()], text("x"), Ok(Some("<7>"))),
        (vec![fail(3, "own"), append()], text("x"), Err("own")),
        (vec![append(), append()], unsupported("down"), Err("down")),
        (vec![ns("", 2, "0")], unsupported("down"), Ok(Some("0"))),
        (vec![ns("", 1, "")], unsupported("down"), Ok(None)),
        (vec![ns("0\n^d", 3, "own")], unsupported("down"), Err("own")),
        (vec![ns("0\n^x", 3, "own")], unsupported("down"), Err("down")),
        (vec![ns("1\n^x", 3, "own")], unsupported("down"), Err("own")),
        (vec![ns("0\n(o.*)", 2, "got \\1")], unsupported("down"), Ok(Some("got own"))),
        (vec![fail(3, "own"), ns("", 2, "1")], text("x"), Ok(Some("1"))),
        (vec![], unsupported("down"), Err("down")),
        (vec![], text("x"), Ok(Some("x"))),
    ] {
        let at = Timestamp::from_s(1);
        let mut state = State::default();
        let got = run(&steps, &mut state, input, at, ValueType::Text, &mut scripts());
        let got = shown(got);
        let got = got.as_ref().map(|v| v.as_deref()).map_err(String::as_str);
        assert_eq!(got, wanted, "{steps:?}");
    }
    assert!(Step::from_api(0, "", 0, "").is_err());
    assert!(Step::from_api(31, "", 0, "").is_err());
    assert!(Step::from_api(1, "", 4, "").is_err());
}

#[test]
fn defects_are_reported_before_the_first_value() {
    for (kind, params, broken) in [
        (1, "x", true),
        (1, "-2.5", false),
        (5, "(\n1", false),
        (11, "//a", false),
        (11, "//[", true),
        (12, "$.a", false),
        (12, "$.a[", true),
        (12, "a", true),
        (13, "1\n0", true),
        (13, "1\n", false),
        (16, "a", true),
        (17, "", true),
        (20, "25y", true),
        (20, "9125d", false),
        (20, "0", true),
        (20, "9126d", true),
        (22, "m{a=\"b\"}\nvalue\n", false),
        (22, "m{\nvalue\n", true),
        (22, "m\nlabel\na", false),
        (22, "m\nlabel\n ", true),
        (22, "m\nfunction\nsum", false),
        (23, "", false),
        (23, "1m", true),
        (25, "\nx", true),
    ] {
        let defect = Step::from_api(kind, params, 0, "").unwrap().defect();
        assert_eq!(defect.is_some(), broken, "{kind} {params:?}: {defect:?}");
    }
}

#[test]
fn log_lines_keep_where_they_come_from() {
    let meta = LogMeta { timestamp: 9, source: "app".into(), severity: 4, eventid: 7 };
    let log = Payload::Log(Box::new(("line 5".into(), meta.clone())));
    let steps = [step(StepKind::Regex, "(\\d)\n\\1")];
    let at = Timestamp::from_s(1);
    let mut state = State::default();
    let got = run(&steps, &mut state, log.clone(), at, ValueType::Log, &mut scripts());
    assert_eq!(got, Outcome::Value(Payload::Log(Box::new(("5".into(), meta)))));
    let got = run(&steps, &mut state, log, at, ValueType::Unsigned, &mut scripts());
    assert_eq!(got, Outcome::Value(Payload::Text("5".into())));
    let got = run(&steps, &mut state, Payload::Meta, at, ValueType::Log, &mut scripts());
    assert_eq!(got, Outcome::Value(Payload::Meta));
}
