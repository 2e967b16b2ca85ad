//! Documents and the steps that read them.

use std::cell::RefCell;
use std::time::Duration;

use eval::macros::FunctionEnv;
use eval::preproc::{self, Outcome, State, Step};
use eval::script::Scripts;
use jiff::tz::TimeZone;
use model::{Payload, Timestamp, ValueType};

/// A document with everything that JSON has.
pub(crate) const JSON: &str =
    r#"{"a":[1,-2.5e3,"x\u00e9\n",null,true,false,{}],"b":{"c":[[]]},"a":0}"#;

/// A calendar with a repetition, an exception and days.
pub(crate) const CALENDAR: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\n\
    DTSTART;TZID=Europe/Berlin:20260323T090000\r\nDURATION:P7D\r\nRRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20270101T000000Z\r\n\
    EXDATE;TZID=Europe/Berlin:20260511T090000\r\nSUMMARY:a\\, b\r\nATTENDEE;CN=\"x\":mailto:a@b\r\nEND:VEVENT\r\n\
    BEGIN:VEVENT\r\nUID:2\r\nDTSTART;VALUE=DATE:20261225\r\nRECURRENCE-ID;VALUE=DATE:20261225\r\n\
    RDATE:20260101T000000Z/PT1H\r\nEND:VEVENT\r\nEND:VCALENDAR";

