//! Problems of triggers.

use super::*;
use crate::text::{Person, Quoting, Script, Sent};

use About::{Problem, Recovery, Update};

#[test]
fn event_macros_in_a_problem_message() {
    let world = with_trigger();
    world.check(
        Problem,
        &[
            ("{EVENT.ID} {EVENT.SOURCE} {EVENT.OBJECT}", "100 0 0"),
            ("{EVENT.NAME}", "Load 2.93 KB on Web 1 above plain value"),
            ("{EVENT.DATE} {EVENT.TIME}", "2026.11.23 19:09:24"),
            ("{DATE} {TIME}", "2026.11.23 19:10:29"),
            ("{EVENT.AGE}|{EVENT.DURATION}", "1m 5s|1m 5s"),
            ("{EVENT.STATUS} {EVENT.VALUE} {EVENT.ACK.STATUS}", "PROBLEM 1 No"),
            ("{EVENT.SEVERITY} {EVENT.NSEVERITY}", "High 4"),
            ("{EVENT.OPDATA}", "k=2.93 KB f=2.72 %"),
            ("{EVENT.TAGS}", "empty, host:web-1, scope:cpu, scope:load, two words:a, \"b\""),
            (
                "{EVENT.TAGSJSON}",
                "[{\"tag\":\"scope\",\"value\":\"load\"},{\"tag\":\"two words\",\
                 \"value\":\"a, \\\"b\\\"\"},{\"tag\":\"host\",\"value\":\"web-1\"},\
                 {\"tag\":\"empty\",\"value\":\"\"},{\"tag\":\"scope\",\"value\":\"cpu\"}]",
            ),
            ("{EVENT.TAGS.scope}|{EVENT.TAGS.\"two words\"}", "cpu|a, \"b\""),
            ("{EVENT.TAGS.empty}|{EVENT.TAGS.nosuch}", "|*UNKNOWN*"),
            ("{EVENT.UPDATE.STATUS}{EVENT.UPDATE.HISTORY}{EVENT.ACK.HISTORY}", "0"),
            ("{EVENT.SYMPTOMS} {EVENT.CAUSE.NAME}", "*UNKNOWN* *UNKNOWN*"),
            ("{ACTION.ID} {ACTION.NAME}", "3 Main"),
            ("{ESC.HISTORY}", "Problem started: 2026.11.23 19:09:24 Age: 1m 5s"),
        ],
    );
    world.stay(
        Problem,
        "EVENT.RECOVERY.DATE EVENT.RECOVERY.ID EVENT.RECOVERY.NAME EVENT.RECOVERY.STATUS \
         EVENT.RECOVERY.TAGS EVENT.RECOVERY.TAGSJSON EVENT.RECOVERY.TAGS.scope \
         EVENT.RECOVERY.TIME EVENT.RECOVERY.VALUE EVENT.UPDATE.ACTION EVENT.UPDATE.DATE \
         EVENT.UPDATE.TIME EVENT.UPDATE.MESSAGE EVENT.UPDATE.NSEVERITY EVENT.UPDATE.SEVERITY \
         EVENT.UPDATE.ACTIONJSON EVENT.TIMESTAMP EVENT.UPDATE.TIMESTAMP USER.ALIAS USER.FULLNAME \
         USER.NAME USER.SURNAME USER.USERNAME ALERT.SENDTO ALERT.SUBJECT ALERT.MESSAGE TIMESTAMP \
         SERVICE.NAME DISCOVERY.RULE.NAME LLDRULE.NAME MAP.ID NO.SUCH EVENT.SOURCE1 EVENT.DATE2 \
         $NOSUCH #LLD 12 HOST.TARGET.HOST HOST.METADATA",
    );
}

