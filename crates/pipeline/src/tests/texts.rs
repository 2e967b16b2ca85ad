//! Macros in names and tags of events.

use std::sync::Arc;

use config::snapshot::{Interface, ItemExtra};
use eval::macros::MacroDef;
use eval::units::{Mapping, MappingKind};
use model::{HostId, InterfaceId, TriggerFinding, ValueType};

use crate::testing::{Rig, host, item, snapshot, trigger};

fn rig(description: &str, event_name: &str, opdata: &str, tag: &str) -> Rig {
    let mut web = host(1);
    web.interfaces = Box::from([Interface {
        id: InterfaceId(1),
        kind: 1,
        main: true,
        use_ip: true,
        ip: "127.0.0.9".into(),
        dns: "d.example".into(),
        port: 10_050,
        details: "".into(),
    }]);
    web.tags = Box::from([("htag".into(), "{HOST.HOST}".into())]);
    let mut bytes = item(1, 1, "m1", ValueType::Unsigned);
    let extra = |extra: ItemExtra| Some(Arc::new(extra));
    bytes.extra = extra(ItemExtra { units: "B".into(), ..ItemExtra::default() });
    let mut mapped = item(2, 1, "m2", ValueType::Float);
    mapped.extra = extra(ItemExtra { valuemap: 3, ..ItemExtra::default() });
    let mut rule = trigger(1, "{1}>5 and {2}>=0", &[1, 2]);
    rule.description = description.into();
    rule.event_name = event_name.into();
    rule.opdata = opdata.into();
    rule.tags = Box::from([("t{HOST.HOST}".into(), tag.into())]);
    let mut config = snapshot(vec![web], vec![bytes, mapped], vec![rule]);
    let five = Mapping { kind: MappingKind::Equal, value: "5".into(), newvalue: "Five".into() };
    config.valuemaps = Arc::new([(3, Arc::from([five]))].into());
    let macros = Arc::make_mut(&mut config.macros);
    macros.of_host.insert(HostId(1), vec![MacroDef::text("{$M}", "macroval").unwrap()]);
    Rig::new(config)
}

/// The event that values 2000 B and 5 open.
fn opened(rig: &mut Rig) -> (String, String, Vec<(String, String)>) {
    rig.send_many(&[(1, "2000", 1), (2, "5", 1)]);
    match rig.findings.try_recv() {
        Some(TriggerFinding::Problem { name, opdata, tags, .. }) => (name, opdata, tags),
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_from_descriptions() {
    for (text, expected) in [
        ("plain", "plain"),
        ("{HOST.HOST}|{HOST.NAME1}|{HOST.NAME2}", "h1|Host 1|*UNKNOWN*"),
        ("{HOST.IP}|{HOST.DNS}|{HOST.CONN}|{HOST.PORT}", "127.0.0.9|d.example|127.0.0.9|10050"),
        ("{HOST.ID}|{FOO}|{ITEM.NAME}|{ITEM.KEY}", "{HOST.ID}|{FOO}|{ITEM.NAME}|{ITEM.KEY}"),
        ("{ITEM.VALUE}|{ITEM.VALUE2}|{ITEM.VALUE3}", "1.95 KB|Five (5)|*UNKNOWN*"),
        ("{ITEM.LASTVALUE1}|{{ITEM.VALUE1}.regsub(\"0+\",\"[\\0]\")}", "1.95 KB|[000]"),
        ("{$M}|{$UNDEF}", "macroval|{$UNDEF}"),
        ("$1 $2 $3 {$M}", "5 0  macroval"),
        ("{?last(//m1)}", "{?last(//m1)}"),
    ] {
        assert_eq!(opened(&mut rig(text, "", "", "")).0, expected, "{text}");
    }
}

#[test]
fn event_names() {
    for (text, expected) in [
        ("{?last(/h1/m1)}|{?avg(/h1/m1,1h)*2}|{?last(//m1)}", "2000|4000|2000"),
        ("{?last(/{HOST.HOST}/m2)}|{?last(/nohost/x)}|{?bad(", "5|*UNKNOWN*|{?bad("),
        ("{TRIGGER.EXPRESSION.EXPLAIN}", "2000>5 and 5>=0"),
        ("{TRIGGER.EXPRESSION.RECOVERY.EXPLAIN}", "*UNKNOWN*"),
        ("{FUNCTION.VALUE}|{FUNCTION.VALUE2}|{FUNCTION.VALUE3}", "2000|5|*UNKNOWN*"),
        ("{{ITEM.LASTVALUE2}.regsub(\"(.)\",\"x\\1\")}", "x5"),
        ("{EVENT.NAME}|{TRIGGER.SEVERITY}", "{EVENT.NAME}|{TRIGGER.SEVERITY}"),
    ] {
        assert_eq!(opened(&mut rig("d", text, "", "")).0, expected, "{text}");
    }
}

#[test]
fn operational_data_and_tags() {
    let tag = "{ITEM.VALUE2} {$M} {?last(//m1)} {{ITEM.VALUE}.regsub(\"(.)\",\"\\1\")}";
    let (_, opdata, tags) = opened(&mut rig("d", "", "o {ITEM.LASTVALUE1}", tag));
    assert_eq!(opdata, "o 1.95 KB");
    let tags: Vec<(&str, &str)> =
        tags.iter().map(|(tag, value)| (tag.as_str(), value.as_str())).collect();
    assert_eq!(tags, [("th1", "Five (5) macroval {?last(//m1)} 2"), ("htag", "h1")]);
}

#[test]
fn recovery_events_have_names_of_their_own() {
    let mut rig = rig("at {ITEM.VALUE}", "", "", "");
    opened(&mut rig);
    rig.send(1, &[("1", 9)]);
    assert_eq!(rig.found(), ["1 ok @9 at 1 B"]);
}
