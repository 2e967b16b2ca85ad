//! The engine against devices that behave badly: real datagrams over loopback, time as told.

use std::net::UdpSocket;

use wire::snmp::{ErrorStatus, Notification, Oid, OidRef, Value, notification};

use super::*;
use crate::checks::snmp::Peer;
use crate::checks::snmp::plan::Plan;

mod by_name;
mod version3;

const TIMEOUT: Duration = Duration::from_secs(4);
const NAME: &str = "1.3.6.1.2.1.1.5.0";

struct Bed {
    engine: Engine<u32>,
    device: UdpSocket,
    now: Duration,
    /// Where requests come from.
    from: SocketAddr,
}

/// Names and values of an answer.
type Rows<'a> = Vec<(&'a str, Value<'a>)>;

fn oid(text: &str) -> Oid {
    Oid::parse(text).unwrap()
}

fn snmp(version: u8, bulk: bool) -> Snmp {
    let community = "public".to_owned();
    Snmp {
        version,
        bulk,
        max_repetitions: 10,
        community,
        user: config::snapshot::source::SnmpUser::default(),
    }
}

impl Bed {
    fn new() -> Self {
        let device = UdpSocket::bind("127.0.0.1:0").unwrap();
        device.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let from = device.local_addr().unwrap();
        Self { engine: Engine::new(None, 7).unwrap(), device, now: Duration::from_secs(100), from }
    }

    fn question(&self, snmp: Snmp) -> Question<u32> {
        let address = self.device.local_addr().unwrap();
        let peer = Peer { address, shown: "127.0.0.1".into(), snmp: Arc::new(snmp) };
        Question::new(peer, InterfaceId(1), TIMEOUT)
    }

    fn ask(&mut self, snmp: Snmp, oids: &[&str]) {
        let mut question = self.question(snmp);
        for (job, text) in (0..).zip(oids) {
            question.add(job, Plan::parse(text).unwrap());
        }
        self.engine.start(question, self.now);
        self.engine.flush();
    }

    /// The next request that reaches the device.
    fn heard(&mut self) -> Vec<u8> {
        let mut room = [0; 5000];
        let (len, from) = self.device.recv_from(&mut room).unwrap();
        self.from = from;
        room[..len].to_vec()
    }

    /// What the next request asks: its kind, names and repetitions.
    fn asked(&mut self) -> (PduKind, Vec<String>, i32, i32) {
        let bytes = self.heard();
        let pdu = Message::parse(&bytes).unwrap().pdu().unwrap();
        let names = pdu.varbinds.map(|one| one.unwrap().0.to_string()).collect();
        (pdu.kind, names, pdu.error_index, pdu.request_id)
    }

    fn send(&self, bytes: &[u8]) {
        self.device.send_to(bytes, self.from).unwrap();
    }

    /// Answers to the request with this id.
    fn answer(&self, id: i32, status: (i32, i32), rows: &Rows<'_>) {
        self.send(&answer(Version::V2c, id, status, rows));
    }

    fn drive(&mut self) -> Vec<(u32, CheckReply)> {
        self.engine.advance(self.now, Duration::from_secs(5));
        self.taken()
    }

    fn taken(&mut self) -> Vec<(u32, CheckReply)> {
        let mut ended = Vec::new();
        self.engine.ended(&mut ended);
        ended.into_iter().map(|one| (one.job, one.reply)).collect()
    }

    /// Moves the engine until something has ended.
    fn ended(&mut self) -> Vec<(u32, CheckReply)> {
        for _ in 0..100 {
            let ended = self.drive();
            if !ended.is_empty() {
                return ended;
            }
        }
        panic!("nothing has ended");
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.engine.time_out(self.now);
    }
}

fn answer(version: Version, id: i32, status: (i32, i32), rows: &Rows<'_>) -> Vec<u8> {
    let names: Vec<Oid> = rows.iter().map(|(name, _)| oid(name)).collect();
    let varbinds: Vec<(OidRef<'_>, Value<'_>)> =
        names.iter().zip(rows).map(|(name, (_, value))| (name.borrow(), *value)).collect();
    let pdu = Notification {
        kind: PduKind::Response,
        request_id: id,
        error_status: ErrorStatus(status.0),
        error_index: status.1,
        varbinds: &varbinds,
    };
    let mut w = Writer::new();
    notification(&mut w, version, b"public", &pdu);
    w.bytes().to_vec()
}