#[test]
fn event_macros_in_a_recovery_message() {
    let world = ended(updated(with_trigger()));
    world.check(
        Recovery,
        &[
            ("{EVENT.ID} {EVENT.TIME} {EVENT.DURATION}", "100 19:09:24 1m 0s"),
            ("{EVENT.NAME}", "Load 2.93 KB on Web 1 above plain value"),
            ("{EVENT.STATUS} {EVENT.VALUE} {EVENT.ACK.STATUS}", "RESOLVED 0 Yes"),
            ("{EVENT.SEVERITY} {EVENT.NSEVERITY} {TRIGGER.SEVERITY}", "Disaster 5 High"),
            ("{EVENT.OPDATA}", "k=0 B f=2.72 %"),
            (
                "{EVENT.RECOVERY.ID} {EVENT.RECOVERY.DATE} {EVENT.RECOVERY.TIME}",
                "101 2026.11.23 19:10:24",
            ),
            ("{EVENT.RECOVERY.NAME}", "Load 0 B on Web 1 above plain value"),
            ("{EVENT.RECOVERY.STATUS} {EVENT.RECOVERY.VALUE}", "RESOLVED 0"),
            ("{EVENT.RECOVERY.TAGS}|{EVENT.RECOVERY.TAGS.scope}", "scope:load|load"),
            ("{EVENT.RECOVERY.TAGSJSON}", "[{\"tag\":\"scope\",\"value\":\"load\"}]"),
            ("{EVENT.TAGS.scope} {EVENT.UPDATE.STATUS}", "cpu 0"),
            (
                "{EVENT.UPDATE.HISTORY}",
                "2026.11.23 19:09:44 \"Inaccessible user\"\n\
                 Actions: acknowledged and changed severity from High to Disaster.\nseen \"it\"",
            ),
            (
                "{ESC.HISTORY}",
                "Problem started: 2026.11.23 19:09:24 Age: 1m 5s\n\
                 Problem ended: 2026.11.23 19:10:24",
            ),
            (
                "{TRIGGER.NAME} {TRIGGER.STATUS} {TRIGGER.VALUE}",
                "Load 0 B on Web 1 above plain value OK 0",
            ),
            ("{TRIGGER.EXPRESSION.EXPLAIN}", "0>0 and 2.71828>1.5"),
            ("{TRIGGER.EXPRESSION.RECOVERY.EXPLAIN}", "0=0"),
            ("{ITEM.VALUE} {ITEM.LASTVALUE} {FUNCTION.VALUE}", "0 B 0 B 0"),
            (
                "{TRIGGER.EVENTS.ACK}{TRIGGER.EVENTS.PROBLEM.ACK}{TRIGGER.EVENTS.PROBLEM.UNACK}\
                 {TRIGGER.EVENTS.UNACK}",
                "1101",
            ),
        ],
    );
    world
        .stay(Recovery, "EVENT.UPDATE.ACTION EVENT.UPDATE.MESSAGE EVENT.UPDATE.TIME USER.FULLNAME");
}

#[test]
fn trigger_macros() {
    let world = with_trigger();
    world.check(
        Problem,
        &[
            ("{TRIGGER.DESCRIPTION}", "Look at web-1: 2.72 %"),
            ("{TRIGGER.COMMENT}", "Look at web-1: 2.72 %"),
            (
                "{TRIGGER.EVENTS.ACK}{TRIGGER.EVENTS.PROBLEM.ACK}{TRIGGER.EVENTS.PROBLEM.UNACK}\
                 {TRIGGER.EVENTS.UNACK}",
                "0011",
            ),
            ("{TRIGGER.EXPRESSION}", "last(/web-1/k)>0 and last(/web-1/f)>1.5"),
            ("{TRIGGER.EXPRESSION.RECOVERY}", "last(/web-1/k)=0"),
            ("{TRIGGER.EXPRESSION.EXPLAIN}", "3000>0 and 2.71828>1.5"),
            ("{TRIGGER.EXPRESSION.RECOVERY.EXPLAIN}", "3000=0"),
            ("{TRIGGER.HOSTGROUP.NAME} {TRIGGER.ID}", "Group 30"),
            ("{TRIGGER.NAME}", "Load 2.93 KB on Web 1 above plain value"),
            ("{TRIGGER.NAME.ORIG}", "Load {ITEM.VALUE1} on {HOST.NAME} above {$PLAIN}"),
            ("{TRIGGER.SEVERITY} {TRIGGER.NSEVERITY}", "High 4"),
            ("{TRIGGER.STATUS} {TRIGGER.VALUE} {TRIGGER.TEMPLATE.NAME}", "PROBLEM 1 *UNKNOWN*"),
            ("{TRIGGER.URL}", "https://wiki.test/t?h=web-1&e=100"),
            ("{TRIGGER.URL.NAME}", "Runbook Web 1"),
        ],
    );
    world.stay(
        Problem,
        "TRIGGER.PROBLEM.EVENTS.PROBLEM.ACK TRIGGER.PROBLEM.EVENTS.PROBLEM.UNACK TRIGGER.STATE \
         TRIGGER.STATE.ERROR TRIGGER.ID1",
    );
}

