//! Macros in names and tags of events.

use std::sync::Arc;

use config::snapshot::{Interface, ItemExtra, TriggerRecovery};
use eval::macros::{MacroDef, MacroKind};
use eval::units::{Mapping, MappingType};
use model::{
    HostId, InterfaceId, ItemId, LogMeta, Payload, Timestamp, TriggerFinding, Value, ValueType,
};

use crate::testing::{Rig, START_S, host, item, snapshot, trigger};

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
        snmp: None,
        ipmi: None,
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
    let five = Mapping { kind: MappingType::Equal, value: "5".into(), newvalue: "Five".into() };
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
        ("{HOST.HOST}|{HOST.NAME1}|{HOST.NAME2}|{HOST.NAME3}", "h1|Host 1|Host 1|*UNKNOWN*"),
        ("{HOST.IP}|{HOST.DNS}|{HOST.CONN}|{HOST.PORT}", "127.0.0.9|d.example|127.0.0.9|10050"),
        ("{HOST.ID}|{FOO}|{ITEM.NAME}|{ITEM.KEY}", "{HOST.ID}|{FOO}|{ITEM.NAME}|{ITEM.KEY}"),
        ("{ITEM.VALUE}|{ITEM.VALUE2}|{ITEM.VALUE3}", "1.95 KB|Five (5)|*UNKNOWN*"),
        ("{ITEM.LASTVALUE1}|{{ITEM.VALUE1}.regsub(\"0+\",\"[\\0]\")}", "1.95 KB|[000]"),
        ("{$M}|{$UNDEF}", "macroval|{$UNDEF}"),
        ("$1 $2 $3 {$M}", "5 0 $3 macroval"),
        ("{?last(//m1)}", "2000"),
        ("{{ITEM.VALUE}} {{HOST.HOST}}", "{1.95 KB} {h1}"),
        (
            "{HOSTNAME} {IPADDRESS} {HOST.HOST0} {HOST.HOST10}",
            "h1 127.0.0.9 {HOST.HOST0} {HOST.HOST10}",
        ),
        (
            "{INVENTORY.OS} {TRIGGER.ID} {DATE} {TIMESTAMP}",
            "{INVENTORY.OS} {TRIGGER.ID} {DATE} {TIMESTAMP}",
        ),
        (
            "{{ITEM.VALUE}.fmtnum(2)} {{$M}.uppercase()} {{NO}.btoa()}",
            "2000 MACROVAL {{NO}.btoa()}",
        ),
        ("{{HOST.HOST}.nosuch()} {{HOST.HOST}.regsub(x)}", "*UNKNOWN* *UNKNOWN*"),
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
        ("{TRIGGER.EXPRESSION.RECOVERY.EXPLAIN}", "{TRIGGER.EXPRESSION.RECOVERY.EXPLAIN}"),
        (
            "{?last(/{HOST.HOST}/{ITEM.KEY2})}|{?{ITEM.VALUE}+1}|{?1/3}",
            "5|*UNKNOWN*|0.33333333333333331",
        ),
        (
            "$1|{ITEM.LOG.SOURCE}|{TIME1}|{FUNCTION.RECOVERY.VALUE}",
            "5|*UNKNOWN*|{TIME1}|{FUNCTION.RECOVERY.VALUE}",
        ),
        ("{FUNCTION.VALUE}|{FUNCTION.VALUE2}|{FUNCTION.VALUE3}", "2000|5|*UNKNOWN*"),
        ("{{ITEM.LASTVALUE2}.regsub(\"(.)\",\"x\\1\")}", "x5"),
        ("{EVENT.NAME}|{TRIGGER.SEVERITY}", "{EVENT.NAME}|{TRIGGER.SEVERITY}"),
    ] {
        assert_eq!(opened(&mut rig("d", text, "", "")).0, expected, "{text}");
    }
}

