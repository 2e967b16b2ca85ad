//! Network discovery, autoregistration, services.

use model::{EventOrigin, Severity};
use objects::EventSource;

use super::*;
use crate::text::{Line, Service, Subject};

use About::{Problem, Recovery};

const IN_ALL: &str = "EVENT.ACK.STATUS EVENT.DURATION EVENT.NAME EVENT.NSEVERITY EVENT.OPDATA EVENT.RECOVERY.ID \
     EVENT.SEVERITY EVENT.STATUS EVENT.TAGS EVENT.TAGSJSON EVENT.VALUE HOST.NAME ALERT.SENDTO \
     TIMESTAMP ESC.HISTORY USER.FULLNAME FUNCTION.VALUE SERVICE.NAME LLDRULE.NAME NO.SUCH $PLAIN \
     MAP.ID EVENT.SOURCE1 INVENTORY.LOCATION TRIGGER.NAME ITEM.VALUE";

fn with_device(object: i64, id: u64) -> World {
    let world = World::empty();
    world.put(&table::DRULES, &[("druleid", 1_u64.into()), ("name", "Net".into())]);
    world.put(
        &table::DCHECKS,
        &[("dcheckid", 2_u64.into()), ("druleid", 1_u64.into()), ("type", Value::from(8))],
    );
    world.run(&format!(
        "INSERT INTO dhosts (dhostid, druleid, status, lastup) VALUES (3, 1, 0, {START})"
    ));
    world.run(&format!(
        "INSERT INTO dservices (dserviceid, dhostid, port, status, lastdown, dcheckid, ip) \
         VALUES (4, 3, 8080, 1, {NOW}, 2, '10.0.0.1')"
    ));
    event(&world, PROBLEM, (1, object, id), &[("clock", START.into()), ("value", Value::from(2))]);
    world
}

#[test]
fn a_device_that_was_discovered() {
    let world = with_device(1, 3);
    world.check(
        Problem,
        &[
            (
                "{EVENT.ID} {EVENT.SOURCE}{EVENT.OBJECT} {EVENT.TIME} {EVENT.AGE}",
                "100 11 19:09:24 1m 5s",
            ),
            ("{DISCOVERY.RULE.NAME} {DISCOVERY.DEVICE.IPADDRESS}", "Net 10.0.0.1"),
            ("[{DISCOVERY.DEVICE.DNS}] {DISCOVERY.DEVICE.STATUS}", "[] UP"),
            ("{DISCOVERY.DEVICE.UPTIME} [{PROXY.NAME}]", "1m 5s []"),
            ("{DISCOVERY.SERVICE.NAME}{DISCOVERY.SERVICE.PORT}", "*UNKNOWN**UNKNOWN*"),
            ("{DISCOVERY.SERVICE.STATUS}{DISCOVERY.SERVICE.UPTIME}", "*UNKNOWN**UNKNOWN*"),
            ("{ACTION.NAME} {DATE} {TIME}", "Main 2026.11.23 19:10:29"),
        ],
    );
    world.stay(Problem, IN_ALL);
    world.stay(Problem, "HOST.HOST {HOST.HOST}:k.last(0)} DISCOVERY.NOSUCH");
}

#[test]
fn a_service_that_was_lost() {
    let world = with_device(2, 4);
    world.check(
        Problem,
        &[
            ("{EVENT.OBJECT} {DISCOVERY.DEVICE.STATUS} {DISCOVERY.DEVICE.UPTIME}", "2 UP 1m 5s"),
            ("{DISCOVERY.SERVICE.NAME}:{DISCOVERY.SERVICE.PORT}", "TCP:8080"),
            ("{DISCOVERY.SERVICE.STATUS} {DISCOVERY.SERVICE.UPTIME}", "DOWN 0s"),
        ],
    );
    world.stay(Problem, IN_ALL);
}