#[test]
fn the_proxy_of_a_host_is_named() {
    let world = with_trigger();
    let proxy = [("proxyid", 7_u64.into()), ("name", "riga".into()), ("description", "d".into())];
    world.put(&table::PROXIES, &proxy);
    world.run(&format!("UPDATE hosts SET monitored_by = 1, proxyid = 7 WHERE hostid = {HOST}"));
    world.check(Problem, &[("{PROXY.NAME}|{PROXY.DESCRIPTION}|{PROXY.NAME3}", "riga|d|*UNKNOWN*")]);
}

#[test]
fn host_and_item_macros() {
    let world = with_trigger();
    world.check(
        Problem,
        &[
            ("{HOST.HOST} {HOST.NAME} {HOST.ID} {HOST.PORT}", "web-1 Web 1 10 10050"),
            ("{HOST.CONN} {HOST.IP} {HOST.DNS}", "127.0.0.1 127.0.0.1 web.test"),
            ("{HOST.DESCRIPTION}", "First host\nof two"),
            ("{HOSTNAME} {IPADDRESS}|{PROXY.NAME}|{PROXY.DESCRIPTION}", "web-1 127.0.0.1||"),
            ("{HOST.NAME2} {HOST.NAME3} {HOST.NAME5}", "Web 1 *UNKNOWN* *UNKNOWN*"),
            ("{HOST.NAME0}{HOST.NAME10}", "{HOST.NAME0}{HOST.NAME10}"),
            (
                "{INVENTORY.LOCATION}|{INVENTORY.OS}|{INVENTORY.NOSUCH}",
                "Row 7 \"b\"||{INVENTORY.NOSUCH}",
            ),
            ("{PROFILE.DEVICETYPE} {PROFILE.SERIALNO} {PROFILE.NOTES}", "server S1 n1\nn2"),
            ("{ITEM.DESCRIPTION}|{ITEM.DESCRIPTION.ORIG}", "Counts plain value|Counts {$PLAIN}"),
            ("{ITEM.ID} {ITEM.KEY} {ITEM.KEY2} {ITEM.KEY.ORIG2} {TRIGGER.KEY}", "20 k f f k"),
            ("{ITEM.NAME}|{ITEM.NAME.ORIG}", "Key plain value item|Key {$PLAIN} item"),
            ("{ITEM.VALUE}|{ITEM.LASTVALUE}|{ITEM.VALUE2}", "2.93 KB|2.93 KB|2.72 %"),
            ("{ITEM.VALUETYPE}{ITEM.VALUETYPE2}", "30"),
            ("{FUNCTION.VALUE}|{FUNCTION.VALUE2}|{FUNCTION.VALUE3}", "3000|2.71828|*UNKNOWN*"),
            ("{FUNCTION.RECOVERY.VALUE}|{FUNCTION.RECOVERY.VALUE2}", "3000|*UNKNOWN*"),
            ("{ITEM.LOG.AGE}{ITEM.LOG.DATE}{ITEM.LOG.SOURCE}", "*UNKNOWN**UNKNOWN**UNKNOWN*"),
            ("{ITEM.LOG.TIMESTAMP}{ITEM.LOG.EVENTID3}", "*UNKNOWN**UNKNOWN*"),
            ("{?last(//k)}|{?last(/{HOST.HOST}/{ITEM.KEY2})}", "3000|2.71828"),
            ("{?avg(/web-1/k,10m)}|{?last(//nosuch)}|{?nosuch(//k)}", "1500|*UNKNOWN*|*UNKNOWN*"),
            ("{{?last(//f)}.fmtnum(1)}|{?last(//k)*2}", "2.7|6000"),
        ],
    );
    world.stay(
        Problem,
        "ITEM.VALUE.TIME ITEM.VALUE.DATE ITEM.VALUE.AGE ITEM.VALUE.TIMESTAMP ITEM.LASTVALUE.TIME \
         ITEM.LASTVALUE.AGE ITEM.STATE ITEM.STATE.ERROR HOST.TARGET.CONN",
    );
}