/// The parts of an input, as texts.
pub(crate) fn parts<const N: usize>(data: &[u8]) -> [String; N] {
    let mut parts = data.splitn(N, |b| *b == 0).map(|p| String::from_utf8_lossy(p).into_owned());
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

fn run(step: Step, value: &str) {
    thread_local! {
        static SCRIPTS: RefCell<Scripts> = RefCell::new(Scripts::with_time_max(
            stdx::clock::RealClock::shared(),
            Duration::from_millis(50),
        ));
    }
    for kind in [ValueType::Float, ValueType::Unsigned, ValueType::Text] {
        let mut state = State::default();
        for second in [1, 2] {
            let (at, input) = (Timestamp::from_s(second), Payload::Text(value.into()));
            let steps = std::slice::from_ref(&step);
            let outcome = SCRIPTS.with_borrow_mut(|scripts| {
                preproc::run(steps, &mut state, input, at, kind, scripts)
            });
            if let Outcome::Value(value) = outcome {
                drop(preproc::convert(value, kind));
            }
        }
    }
}

fn step(kind: u8, params: &str, value: &str) {
    if let Ok(step) = Step::from_api(kind, params, 0, "") {
        run(step, value);
    }
}

/// What is read and written is read and written the same again.
pub(crate) fn json(data: &[u8]) {
    let [text] = parts(data);
    if let Ok(parsed) = eval::json::parse(&text) {
        let again = parsed.to_json();
        if !again.contains("INF") {
            let second = eval::json::parse(&again).map(|j| j.to_json());
            assert_eq!(second.as_deref(), Ok(again.as_str()), "JSON is not written as it is read");
        }
    }
    drop(eval::json::parse_first_container(&text));
}

pub(crate) fn jsonpath(data: &[u8]) {
    let [path, document] = parts(data);
    drop(eval::jsonpath::query(&document, &path));
    drop(eval::jsonpath::query(JSON, &path));
    step(16, &path, &document);
}

pub(crate) fn xpath(data: &[u8]) {
    let [path, document] = parts(data);
    drop(eval::xpath::query(&document, &path));
    drop(eval::xpath::query("<a><b c=\"1\">x</b><b/><!-- d --></a>", &path));
    step(17, &path, &document);
}

/// Without what is empty, which forms of exports write in one way or leave out.
fn filled(tree: api::Json) -> api::Json {
    let is_empty = |tree: &api::Json| match tree {
        api::Json::Array(values) => values.is_empty(),
        api::Json::Object(members) => members.is_empty(),
        _ => false,
    };
    match tree {
        api::Json::Array(values) => {
            values.into_iter().map(filled).filter(|value| !is_empty(value)).collect()
        }
        api::Json::Object(members) => {
            let members = members.into_iter().map(|(name, value)| (name, filled(value)));
            members.filter(|(_, value)| !is_empty(value)).collect()
        }
        other => other,
    }
}

/// Shaped as exports are: names are words, and lists hold no lists.
fn is_ordinary(tree: &api::Json) -> bool {
    let word = |name: &String| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    match tree {
        api::Json::Array(values) => {
            values.iter().all(|value| !value.is_array() && is_ordinary(value))
        }
        api::Json::Object(members) => {
            members.iter().all(|(name, value)| word(name) && is_ordinary(value))
        }
        _ => true,
    }
}

/// Export files in their three forms. What is read and written again is the same tree.
pub(crate) fn import(data: &[u8]) {
    let [format, source] = parts(data);
    let Ok(tree) = api::read_export(&format, &source) else { return };
    let tree = filled(tree);
    if !is_ordinary(&tree) {
        return;
    }
    for format in ["yaml", "json"] {
        let text = api::write_export(format, &tree).unwrap_or_default();
        let again = api::read_export(format, &text);
        assert!(
            again.is_ok_and(|again| filled(again) == tree),
            "{format} is not written as it is read"
        );
    }
    drop(api::write_export("xml", &tree));
}

/// An export with what exports have.
pub(crate) const EXPORTS: &[&str] = &[
    "yaml\0zabbix_export:\n  version: '7.0'\n  template_groups:\n    - uuid: a\n      name: 'A/B'\n  templates:\n    - template: T\n      items:\n        - name: \"x\\n\"\n          key: 'k[a,\"b\"]'\n          params: |\n            last(//k)\n            +1\n          preprocessing:\n            - type: MULTIPLIER\n              parameters: ['8']\n",
    "yaml\0zabbix_export:\n  version: '6.0'\n  groups: [{name: G}]\n  templates:\n    - template: T\n      groups: [{name: G}]\n      macros: [{macro: '{$M}', value: >-\n          a\n          b}]\n  triggers: []\n",
    "xml\0<?xml version=\"1.0\" encoding=\"UTF-8\"?><zabbix_export><version>7.0</version><templates><template><template>T</template><items><item><name>n</name><key>k</key><preprocessing><step><type>JAVASCRIPT</type><parameters><parameter>return 1 &lt; 2;&#13;</parameter></parameters></step></preprocessing></item></items></template></templates></zabbix_export>",
    "xml\0<zabbix_export><version>6.4</version><hosts><host><host>h</host><interfaces><interface><ip/></interface></interfaces></host></hosts></zabbix_export>",
    "json\0{\"zabbix_export\":{\"version\":\"7.0\",\"templates\":[{\"template\":\"T\",\"discovery_rules\":[{\"key\":\"r\",\"filter\":{\"conditions\":[{\"macro\":\"{#A}\",\"value\":1}]}}]}],\"triggers\":[{\"expression\":\"last(/T/k)=1\",\"manual_close\":true}]}}",
];

/// Both ways.
pub(crate) fn xml(data: &[u8]) {
    let [text] = parts(data);
    step(27, "", &text);
    step(21, "return XML.fromJson(value)", &text);
}

pub(crate) fn csv(data: &[u8]) {
    let [delimiter, quote, header, text] = parts(data);
    drop(preproc::csv_to_json(&text, &delimiter, &quote, header == "1"));
}

pub(crate) fn calendar(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(events) = oncall::calendar::read(&text, &TimeZone::UTC, &(0..oncall::TIME_MAX)) else {
        return;
    };
    drop(oncall::calendar::days(&events, &TimeZone::UTC));
}

pub(crate) fn prometheus(data: &[u8]) {
    let [pattern, request, output, text] = parts(data);
    drop(preproc::prometheus_pattern(&text, &pattern, &request, &output));
    drop(preproc::prometheus_to_json(&text, &pattern));
}

pub(crate) fn snmp(data: &[u8]) {
    let [oid, walk] = parts(data);
    for format in ["0", "1", "2", "3"] {
        step(28, &format!("{oid}\n{format}"), &walk);
        step(29, &format!("{{#A}}\n{oid}\n{format}"), &walk);
        step(30, format, &walk);
    }
}

/// The first byte says which step it is.
pub(crate) fn steps(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else { return };
    let [params, value] = parts(rest);
    step(kind % 30 + 1, &params, &value);
}

/// Bounded in time and memory whatever it says.
pub(crate) fn script(data: &[u8]) {
    let [source, value] = parts(data);
    step(21, &source, &value);
}

pub(crate) fn regex(data: &[u8]) {
    let [pattern, template, text] = parts(data);
    drop(eval::regex::substitute(&pattern, &template, &text, false));
    drop(eval::regex::extract(&pattern, &template, &text));
    drop(eval::regex::replace_all(&pattern, &template, &text));
    drop(eval::regex::is_match(&pattern, &text, true));
}

pub(crate) fn lld(data: &[u8]) {
    let [text, document] = parts(data);
    let env = FunctionEnv { tz: &TimeZone::UTC };
    if let Ok(rows) = eval::lld::parse_rows(&document, &[]) {
        for row in rows.iter().take(3) {
            drop(eval::lld::substitute_text(&text, row, &env));
            drop(eval::lld::substitute_key(&text, row, &env));
            drop(eval::lld::substitute_expression(&text, row, &env));
        }
    }
    drop(eval::lld::formula_ids(&text));
}
