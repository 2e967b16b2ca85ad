use std::collections::BTreeMap;
use std::path::Path;

use prost::Message;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::*;

/// A field of the file: name, type, tag.
type Field = (String, String, u32);

/// Messages of `docs/history-service.proto` with their fields.
fn described() -> BTreeMap<String, Vec<Field>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/history-service.proto");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut messages: BTreeMap<String, Vec<Field>> = BTreeMap::new();
    let mut current = None;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        if let Some(name) = line.strip_prefix("message ").and_then(|rest| rest.strip_suffix(" {")) {
            current = Some(name.to_owned());
        } else if let (Some(message), Some(rest)) = (&current, line.strip_suffix(';')) {
            let words: Vec<&str> = rest.split_whitespace().collect();
            if let [kind @ .., name, "=", tag] = words.as_slice() {
                let field = ((*name).to_owned(), kind.join(" "), tag.parse().unwrap());
                messages.entry(message.clone()).or_default().push(field);
            }
        }
    }
    messages
}

/// JSON of something that is not the default of the type, and the wire type that it has to have.
fn example(kind: &str) -> (Json, u32) {
    match kind {
        "uint64" => (json!("18446744073709551615"), 0),
        "uint32" => (json!(4_294_967_295_u32), 0),
        "bool" => (json!(true), 0),
        "double" => (json!(0.5), 1),
        "string" => (json!("x"), 2),
        kind if kind.starts_with("repeated ") => (json!([{}]), 2),
        _ => (json!({}), 2),
    }
}

/// Each field of the file is a field of the message, under the same name, tag and wire type, and
/// the message has no others.
fn agrees<M>(name: &str, fields: &[Field])
where
    M: Message + Default + DeserializeOwned + std::fmt::Debug,
{
    let unknown = serde_json::from_value::<M>(json!({ "?": 0 })).unwrap_err().to_string();
    assert_eq!(unknown.matches('`').count() / 2 - 1, fields.len(), "{name}: {unknown}");
    for (field, kind, tag) in fields {
        let (value, wire_type) = example(kind);
        let message: M = serde_json::from_str(&json!({ field: value }).to_string()).unwrap();
        let bytes = message.encode_to_vec();
        let key = bytes.first().copied().map(u32::from);
        assert_eq!(key, Some(tag << 3 | wire_type), "{name}.{field}: {bytes:?}");
        assert_eq!(M::decode(&bytes[..]).unwrap().encode_to_vec(), bytes, "{name}.{field}");
    }
}

#[test]
fn the_described_messages_are_the_messages() {
    let mut described = described();
    let mut agree = |name: &str, check: fn(&str, &[Field])| {
        let fields = described.remove(name).unwrap_or_else(|| panic!("{name} is not described"));
        check(name, &fields);
    };
    agree("Log", agrees::<Log>);
    agree("ItemName", agrees::<ItemName>);
    agree("Value", agrees::<Value>);
    agree("WriteRequest", agrees::<WriteRequest>);
    agree("WriteReply", agrees::<WriteReply>);
    agree("Failure", agrees::<Failure>);
    agree("Refusal", agrees::<Refusal>);
    agree("RangeRequest", agrees::<RangeRequest>);
    agree("NewestRequest", agrees::<NewestRequest>);
    agree("TrendsRequest", agrees::<TrendsRequest>);
    agree("Sample", agrees::<Sample>);
    agree("Samples", agrees::<Samples>);
    agree("FloatTrend", agrees::<FloatTrend>);
    agree("UnsignedTrend", agrees::<UnsignedTrend>);
    agree("Trend", agrees::<Trend>);
    agree("TrendRows", agrees::<TrendRows>);
    assert!(described.is_empty(), "described, but no message: {:?}", described.keys());
}

#[test]
fn the_description_names_reasons_and_limits() {
    let text = include_str!("../../../../docs/history-service.proto").replace("\n  // ", " ");
    for reason in Reason::ALL {
        assert!(text.contains(reason.name()), "{reason:?}");
        let failure = reason.with("why");
        assert_eq!(failure.reason(), reason);
        assert_eq!(failure.retry, reason.http_status() == 503, "{reason:?}");
        let caller = (400..500).contains(&reason.http_status());
        assert_eq!(failure.fault == "caller", caller, "{reason:?}");
    }
    for limit in ["10,000", "1,000", "5,000"] {
        assert!(text.contains(limit), "{limit}");
    }
    let limits = (WRITE_VALUES_MAX, READ_ITEMS_MAX, NEWEST_MAX, PAGE_ROWS);
    assert_eq!(limits, (10_000, 10_000, 1_000, 5_000));
}