fn value(text: &str) -> CheckReply {
    CheckReply::Value(text.to_owned())
}

fn unsupported(text: &str) -> CheckReply {
    CheckReply::NotSupported(text.to_owned())
}

#[test]
fn only_the_answer_that_waits_counts() {
    let mut bed = Bed::new();
    bed.ask(snmp(2, true), &[NAME]);
    let request = bed.heard();
    let id = Message::parse(&request).unwrap().pdu().unwrap().request_id;
    let right = answer(Version::V2c, id, (0, 0), &vec![(NAME, Value::Octets(b"right"))]);
    let wrong = |id| answer(Version::V2c, id, (0, 0), &vec![(NAME, Value::Octets(b"wrong"))]);
    // Another id, another place in the table, another version, no answer at all, broken, empty.
    bed.send(&wrong(id ^ (1 << PLACE_BITS)));
    bed.send(&wrong(id + 1));
    bed.send(&answer(Version::V1, id, (0, 0), &vec![(NAME, Value::Octets(b"wrong"))]));
    bed.send(&request);
    bed.send(&right[..right.len() - 3]);
    bed.send(b"");
    bed.send(b"\x30\x03\x02\x01\x07");
    // From another address.
    let other = UdpSocket::bind("127.0.0.1:0").unwrap();
    other.send_to(&wrong(id), bed.from).unwrap();
    // Twice.
    bed.send(&right);
    bed.send(&right);
    assert_eq!(bed.ended(), [(0, value("right"))]);
    while bed.engine.stray < 9 {
        assert_eq!(bed.drive(), []);
    }
    assert_eq!((bed.engine.stray, bed.engine.free.len()), (9, bed.engine.flights.len()));
}

#[test]
fn a_silent_target_is_asked_twice_and_then_reported() {
    let timed_out = "cannot retrieve OID: '.1.3.6.1.2.1.1.5.0' from [[127.0.0.1]:PORT]: timed out";
    for (text, why) in [
        (NAME, "Timeout while connecting to \"127.0.0.1:PORT\"."),
        ("get[1.3.6.1.2.1.1.5.0]", timed_out),
        ("walk[1.3.6.1.2.1.1.5.0]", timed_out),
        ("1.3[\"index\",\"1.4\",\"x\"]", "Timeout while connecting to \"127.0.0.1:PORT\"."),
        ("discovery[{#A},1.3]", "Timeout while connecting to \"127.0.0.1:PORT\"."),
    ] {
        let mut bed = Bed::new();
        bed.ask(snmp(2, true), &[text]);
        let first = bed.heard();
        bed.wait(TIMEOUT / 2 - Duration::from_millis(1));
        assert_eq!(bed.taken(), []);
        bed.wait(Duration::from_millis(1));
        assert_eq!(bed.heard(), first, "the same request, under the same id");
        bed.wait(TIMEOUT / 2);
        let port = bed.device.local_addr().unwrap().port().to_string();
        let why = why.replace("PORT", &port);
        assert_eq!(bed.taken(), [(0, CheckReply::NetworkError(why))], "{text}");
        // Too late.
        let id = Message::parse(&first).unwrap().pdu().unwrap().request_id;
        bed.answer(id, (0, 0), &vec![(NAME, Value::Null)]);
        while bed.engine.stray == 0 {
            assert_eq!(bed.drive(), []);
        }
        assert!(bed.engine.deadlines.is_empty());
    }
}

#[test]
fn a_slow_answer_is_still_one() {
    let mut bed = Bed::new();
    bed.ask(snmp(1, true), &[NAME]);
    let id = bed.asked().3;
    bed.wait(TIMEOUT / 2);
    bed.send(&answer(Version::V1, id, (0, 0), &vec![(NAME, Value::Integer(3))]));
    assert_eq!(bed.ended(), [(0, value("3"))]);
}

fn names(count: u32) -> Vec<String> {
    (0..count).map(|n| format!("1.3.6.1.4.1.9.{n}")).collect()
}

