//! Internal events: items, low-level discovery rules and triggers that do not work.

use super::*;

use About::{Problem, Recovery};

const ERROR: &str = "Value of type \"string\" is not suitable";

fn with_event(object: i64, id: u64) -> World {
    let world = with_host();
    let columns = |clock: u32, value: i64, name: &str| -> Vec<(&'static str, Value)> {
        vec![("clock", clock.into()), ("value", value.into()), ("name", name.into())]
    };
    event(&world, PROBLEM, (3, object, id), &columns(START, 1, ERROR));
    event(&world, RECOVERY, (3, object, id), &columns(START + 60, 0, ""));
    world
}

#[test]
fn an_item_that_is_not_supported() {
    let world = with_event(4, ITEM_K);
    world.check(
        Problem,
        &[
            ("{EVENT.NAME}", ERROR),
            ("{EVENT.SOURCE}{EVENT.OBJECT} {EVENT.STATUS} {EVENT.VALUE}", "34 Not supported 1"),
            ("{EVENT.AGE} {EVENT.DURATION} [{EVENT.TAGS}] {EVENT.TAGSJSON}", "1m 5s 1m 5s [] []"),
            ("{ITEM.NAME} {ITEM.KEY} {ITEM.ID} {ITEM.VALUETYPE}", "Key plain value item k 20 3"),
            ("{ITEM.STATE}: {ITEM.STATE.ERROR}", &format!("Not supported: {ERROR}")),
            ("{HOST.NAME} {HOST.CONN} {INVENTORY.LOCATION}", "Web 1 127.0.0.1 Row 7 \"b\""),
            ("{TRIGGER.KEY} {$PLAIN} [{PROXY.NAME}]", "k plain value []"),
            ("{ESC.HISTORY}", "Problem started: 2026.11.23 19:09:24 Age: 1m 5s"),
            ("{HOST.NAME2}", "*UNKNOWN*"),
        ],
    );
    world.check(
        Recovery,
        &[
            ("{EVENT.NAME}|{EVENT.RECOVERY.NAME}|", &format!("{ERROR}||")),
            ("{EVENT.STATUS} {EVENT.RECOVERY.STATUS} {EVENT.VALUE}", "Normal Normal 0"),
            ("{ITEM.STATE}|{ITEM.STATE.ERROR}|", "Normal||"),
        ],
    );
    world.stay(
        Recovery,
        "EVENT.ACK.STATUS EVENT.NSEVERITY EVENT.SEVERITY EVENT.OPDATA ITEM.VALUE ITEM.LASTVALUE \
         ITEM.LOG.AGE TRIGGER.NAME TRIGGER.ID TRIGGER.SEVERITY TRIGGER.STATE TRIGGER.VALUE \
         FUNCTION.VALUE USER.FULLNAME LLDRULE.NAME LLDRULE.STATE ALERT.SENDTO ?last(//k)",
    );
}

#[test]
fn a_discovery_rule_that_is_not_supported() {
    let world = with_event(5, 22);
    world.put(
        &table::ITEMS,
        &[
            ("itemid", 22_u64.into()),
            ("hostid", HOST.into()),
            ("flags", Value::from(1)),
            ("key_", "lld".into()),
            ("name", "Rule {$PLAIN}".into()),
            ("type", Value::from(2)),
        ],
    );
    world.check(
        Problem,
        &[
            (
                "{LLDRULE.NAME}|{LLDRULE.NAME.ORIG}|{LLDRULE.ID}",
                "Rule plain value|Rule {$PLAIN}|22",
            ),
            ("{LLDRULE.KEY} {LLDRULE.KEY.ORIG} [{LLDRULE.DESCRIPTION}]", "lld lld []"),
            ("{LLDRULE.STATE}: {LLDRULE.STATE.ERROR}", &format!("Not supported: {ERROR}")),
            ("{EVENT.OBJECT} {EVENT.STATUS} {HOST.HOST}", "5 Not supported web-1"),
        ],
    );
    let state = ("{LLDRULE.STATE}|{LLDRULE.STATE.ERROR}|{EVENT.STATUS}", "Normal||Normal");
    world.check(Recovery, &[state]);
    world.stay(Problem, "EVENT.NAME ITEM.NAME ITEM.KEY ITEM.STATE TRIGGER.KEY EVENT.SEVERITY");
}

#[test]
fn a_trigger_that_is_unknown() {
    let world = with_trigger();
    world.run_state(&format!(
        "UPDATE events SET source = 3, name = 'cannot' WHERE eventid = {PROBLEM}"
    ));
    world.put_state(
        &table::TRIGGER_STATES,
        &[("triggerid", TRIGGER.into()), ("error", "cannot evaluate".into())],
    );
    world.check(
        Problem,
        &[
            ("{TRIGGER.STATE}: {TRIGGER.STATE.ERROR}", "Unknown: cannot evaluate"),
            ("{EVENT.STATUS} {EVENT.SOURCE}{EVENT.OBJECT} {EVENT.NAME}", "Unknown 30 cannot"),
            ("{TRIGGER.ID} {TRIGGER.SEVERITY} {HOST.NAME} {ITEM.KEY2}", "30 High Web 1 f"),
        ],
    );
    world.stay(Problem, "TRIGGER.STATUS TRIGGER.VALUE ITEM.VALUE EVENT.SEVERITY ITEM.STATE");
}