#[test]
fn json_is_protobufs() {
    let text = r#"{"sequence":"7","values":[{"itemid":18446744073709551615,"clock":1,"float":5},
        {"host":"a","key":"k[\"x\"]","float":"-Infinity"},{"itemid":"3","unsigned":9},
        {"itemid":"4","log":{"text":"l","severity":2}},{"itemid":"5","text":""}]}"#;
    let request: WriteRequest = serde_json::from_str(text).unwrap();
    let value = |n: usize| &request.values[n];
    assert_eq!((value(0).itemid, value(0).float), (u64::MAX, Some(5.0)));
    assert_eq!((&*value(1).key, value(1).float), ("k[\"x\"]", Some(f64::NEG_INFINITY)));
    assert_eq!(value(2).unsigned, Some(9));
    assert_eq!(value(3).log.as_ref().map(|log| log.severity), Some(2));
    assert_eq!(value(4).text.as_deref(), Some(""));
    let written = serde_json::to_string(&request).unwrap();
    assert!(written.contains(r#""itemid":"18446744073709551615""#), "{written}");
    assert!(written.contains(r#""float":"-Infinity""#), "{written}");
    assert_eq!(serde_json::from_str::<WriteRequest>(&written).unwrap(), request);
    assert_eq!(WriteRequest::decode(&request.encode_to_vec()[..]).unwrap(), request);
}

#[test]
fn wrong_json_is_refused_with_what_is_wrong() {
    for (text, part) in [
        (r#"{"values":[{"itemid":-1}]}"#, "whole number"),
        (r#"{"values":[{"itemid":"x"}]}"#, "\"x\" is not a whole number"),
        (r#"{"values":[{"itemid":1.5}]}"#, "whole number"),
        (r#"{"values":[{"item":1}]}"#, "unknown field `item`, expected one of `itemid`"),
        (r#"{"values":[{"float":"much"}]}"#, "\"much\" is not a number"),
        (r#"{"values":[{"unsigned":1e30}]}"#, "whole number"),
        (r#"{"values":[{"clock":4294967296}]}"#, "u32"),
        (r#"{"values":{}}"#, "expected a list of at most 10000"),
        (r#"{"sequence":true}"#, "boolean `true`, expected a whole number"),
        (r#"{"values":[{"float":[1]}]}"#, "[1] is not a number"),
        (r#"{"values":[{"float":true}]}"#, "true is not a number"),
        ("", "EOF"),
        ("[", "EOF"),
    ] {
        let failure = from_json::<WriteRequest>(text.as_bytes()).unwrap_err();
        assert_eq!(failure.reason(), Reason::Invalid);
        assert!(failure.message.contains(part), "{text}: {failure:?}");
    }
}

#[test]
fn floats_keep_their_last_bit() {
    for number in
        [0.1_f64, 0.30000000000000004, 1.7976931348623157e308, 5e-324, -0.0, 1e23, 8.41e21]
    {
        for text in [format!("{number:?}"), format!("\"{number:?}\"")] {
            let text = format!("{{\"values\":[{{\"float\":{text}}}]}}");
            let request: WriteRequest = from_json(text.as_bytes()).unwrap();
            let read = request.values[0].float.unwrap();
            assert_eq!(read.to_bits(), number.to_bits(), "{text}");
        }
    }
    let none: WriteRequest = from_json(br#"{"values":[{"float":null}]}"#).unwrap();
    assert_eq!(none.values[0].float, None);
}

/// The longest list is read, one more is not, in either form.
fn bounded<M: Request + Serialize + PartialEq>(name: &str, most: usize, list: impl Fn(usize) -> M) {
    for (many, good) in [(0, true), (most, true), (most + 1, false)] {
        let message = list(many);
        let protobuf = from_protobuf::<M>(&message.encode_to_vec());
        let json = from_json::<M>(&serde_json::to_vec(&message).unwrap());
        for read in [protobuf, json] {
            match read {
                Ok(read) => assert!(good && read == message, "{name} {many}"),
                Err(failure) => {
                    assert!(!good && failure.reason() == Reason::Invalid, "{name} {many}");
                    assert!(failure.message.contains("send several"), "{failure:?}");
                }
            }
        }
    }
}

#[test]
fn lists_are_bounded_before_they_are_in_memory() {
    let values = |many| WriteRequest { values: vec![Value::default(); many], ..Default::default() };
    bounded("values", WRITE_VALUES_MAX, values);
    let items = |many| vec![ItemName::default(); many];
    bounded("range", READ_ITEMS_MAX, |many| RangeRequest {
        items: items(many),
        ..RangeRequest::default()
    });
    bounded("newest", READ_ITEMS_MAX, |many| NewestRequest { items: items(many), count: 1 });
    bounded("trends", READ_ITEMS_MAX, |many| TrendsRequest {
        items: items(many),
        ..TrendsRequest::default()
    });
}

#[test]
fn wrong_protobuf_is_refused() {
    for bytes in [
        &[0x80][..],
        &[0x00],
        &[0x12, 5, 1],
        &[0x12, 2, 0x1a, 9],
        &[0x12, 3, 0x1a, 1, 0xff],
        &[0x0a, 0],
        &[0x0c],
        &[0x13],
    ] {
        let failure = from_protobuf::<WriteRequest>(bytes).unwrap_err();
        assert_eq!(failure.reason(), Reason::Invalid, "{bytes:?}");
    }
    // A field of a later version is none of ours.
    assert_eq!(from_protobuf(&[0x9a, 6, 1, 7]), Ok(WriteRequest::default()));
}