#[test]
fn values_go_together_as_far_as_the_device_bears_it() {
    let mut bed = Bed::new();
    let names = names(20);
    let texts: Vec<&str> = names.iter().map(String::as_str).collect();
    bed.ask(snmp(2, true), &texts);
    let (_, asked, _, id) = bed.asked();
    assert_eq!(asked.len(), 16);
    bed.answer(id, (1, 0), &vec![]);
    bed.drive();
    let mut ended = Vec::new();
    let mut sizes = Vec::new();
    while ended.len() < 20 {
        let (_, asked, _, id) = bed.asked();
        sizes.push(asked.len());
        let rows = asked.iter().map(|name| (name.as_str(), Value::Integer(1))).collect();
        bed.answer(id, (0, 0), &rows);
        ended.extend(bed.ended());
    }
    // 16 were too many once: 8 are borne, and more than that are tried below 16.
    assert_eq!(sizes, [8, 12]);
    assert_eq!(ended.iter().map(|(job, _)| *job).collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    assert!(ended.iter().all(|(_, reply)| *reply == value("1")));
}

#[test]
fn without_bulk_values_go_alone() {
    let mut bed = Bed::new();
    let names = names(3);
    let texts: Vec<&str> = names.iter().map(String::as_str).collect();
    bed.ask(snmp(2, false), &texts);
    for job in 0..3 {
        let (_, asked, _, id) = bed.asked();
        assert_eq!(asked, [format!(".{}", names[job as usize])]);
        bed.answer(id, (0, 0), &vec![(&asked[0], Value::Integer(job.into()))]);
        assert_eq!(bed.ended(), [(job, value(&job.to_string()))]);
    }
}

#[test]
fn a_dead_device_costs_one_try_more_when_much_is_asked() {
    let mut bed = Bed::new();
    bed.ask(snmp(2, true), &["1.3.1", "get[1.3.2]", "walk[1.3.3]"]);
    assert_eq!(bed.asked().1.len(), 2);
    bed.wait(TIMEOUT / 2);
    assert_eq!(bed.asked().1.len(), 2);
    bed.wait(TIMEOUT / 2);
    // Perhaps two were too many.
    assert_eq!(bed.asked().1.len(), 1);
    bed.wait(TIMEOUT / 2);
    assert_eq!(bed.asked().1.len(), 1);
    bed.wait(TIMEOUT / 2);
    let ended = bed.taken();
    assert_eq!(ended.iter().map(|(job, _)| *job).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(ended.iter().all(|(_, reply)| matches!(reply, CheckReply::NetworkError(_))));
    assert_eq!(bed.engine.learned.get(&InterfaceId(1)), None, "it says nothing of its size");
}

#[test]
fn faults_are_reported_for_their_value() {
    let mut bed = Bed::new();
    bed.ask(snmp(1, true), &["1.3.1", "1.3.2", "1.3.3"]);
    let id = bed.asked().3;
    bed.send(&answer(Version::V1, id, (2, 2), &vec![("1.3.1", Value::Null)]));
    let no_name = "SNMP error: (noSuchName) There is no such variable name in this MIB.";
    assert_eq!(bed.ended(), [(1, unsupported(no_name))]);
    let (_, asked, _, id) = bed.asked();
    assert_eq!(asked, [".1.3.1", ".1.3.3"]);
    // A fault of nobody: one by one shows whose it is.
    bed.send(&answer(Version::V1, id, (5, 0), &vec![]));
    bed.drive();
    let id = bed.asked().3;
    bed.send(&answer(Version::V1, id, (5, 0), &vec![]));
    let general = "SNMP error: (genError) A general failure occured";
    assert_eq!(bed.ended(), [(0, unsupported(general))]);
    let id = bed.asked().3;
    bed.send(&answer(Version::V1, id, (0, 0), &vec![("1.3.3", Value::Integer(3))]));
    assert_eq!(bed.ended(), [(2, value("3"))]);
}

#[test]
fn missing_parts_are_reported_in_two_ways() {
    let mut bed = Bed::new();
    bed.ask(snmp(2, true), &["1.3.1", "get[1.3.2]", "1.3.3"]);
    let id = bed.asked().3;
    let rows = vec![
        ("1.3.1", Value::NoSuchObject),
        ("1.3.2", Value::NoSuchInstance),
        ("1.3.9", Value::Integer(9)),
    ];
    bed.answer(id, (0, 0), &rows);
    let ended = bed.ended();
    let object = "No Such Object available on this agent at this OID";
    let instance = "cannot get SNMP result: No Such Instance currently exists at this OID";
    assert_eq!(ended, [(0, unsupported(object)), (1, unsupported(instance))]);
    // The third answer was for another name: it is asked again, and believed no better.
    let id = bed.asked().3;
    bed.answer(id, (0, 0), &vec![("1.3.9", Value::Integer(9))]);
    let ended = bed.ended();
    assert!(
        matches!(&ended[..], [(2, CheckReply::NotSupported(why))] if why.contains("another OID"))
    );
}

#[test]
fn a_walk_ends_where_its_root_does() {
    let mut bed = Bed::new();
    bed.ask(snmp(2, true), &["walk[1.3.1,1.3.2]"]);
    let (kind, asked, repetitions, id) = bed.asked();
    assert_eq!((kind, &*asked[0], repetitions), (PduKind::GetBulk, ".1.3.1", 10));
    bed.answer(id, (0, 0), &vec![("1.3.1.1", Value::Integer(1)), ("1.3.1.5", Value::Integer(5))]);
    bed.drive();
    let (_, asked, _, id) = bed.asked();
    assert_eq!(asked, [".1.3.1.5"]);
    bed.answer(id, (0, 0), &vec![("1.3.2.1", Value::Integer(9))]);
    bed.drive();
    let (_, asked, _, id) = bed.asked();
    assert_eq!(asked, [".1.3.2"]);
    // Nothing below: the name itself may have a value.
    bed.answer(id, (0, 0), &vec![("1.3.2", Value::EndOfMibView)]);
    bed.drive();
    let (kind, asked, _, id) = bed.asked();
    assert_eq!((kind, &*asked[0]), (PduKind::Get, ".1.3.2"));
    bed.answer(id, (0, 0), &vec![("1.3.2", Value::Octets(b"x"))]);
    let text = ".1.3.1.1 = INTEGER: 1\n.1.3.1.5 = INTEGER: 5\n.1.3.2 = STRING: \"x\"";
    assert_eq!(bed.ended(), [(0, value(text))]);
}

#[test]
fn a_walk_in_circles_ends() {
    let mut bed = Bed::new();
    bed.ask(snmp(2, true), &["walk[1.3.1]"]);
    let id = bed.asked().3;
    bed.answer(id, (0, 0), &vec![("1.3.1.2", Value::Integer(1)), ("1.3.1.2", Value::Integer(1))]);
    let ended = bed.ended();
    assert!(matches!(&ended[..], [(0, CheckReply::NotSupported(why))] if why.contains(".1.3.1.2")));
}

#[test]
fn version_1_walks_step_by_step() {
    let mut bed = Bed::new();
    bed.ask(snmp(1, true), &["discovery[{#A},1.3.1]"]);
    let (kind, _, _, id) = bed.asked();
    assert_eq!(kind, PduKind::GetNext);
    bed.send(&answer(Version::V1, id, (0, 0), &vec![("1.3.1.7.1", Value::Octets(b"a"))]));
    bed.drive();
    let id = bed.asked().3;
    bed.send(&answer(Version::V1, id, (2, 1), &vec![("1.3.1.7.1", Value::Null)]));
    let rows = "[{\"{#SNMPINDEX}\":\"7.1\",\"{#A}\":\"a\"}]";
    assert_eq!(bed.ended(), [(0, value(rows))]);
}

#[test]
fn many_wait_and_each_gets_its_own() {
    let mut bed = Bed::new();
    for n in 0..200 {
        let mut question = bed.question(snmp(2, true));
        question.add(n, Plan::parse(&format!("1.3.{n}")).unwrap());
        bed.engine.start(question, bed.now);
    }
    bed.engine.flush();
    let mut ended = Vec::new();
    for _ in 0..200 {
        let (_, asked, _, id) = bed.asked();
        let n: i64 = asked[0].rsplit('.').next().unwrap().parse().unwrap();
        bed.answer(id, (0, 0), &vec![(&asked[0], Value::Integer(n))]);
        ended.extend(bed.drive());
    }
    while ended.len() < 200 {
        ended.extend(bed.drive());
    }
    ended.sort_by_key(|(job, _)| *job);
    assert!(ended.iter().all(|(job, reply)| *reply == value(&job.to_string())));
}