#[test]
fn operational_data_and_tags() {
    let tag = " {ITEM.VALUE2} {$M} {?last(//m1)} {{ITEM.VALUE}.regsub(\"(.)\",\"\\1\")} ";
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

/// A rig whose host has an inventory, whose item has tags, and whose macros are secret.
fn secretive(event_name: &str, tag: &str) -> Rig {
    let mut web = host(1);
    web.inventory = Some(Box::from([("os".into(), "Plan 9".into())]));
    web.tags = Box::from([("h".into(), tag.into())]);
    let mut counted = item(1, 1, "m1", ValueType::Unsigned);
    let tags = Box::from([("i".into(), tag.into())]);
    counted.extra = Some(Arc::new(ItemExtra { tags, ..ItemExtra::default() }));
    let mut other = item(2, 1, "m2", ValueType::Unsigned);
    let tags = Box::from([("never".into(), "of recovery only".into())]);
    other.extra = Some(Arc::new(ItemExtra { tags, ..ItemExtra::default() }));
    let mut rule = trigger(7, "{1}>5 and {$SECRET}<>{$NUMBER}", &[1, 2]);
    rule.recovery = TriggerRecovery::RecoveryExpression(crate::testing::expression("{2}=1"));
    rule.event_name = event_name.into();
    rule.opdata = event_name.into();
    rule.tags = Box::from([("t".into(), tag.into())]);
    let mut config = snapshot(vec![web], vec![counted, other], vec![rule]);
    let hidden = |name: &str, kind: MacroKind| MacroDef {
        kind,
        ..MacroDef::text(name, "never-show-this").unwrap()
    };
    let macros = Arc::make_mut(&mut config.macros);
    macros.of_host.insert(
        HostId(1),
        vec![
            hidden("{$SECRET}", MacroKind::Secret),
            hidden("{$VAULT}", MacroKind::Vault),
            MacroDef::text("{$NUMBER}", "41").unwrap(),
        ],
    );
    Rig::new(config)
}

#[test]
fn secrets_stay_secret_in_every_text() {
    for (text, expected) in [
        ("{$SECRET} {$VAULT}", "****** ******"),
        ("{{$SECRET}.regsub(\"^(.)\",\"<\\1>\")} {{$VAULT}.btoa()}", "<*> KioqKioq"),
        ("{?{$SECRET}}|{?{$NUMBER}+1}", "******|42"),
        ("{TRIGGER.EXPRESSION.EXPLAIN}", "2000>5 and \"******\"<>41"),
        ("{FUNCTION.VALUE}|{FUNCTION.VALUE2}", "2000|*UNKNOWN*"),
    ] {
        let mut rig = secretive(text, text);
        rig.send_many(&[(2, "0", 1), (1, "2000", 1)]);
        let found = rig.findings.try_recv();
        assert!(!format!("{found:?}").contains("never"), "{text}: {found:?}");
        match found {
            Some(TriggerFinding::Problem { name, .. }) => assert_eq!(name, expected, "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn tags_of_hosts_and_items() {
    let of = |tag: &str| {
        let mut rig = secretive("", tag);
        rig.send_many(&[(2, "0", 1), (1, "2000", 1)]);
        match rig.findings.try_recv() {
            Some(TriggerFinding::Problem { tags, .. }) => {
                tags.into_iter().map(|(_, value)| value).collect::<Vec<_>>().join("|")
            }
            other => panic!("{other:?}"),
        }
    };
    for (text, trigger, other) in [
        ("{INVENTORY.OS}", "Plan 9", "Plan 9"),
        ("{INVENTORY.OS1}", "Plan 9", "{INVENTORY.OS1}"),
        ("<{INVENTORY.ALIAS}>", "<>", "<>"),
        ("{HOST.ID} {TRIGGER.ID}", "1 7", "1 7"),
        ("{HOST.HOST1}", "h1", "{HOST.HOST1}"),
        ("{ITEM.VALUE}", "2000", "{ITEM.VALUE}"),
        ("{HOSTNAME}", "{HOSTNAME}", "{HOSTNAME}"),
        ("{HOST.IP}", "*UNKNOWN*", "*UNKNOWN*"),
        ("{$SECRET}", "******", "******"),
    ] {
        assert_eq!(of(text), [trigger, other, other].join("|"), "{text}");
    }
}

#[test]
fn without_inventory() {
    let mut rule = trigger(1, "{1}>5", &[1]);
    rule.tags = Box::from([("t".into(), "{INVENTORY.OS}".into())]);
    let mut web = host(1);
    web.tags = Box::from([("h".into(), "{INVENTORY.OS} {HOST.IP}".into())]);
    let mut rig =
        Rig::new(snapshot(vec![web], vec![item(1, 1, "m1", ValueType::Unsigned)], vec![rule]));
    rig.send(1, &[("9", 1)]);
    let Some(TriggerFinding::Problem { tags, .. }) = rig.findings.try_recv() else { panic!() };
    let values: Vec<&str> = tags.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values, ["*UNKNOWN*", "{INVENTORY.OS} *UNKNOWN*"]);
}

#[test]
fn what_log_lines_carry() {
    let text = "{ITEM.LOG.SOURCE}|{ITEM.LOG.SEVERITY}|{ITEM.LOG.NSEVERITY}|{ITEM.LOG.EVENTID}|\
                {ITEM.LOG.DATE}|{ITEM.LOG.TIME}|{ITEM.LOG.TIMESTAMP}|{ITEM.VALUE}";
    for (key, written, severity, expected) in [
        (
            "eventlog[System]",
            1_700_000_000,
            4,
            "origin|Error|4|77|2023.11.14|22:13:20|*UNKNOWN*|line",
        ),
        ("eventlog[System]", 0, 5, "origin|unknown|5|77|1970.01.01|00:00:00|*UNKNOWN*|line"),
        (
            "log[/var/log/x]",
            1_700_000_000,
            4,
            "*UNKNOWN*|*UNKNOWN*|*UNKNOWN*|*UNKNOWN*|2023.11.14|22:13:20|*UNKNOWN*|line",
        ),
    ] {
        let mut rule = trigger(1, "length({1})>0", &[1]);
        rule.event_name = text.into();
        let mut config = snapshot(vec![host(1)], vec![item(1, 1, key, ValueType::Log)], vec![rule]);
        Arc::make_mut(&mut config.settings).timezone = "UTC".into();
        let mut rig = Rig::new(config);
        let meta = LogMeta { timestamp: written, source: "origin".into(), severity, eventid: 77 };
        rig.take(vec![Value {
            item: ItemId(1),
            at: Timestamp::from_s(START_S + 1),
            payload: Payload::Log(Box::new(("line".into(), meta))),
        }]);
        match rig.findings.try_recv() {
            Some(TriggerFinding::Problem { name, .. }) => assert_eq!(name, expected, "{key}"),
            other => panic!("{other:?}"),
        }
    }
}