#[test]
fn functions_on_macros() {
    with_trigger().check(
        Problem,
        &[
            ("{{ITEM.VALUE}.fmtnum(2)} {{ITEM.VALUE2}.fmtnum(2)}", "3000 2.72"),
            ("{{ITEM.LASTVALUE1}.regsub(\"([0-9])\", \"first \\1\")}", "first 3"),
            ("{{HOST.HOST}.iregsub(\"^(WEB)-.*\", \"[\\1]\")}", "[web]"),
            ("{{HOST.HOST}.regsub(\"^nomatch\", \"x\")}", ""),
            ("{{HOST.HOST}.regrepl(\"^web-.*\", \"www\")}", "www"),
            ("{{EVENT.SEVERITY}.lowercase()} {{EVENT.SEVERITY}.btoa()}", "high SGlnaA=="),
            ("{{INVENTORY.URL.A}.urlencode()}", "http%3A%2F%2Fx.test%2F%3Fa%3Db%26c"),
            ("{{INVENTORY.URL.A}.htmlencode()}", "http://x.test/?a=b&amp;c"),
            ("{{INVENTORY.LOCATION}.htmlencode()}", "Row 7 &quot;b&quot;"),
            ("{{INVENTORY.NOTES}.trim()} {{EVENT.SEVERITY}.ltrim(H)}", "*UNKNOWN* *UNKNOWN*"),
            ("{{EVENT.SEVERITY}.tr(a-z, A-Z)}", "HIGH"),
            ("{{EVENT.TAGS.scope}.uppercase()}", "CPU"),
            ("{{$PLAIN}.regsub(\"(plain)\", \"\\1!\")}", "plain!"),
            ("{{EVENT.DATE}.fmttime(%d/%m/%Y)}", "01/01/1970"),
            ("{{EVENT.TIMESTAMP}.fmttime(%Y)}", "{{EVENT.TIMESTAMP}.fmttime(%Y)}"),
            ("{{HOST.NAME}.fmtnum(2)} {{HOST.HOST}.nosuch()}", "*UNKNOWN* *UNKNOWN*"),
            ("{{NOSUCH.MACRO}.uppercase()}", "{{NOSUCH.MACRO}.uppercase()}"),
            ("{{HOST.HOST}.regsub(\"(\", \"\\1\")}", "*UNKNOWN*"),
            ("{{ALERT.SENDTO}.uppercase()}", "{{ALERT.SENDTO}.uppercase()}"),
            ("{{HOST.HOST}:k.last(0)}}", "{web-1:k.last(0)}}"),
        ],
    );
}

#[test]
fn user_macros_hide_secrets_and_do_not_nest() {
    let world = with_trigger();
    world.check(
        Problem,
        &[
            (
                "{$PLAIN}|{$CTX}|{$CTX:disk}|{$CTX:other}",
                "plain value|base value|context value|base value",
            ),
            ("{$HIDDEN}|{{$HIDDEN}.btoa()}|{$NOSUCH}", "******|KioqKioq|{$NOSUCH}"),
            ("{$NEST}", "{HOST.NAME} {$PLAIN}"),
        ],
    );
    let expander = world.expander(Problem, &[]);
    let sent = Sent::default();
    assert_eq!(expander.parameter("{$HIDDEN}", &anybody(), sent), "topsecret");
    let mut script = Script::default();
    assert_eq!(expander.command("x {$HIDDEN}", &script), "x topsecret");
    script.shown = true;
    assert_eq!(expander.command("x {$HIDDEN}", &script), "x ******");
    assert_eq!(expander.subject("{$HIDDEN}", &anybody()), "******");
}