#[test]
fn an_agent_that_announced_itself() {
    let world = World::empty();
    world.run(
        "INSERT INTO autoreg_hosts (autoreg_hostid, host, host_metadata, listen_ip, listen_port) \
         VALUES (6, 'new-1', 'Linux x', '127.0.0.1', 10777)",
    );
    event(&world, PROBLEM, (2, 3, 6), &[("clock", START.into()), ("value", Value::from(1))]);
    world.check(
        Problem,
        &[
            ("{HOST.HOST} {HOST.IP} {HOST.PORT} {HOST.METADATA}", "new-1 127.0.0.1 10777 Linux x"),
            ("{EVENT.SOURCE}{EVENT.OBJECT} {EVENT.AGE} [{PROXY.NAME}]", "23 1m 5s []"),
            ("{{HOST.HOST}:k.last(0)}}", "{new-1:k.last(0)}}"),
        ],
    );
    world.stay(Problem, IN_ALL);
    world.stay(Problem, "HOST.CONN HOST.DNS HOST.HOST1 DISCOVERY.DEVICE.IPADDRESS");
}

#[test]
fn a_service_with_a_problem() {
    let world = World::empty();
    let status = |word: &str| format!("Status of service \"Web\" changed to {word}");
    for (id, value, name, clock) in
        [(PROBLEM, 1, status("Average"), START), (RECOVERY, 0, status("OK"), START + 60)]
    {
        event(
            &world,
            id,
            (EventSource::Service.number(), 6, 9),
            &[
                ("clock", clock.into()),
                ("value", Value::from(value)),
                ("name", name.into()),
                ("severity", Value::from(3)),
            ],
        );
    }
    tag(&world, 1, PROBLEM, "run", "1");
    tag(&world, 2, PROBLEM, "team", "web");
    let service = Service {
        name: "Web".into(),
        description: "What web does".into(),
        tags: vec![("team".into(), "web".into()), ("run".into(), "1".into())],
        root_cause: vec![Line {
            hosts: vec!["web-1".into()],
            name: "Load is high".into(),
            severity: Severity::Average,
            clock: START,
            tags: vec![("svc".into(), "1".into())],
        }],
    };
    let root = "Host: \"web-1\" Problem name: \"Load is high\" Severity: \"Average\" Age: 1m 5s \
                Problem tags: \"svc:1\"";
    for (about, cause, state) in
        [(Problem, root, "PROBLEM 1"), (Recovery, "{SERVICE.ROOTCAUSE}", "RESOLVED 0")]
    {
        let texts = [
            ("{SERVICE.NAME}: {SERVICE.DESCRIPTION}", "Web: What web does"),
            ("{SERVICE.ROOTCAUSE}", cause),
            ("{SERVICE.TAGS} {SERVICE.TAGS.team}", "run:1, team:web web"),
            ("{EVENT.TAGS} {EVENT.SEVERITY} {EVENT.NSEVERITY}", "run:1, team:web Average 3"),
            ("{EVENT.NAME}", "Status of service \"Web\" changed to Average"),
            ("{EVENT.STATUS} {EVENT.VALUE}", state),
            ("{EVENT.SOURCE}{EVENT.OBJECT} {EVENT.UPDATE.STATUS}", "46 0"),
            (
                "{SERVICE.ID}{EVENT.ACK.STATUS}{EVENT.OPDATA}",
                "{SERVICE.ID}{EVENT.ACK.STATUS}{EVENT.OPDATA}",
            ),
            ("{HOST.NAME}{EVENT.UPDATE.HISTORY}{$NO}", "{HOST.NAME}{EVENT.UPDATE.HISTORY}{$NO}"),
        ];
        let names: Vec<&str> = texts.iter().map(|(text, _)| *text).collect();
        let mut expander = world.expander(about, &names);
        assert_eq!(expander.facts.event.origin, EventOrigin::Service(9));
        expander.facts.subject = Subject::Service(service.clone());
        for (text, expected) in texts {
            assert_eq!(expander.expand(text, &anybody()), expected, "{about:?} {text}");
        }
    }
    let name = world.text(Recovery, "{EVENT.RECOVERY.NAME}");
    assert_eq!(name, "Status of service \"Web\" changed to OK");
}
