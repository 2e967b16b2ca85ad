use config::snapshot::{ItemExtra, ItemParts};
use model::{HostId, ItemId, LogMeta, TriggerId};
use objects::ItemType;
use std::sync::Arc;

use super::*;
use crate::events::EventKind;

const AT: Timestamp = Timestamp { clock: 1_700_000_000, ns: 5 };

fn host(name: &str, groups: &[&str]) -> Host {
    Host {
        host: name.into(),
        name: format!("Shown {name}").into(),
        group_names: groups.iter().map(|name| (*name).into()).collect(),
        ..Host::unconfigured(HostId(1))
    }
}

fn prefix() -> String {
    let tags = [("part", "c\"p"), ("empty", "")];
    let extra = ItemExtra {
        tags: tags.iter().map(|(tag, value)| ((*tag).into(), (*value).into())).collect(),
        ..ItemExtra::default()
    };
    let item = ItemParts {
        id: ItemId(7),
        extra: Some(Arc::new(extra)),
        ..ItemParts::unconfigured(HostId(1), ItemType::Trapper, "k".into())
    };
    item_prefix(&host("a", &["G", "G/H"]), &Item::from(item), "Load")
}

fn line(kind: ValueType, value: SampleValue) -> String {
    super::value("{\"itemid\":7", kind, &Sample { item: ItemId(7), at: AT, value })
}

#[test]
fn records_begin_with_host_groups_tags_and_name() {
    let expected = concat!(
        r#"{"host":{"host":"a","name":"Shown a"},"groups":["G","G/H"],"#,
        r#""item_tags":[{"tag":"part","value":"c\"p"},{"tag":"empty","value":""}],"#,
        r#""itemid":7,"name":"Load""#,
    );
    assert_eq!(prefix(), expected);
}

#[test]
fn values_of_all_types() {
    let begin = "{\"itemid\":7,\"clock\":1700000000,\"ns\":5";
    for (value, text) in
        [(1.5, "1.5"), (-2.0, "-2"), (0.1, "0.1"), (1e300, "1e+300"), (1e15, "1000000000000000")]
    {
        let line = line(ValueType::Float, SampleValue::Float(value));
        assert_eq!(line, format!("{begin},\"value\":{text},\"type\":0}}\n"));
    }
    let unsigned = line(ValueType::Unsigned, SampleValue::Unsigned(u64::MAX));
    assert_eq!(unsigned, format!("{begin},\"value\":18446744073709551615,\"type\":3}}\n"));
    for (kind, number) in [(ValueType::Char, 1), (ValueType::Text, 4), (ValueType::Binary, 5)] {
        let line = line(kind, SampleValue::Text("a\n\"b\"".into()));
        assert_eq!(line, format!("{begin},\"value\":\"a\\n\\\"b\\\"\",\"type\":{number}}}\n"));
    }
    let meta = LogMeta { timestamp: 17, source: "S".into(), severity: 4, eventid: 9 };
    let log = line(ValueType::Log, SampleValue::Log(Box::new(("x".into(), meta))));
    let expected = r#","timestamp":17,"source":"S","severity":4,"eventid":9,"value":"x","type":2}"#;
    assert_eq!(log, format!("{begin}{expected}\n"));
}

#[test]
fn trends_of_both_types() {
    let trend = |values| Trend { item: ItemId(7), hour: 3_600, num: 2, values };
    let float = trend(TrendValues::Float { min: 1.0, avg: 1.5, max: 2.25 });
    let begin = "{\"itemid\":7,\"clock\":3600,\"count\":2";
    let expected = format!("{begin},\"min\":1,\"avg\":1.5,\"max\":2.25,\"type\":0}}\n");
    assert_eq!(super::trend("{\"itemid\":7", &float), expected);
    let unsigned = trend(TrendValues::Unsigned { min: 1, avg: 2, max: 3 });
    let expected = format!("{begin},\"min\":1,\"avg\":2,\"max\":3,\"type\":3}}\n");
    assert_eq!(super::trend("{\"itemid\":7", &unsigned), expected);
}

#[test]
fn problems_and_recoveries() {
    let event = Event {
        id: 9,
        trigger: TriggerId(3),
        at: AT,
        name: "Down".to_owned(),
        severity: 4,
        tags: vec![("scope".to_owned(), "x".to_owned())],
        kind: EventKind::Problem,
    };
    let expected = concat!(
        r#"{"clock":1700000000,"ns":5,"value":1,"eventid":9,"name":"Down","severity":4,"#,
        r#""hosts":[{"host":"a","name":"Shown a"},{"host":"b","name":"Shown b"}],"#,
        r#""groups":["G","H"],"tags":[{"tag":"scope","value":"x"}]}"#,
        "\n",
    );
    assert_eq!(problem(&event, &[&host("a", &["G"]), &host("b", &["G", "H"])]), expected);
    let expected = r#"{"clock":1700000000,"ns":5,"value":0,"eventid":9,"p_eventid":8}"#;
    assert_eq!(recovery(&event, 8), format!("{expected}\n"));
}