#[test]
fn parameters_have_the_message() {
    let world = updated(with_trigger());
    let texts = ["{EVENT.SOURCE}{EVENT.VALUE}{EVENT.UPDATE.STATUS}", "{EVENT.TAGSJSON}"];
    let sent = Sent {
        sendto: "alice \"q\"",
        subject: "S {HOST.NAME}",
        message: "line\n{ALERT.SUBJECT} \\ ä",
    };
    for (about, text, expected) in [
        (Problem, "{ALERT.SENDTO}|{{ALERT.SENDTO}.uppercase()}", "alice \"q\"|ALICE \"Q\""),
        (Problem, "{ALERT.SUBJECT}|{ALERT.MESSAGE}", "S {HOST.NAME}|line\n{ALERT.SUBJECT} \\ ä"),
        (Problem, "{ALERT.SENDTO1}{NO.SUCH}{$NOSUCH}12", "{ALERT.SENDTO1}{NO.SUCH}{$NOSUCH}12"),
        (Problem, texts[0], "010"),
        (Update(1), texts[0], "011"),
        (Problem, "{USER.FULLNAME}", "{USER.FULLNAME}"),
        (Update(1), "{USER.FULLNAME}", "Inaccessible user"),
    ] {
        let expander = world.expander(about, &texts);
        assert_eq!(expander.parameter(text, &anybody(), sent), expected, "{text}");
    }
}

#[test]
fn values_in_commands_are_quoted_and_global_macros_are_not() {
    let world = updated(with_trigger());
    let expander = world.expander(Update(1), &[]);
    let target = Some(model::HostId(HOST));
    for (quoting, text, expected) in [
        (Quoting::None, "{EVENT.UPDATE.MESSAGE}", "seen \"it\""),
        (Quoting::Shell, "x {EVENT.UPDATE.MESSAGE}", "x 'seen \"it\"'"),
        (Quoting::Shell, "x \"{EVENT.UPDATE.MESSAGE}\"", "x \"seen \\\"it\\\"\""),
        (Quoting::Shell, "x '{{EVENT.UPDATE.MESSAGE}.regsub(\"(.e)\",\\1's)}'", "x 'se'\\''s'"),
        (Quoting::Shell, "x {HOST.TARGET.NAME} {HOST.TARGET.HOST}", "x 'Web 1' web-1"),
        (Quoting::Shell, "x {$PLAIN} {$NOSUCH}", "x 'plain value' {$NOSUCH}"),
        (Quoting::Terminal, "x {MANUALINPUT} {USER.NAME}", "x 'a ; reload' 'A '\\''B'"),
    ] {
        let person = Person {
            id: 1,
            username: "u".into(),
            name: "A 'B".into(),
            surname: String::new(),
            groups: Vec::new(),
        };
        let (user, input) = (Some(&person), Some("a\n; reload"));
        let script = Script { target, quoting, user, input, shown: false };
        assert_eq!(expander.command(text, &script), expected, "{text}");
    }
}

#[test]
fn commands_have_their_target() {
    let world = updated(with_trigger());
    let expander = world.expander(Update(1), &[]);
    let target = Some(model::HostId(HOST));
    for (text, target, expected) in [
        (
            "{HOST.TARGET.HOST} {HOST.TARGET.NAME} {HOST.TARGET.CONN}",
            target,
            "web-1 Web 1 127.0.0.1",
        ),
        ("{HOST.TARGET.HOST} {HOST.TARGET.NOSUCH}", None, "*UNKNOWN* {HOST.TARGET.NOSUCH}"),
        (
            "{EVENT.UPDATE.MESSAGE} {USER.FULLNAME}",
            None,
            "seen \"it\" Zabbix Administrator (Admin)",
        ),
        ("{ALERT.SENDTO}", None, "{ALERT.SENDTO}"),
    ] {
        let script = Script { target, ..Script::default() };
        assert_eq!(expander.command(text, &script), expected, "{text}");
    }
}

