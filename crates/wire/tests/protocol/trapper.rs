//! Which request a text is.

use wire::trapper::{QueueKind, Request, ZabbixStats};
use wire::{Content, Moment, Target};

const NOW: Moment = Moment { clock: 2000, ns: 0 };

fn parse(text: &str) -> Request<'_> {
    Request::parse(text, NOW).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn requests_are_known_by_name_wherever_it_stands() {
    for text in [
        r#"{"request":"sender data","data":[]}"#,
        r#"{ "request" : "sender data" , "data" : [] }"#,
        r#"{"data":[],"request":"sender data"}"#,
        r#"{"request":"sender\u0020data","data":[]}"#,
    ] {
        assert!(matches!(parse(text), Request::SenderData(_)), "{text}");
    }
    let unknown = |text| match parse(text) {
        Request::Unknown(name) => name.into_owned(),
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(unknown(r#"{"request":"foo"}"#), "foo");
    assert_eq!(unknown("{}"), "");
    assert_eq!(unknown(""), "");
    assert_eq!(unknown("nothing"), "nothing");
    assert_eq!(unknown(r#"{"request":5}"#), "5");
    assert!(Request::parse(r#"{"request":"foo""#, NOW).is_err());
}

#[test]
fn old_texts_are_read() {
    assert!(matches!(
        parse("ZBX_GET_ACTIVE_CHECKS\nZabbix server\n"),
        Request::OldActiveChecks { host: "Zabbix server" }
    ));
    let value = |text| match parse(text) {
        Request::OldValue(reading) => reading,
        other => panic!("{text}: {other:?}"),
    };
    let reading = value("cmp:txt:plain: value:x\nmore");
    assert_eq!(reading.target, Target::Key { host: "cmp".into(), key: "txt".into() });
    assert_eq!(reading.content, Content::Value("plain: value:x\nmore".into()));
    let reading = value(
        "<req><host>Y21w</host><key>bG9n</key><data>eG1s</data><lastlogsize>MTA=</lastlogsize>\
         <timestamp>MTYwMDAwMDAwMA==</timestamp><source>c3Jj</source><severity>Mw==</severity></req>",
    );
    assert_eq!(reading.target, Target::Key { host: "cmp".into(), key: "log".into() });
    assert_eq!(reading.content, Content::Value("xml".into()));
    let log = reading.log.unwrap();
    assert_eq!((log.timestamp, log.source.as_deref()), (Some(1_600_000_000), Some("src")));
    let empty = value("<req><host>Y21w</host><key>dHh0</key></req>");
    assert_eq!((empty.content, empty.log), (Content::Value("".into()), None));
    assert!(matches!(parse("<req><foo/>"), Request::OldNothing { xml: true }));
    assert!(matches!(parse("<req><host>%%</host></req>"), Request::OldNothing { xml: true }));
    assert!(matches!(parse("cmp:txt"), Request::OldNothing { xml: false }));
}

#[test]
fn front_end_requests_are_typed() {
    let Request::QueueGet(queue) =
        parse(r#"{"request":"queue.get","sid":"s","type":"details","limit":"10"}"#)
    else {
        panic!("not queue.get")
    };
    assert_eq!(
        (queue.sid.as_ref(), queue.kind, queue.limit),
        ("s", Some(QueueKind::Details), Some(10))
    );
    let Request::StatusGet(status) = parse(r#"{"request":"status.get","type":"full","sid":"s"}"#)
    else {
        panic!("not status.get")
    };
    assert!(status.full);
    for (text, expected) in [
        (r#"{"request":"zabbix.stats"}"#, Some(ZabbixStats::All)),
        (
            r#"{"request":"zabbix.stats","type":"queue","params":{"from":"5m"}}"#,
            Some(ZabbixStats::Queue { from: Some("5m".into()), to: None }),
        ),
        (
            r#"{"request":"zabbix.stats","type":"queue","params":{"from":"","to":10}}"#,
            Some(ZabbixStats::Queue { from: Some(String::new()), to: Some("10".into()) }),
        ),
        (r#"{"request":"zabbix.stats","type":"other"}"#, Some(ZabbixStats::All)),
        (r#"{"request":"zabbix.stats","type":"queue","params":"x"}"#, None),
        (r#"{"request":"zabbix.stats","type":"queue"}"#, None),
    ] {
        let got = Request::parse(text, NOW).ok().map(|request| match request {
            Request::ZabbixStats(stats) => stats,
            other => panic!("{other:?}"),
        });
        assert_eq!(got, expected, "{text}");
    }
    let Request::ExpressionsEvaluate(evaluate) = parse(
        r#"{"request":"expressions.evaluate","sid":"s","data":{"expressions":["1<2","\"a\""]}}"#,
    ) else {
        panic!("not expressions.evaluate")
    };
    assert_eq!(evaluate.expressions, ["1<2", "\"a\""]);
}

#[test]
fn an_item_test_is_typed() {
    let Request::ItemTest(test) = parse(
        r#"{"request":"item.test","sid":"s","data":{"options":{"single":false,"state":1,
        "history":{"value":"5","timestamp":"now-5m"},"runtime_error":"e"},"item":{"type":15,
        "key":"x","params":"1+1","value_type":"0","value":"v","steps":[{"type":1,"params":"10",
        "error_handler":"0","error_handler_params":""}]},"host":{"hostid":"10084"}}}"#,
    ) else {
        panic!("not item.test")
    };
    assert_eq!((test.item_type, test.value_type, test.params.as_ref()), (Some(15), Some(0), "1+1"));
    assert_eq!(test.value.as_deref(), Some("v"));
    assert_eq!((test.single, test.not_supported), (false, true));
    assert_eq!(test.history, Some(("5".into(), "now-5m".into())));
    let step = &test.steps[0];
    assert_eq!((step.step_type.as_u64(), step.params.as_str()), (Some(1), "10"));
    assert_eq!(test.host.unwrap().get(), r#"{"hostid":"10084"}"#);
    for text in [
        r#"{"request":"item.test","sid":"s"}"#,
        r#"{"request":"item.test","data":{}}"#,
        r#"{"request":"item.test","data":{"item":{"steps":5}}}"#,
    ] {
        assert!(Request::parse(text, NOW).is_err(), "{text}");
    }
}