#[test]
fn times_are_those_of_the_recipient() {
    let world = ended(with_trigger());
    let text = "{EVENT.DATE} {EVENT.TIME}, {EVENT.RECOVERY.TIME} {{EVENT.TIMESTAMP}.fmttime(%H)}";
    let rest = "{{EVENT.TIMESTAMP}.fmttime(%H)}";
    world.put(
        &table::SETTINGS,
        &[("name", "default_timezone".into()), ("value", "Europe/Berlin".into())],
    );
    for (zone, expected) in [
        ("Asia/Tokyo", "2026.11.24 04:09:24, 04:10:24"),
        ("America/St_Johns", "2026.11.23 15:39:24, 15:40:24"),
        ("UTC", "2026.11.23 19:09:24, 19:10:24"),
        ("default", "2026.11.23 20:09:24, 20:10:24"),
        ("No/Such", "2026.11.23 20:09:24, 20:10:24"),
    ] {
        let recipient = Recipient::new(&world.config.snapshot(), zone, Sees::Everybody);
        let made = world.expander(Recovery, &[text]).expand(text, &recipient);
        assert_eq!(made, format!("{expected} {rest}"));
    }
}

#[test]
fn without_operational_data_stand_the_values() {
    let world = with_trigger();
    world.run(&format!("UPDATE triggers SET opdata = '' WHERE triggerid = {TRIGGER}"));
    world.put(
        &table::TRIGGER_TAGS,
        &[("triggertagid", 9_u64.into()), ("triggerid", TRIGGER.into())],
    );
    world.check(Problem, &[("{EVENT.OPDATA}", "2.93 KB, 2.72 %")]);
}

#[test]
fn texts_without_values_read_no_history() {
    let world = with_trigger();
    let text = "{EVENT.NAME} {HOST.NAME} {ITEM.KEY} {ITEM.NAME} {TRIGGER.EXPRESSION} {EVENT.TAGS}";
    world.text(Problem, text);
    assert_eq!(world.shelf.reads.load(SeqCst), 0);
    // Each value is read once, however many texts and recipients have it.
    let texts = ["{ITEM.VALUE}{ITEM.VALUE1}{FUNCTION.VALUE}{?last(//k)}"];
    let expander = world.expander(Problem, &texts);
    for recipient in [anybody(), admin(), anybody()] {
        expander.expand(texts[0], &recipient);
    }
    assert_eq!(world.shelf.reads.load(SeqCst), 3);
}

#[test]
fn formulas_about_other_hosts_are_for_super_admins() {
    let world = with_trigger();
    let host = ("hostid", 60_u64.into());
    world.put(&table::HOSTS, &[host.clone(), ("host", "hidden".into()), ("name", "H".into())]);
    let item = [("itemid", 600_u64.into()), host, ("key_", "k".into()), ("value_type", 3.into())];
    world.put(&table::ITEMS, &item);
    let text = "{?count(/hidden/k,1h)} {?last(//k)}";
    let expander = world.expander(Problem, &[text]);
    assert_eq!(expander.expand(text, &admin()), "0 3000");
    assert_eq!(expander.expand(text, &anybody()), "*UNKNOWN* 3000");
}

#[test]
fn a_deleted_trigger_leaves_the_event() {
    let world = with_trigger();
    world.run(&format!("DELETE FROM functions WHERE triggerid = {TRIGGER}"));
    let deleted: Result<(), DbError> =
        world.config.write(|edit| edit.delete(&table::TRIGGERS, "triggerid", &[TRIGGER]));
    deleted.unwrap();
    world.check(
        Problem,
        &[
            ("{EVENT.NAME}", "Load 2.93 KB on Web 1 above plain value"),
            (
                "{TRIGGER.NAME}|{HOST.NAME}|{ITEM.VALUE}|{EVENT.OPDATA}",
                "*UNKNOWN*|*UNKNOWN*|*UNKNOWN*|*UNKNOWN*",
            ),
            ("{?last(/web-1/k)}", "*UNKNOWN*"),
        ],
    );
}

#[test]
fn groups_and_templates_that_the_recipient_may_read() {
    let world = with_trigger();
    for (id, name, kind) in [(6_u64, "Secret", 0), (7, "Denied", 0), (8, "Templates", 1)] {
        world.put(
            &table::GROUPS,
            &[("groupid", id.into()), ("name", name.into()), ("type", Value::from(kind))],
        );
    }
    for group in [6_u64, 7] {
        world.put(&table::HOST_GROUPS, &[("hostid", HOST.into()), ("groupid", group.into())]);
    }
    right(&world, 7, 0);
    world.put(
        &table::HOSTS,
        &[
            ("hostid", 50_u64.into()),
            ("kind", Value::from(1)),
            ("host", "T".into()),
            ("name", "Linux".into()),
        ],
    );
    world.put(&table::HOST_GROUPS, &[("hostid", 50_u64.into()), ("groupid", 8_u64.into())]);
    world.put(&table::ITEMS, &[("itemid", 51_u64.into()), ("hostid", 50_u64.into())]);
    world.put(&table::TRIGGERS, &[("triggerid", 52_u64.into()), ("expression", "{53}>0".into())]);
    world.put(
        &table::FUNCTIONS,
        &[
            ("functionid", 53_u64.into()),
            ("triggerid", 52_u64.into()),
            ("itemid", 51_u64.into()),
            ("name", "last".into()),
        ],
    );
    world.run(&format!("UPDATE triggers SET templateid = 52 WHERE triggerid = {TRIGGER}"));
    let text = "{TRIGGER.HOSTGROUP.NAME}|{TRIGGER.TEMPLATE.NAME}";
    let made = |recipient: &Recipient| world.expander(Problem, &[text]).expand(text, recipient);
    assert_eq!(made(&admin()), "Denied, Group, Secret|Linux");
    assert_eq!(made(&anybody()), "Group|*UNKNOWN*");
    right(&world, 8, 3);
    assert_eq!(made(&anybody()), "Group|Linux");
    let stranger = Sees::Groups { user: 9, groups: Vec::new() };
    let stranger = Recipient { sees: stranger, ..anybody() };
    assert_eq!(made(&stranger), "*UNKNOWN*|*UNKNOWN*");
}

#[test]
fn expressions_show_parameters_and_user_macros() {
    let world = with_trigger();
    world.run("UPDATE functions SET name = 'count', parameter = '$,10m,\"gt\",\"1\"' WHERE functionid = 1");
    world.put(
        &table::TRIGGER_TAGS,
        &[("triggertagid", 9_u64.into()), ("triggerid", TRIGGER.into())],
    );
    let expression = "{1}>{$LIMIT} and {2}<>\"{$PLAIN}\" or {$HIDDEN}=1";
    world.run(&format!(
        "UPDATE triggers SET expression = '{expression}' WHERE triggerid = {TRIGGER}"
    ));
    world.put(
        &table::TRIGGER_TAGS,
        &[("triggertagid", 10_u64.into()), ("triggerid", TRIGGER.into())],
    );
    world.check(
        Problem,
        &[
            (
                "{TRIGGER.EXPRESSION}",
                "count(/web-1/k,10m,\"gt\",\"1\")>{$LIMIT} and last(/web-1/f)<>\"{$PLAIN}\" \
                 or {$HIDDEN}=1",
            ),
            (
                "{TRIGGER.EXPRESSION.EXPLAIN}",
                "1>{$LIMIT} and 2.71828<>\"{$PLAIN}\" or \"******\"=1",
            ),
        ],
    );
}
