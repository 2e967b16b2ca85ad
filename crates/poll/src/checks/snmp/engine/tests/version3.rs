//! Version 3: engine, clock and keys.

use config::snapshot::source::SnmpUser;
use wire::snmp::usm::{AuthProtocol, Keys, MasterKeys, PrivProtocol};

use super::*;

const ENGINE: &[u8] = b"\x80\x00engine";
const COUNTERS: &str = "1.3.6.1.6.3.15.1.1";

fn user(auth: &str) -> Snmp {
    let user = SnmpUser {
        name: "user".to_owned(),
        level: 2,
        auth_protocol: 3,
        auth_passphrase: auth.to_owned(),
        priv_protocol: 1,
        priv_passphrase: "privacy!".to_owned(),
        context: String::new(),
    };
    Snmp { version: 3, user, ..snmp(3, true) }
}

fn keys() -> Keys {
    let auth = Some((AuthProtocol::Sha256, &b"password"[..]));
    let privacy = Some((PrivProtocol::Aes128, &b"privacy!"[..]));
    MasterKeys::new(auth, privacy).unwrap().for_engine(ENGINE).unwrap()
}

/// What a device says: engine, its clock, kind, name and value.
struct Says<'a> {
    engine: &'a [u8],
    clock: (u32, u32),
    kind: PduKind,
    row: (&'a str, Value<'a>),
}

impl Bed {
    fn say(&self, keys: &Keys, id: i32, says: &Says<'_>) {
        let name = oid(says.row.0);
        let pdu = Notification {
            kind: says.kind,
            request_id: id,
            error_status: ErrorStatus::NO_ERROR,
            error_index: 0,
            varbinds: &[(name.borrow(), says.row.1)],
        };
        let envelope = v3::Envelope {
            id,
            reportable: false,
            engine: says.engine,
            boots: says.clock.0,
            time: says.clock.1,
            user: b"user",
            context: b"",
        };
        let mut w = Writer::new();
        v3::write(&mut w, &envelope, keys, 1, |w| pdu.write(w)).unwrap();
        self.send(w.bytes());
    }

    fn report(&self, keys: &Keys, id: i32, clock: (u32, u32), counter: u32) {
        let name = format!("{COUNTERS}.{counter}.0");
        let row = (name.as_str(), Value::Counter32(1));
        self.say(keys, id, &Says { engine: ENGINE, clock, kind: PduKind::Report, row });
    }

    /// The id and the clock of the next request, and whether it is signed.
    fn sealed(&mut self) -> (i32, u32, u32, bool) {
        let bytes = self.heard();
        let sealed = v3::Sealed::parse(&bytes).unwrap();
        let envelope = sealed.envelope;
        if sealed.signed {
            sealed.verify(&keys()).unwrap();
        }
        (envelope.id, envelope.boots, envelope.time, sealed.signed)
    }
}

#[test]
fn version_3_finds_engine_and_clock() {
    let mut bed = Bed::new();
    bed.ask(user("password"), &[NAME]);
    let (id, _, _, signed) = bed.sealed();
    assert!(!signed);
    bed.report(&Keys::NONE, id, (3, 1000), 4);
    bed.drive();
    let (id, boots, time, signed) = bed.sealed();
    assert_eq!((boots, time, signed), (3, 1000, true));
    // It has restarted since: its report is signed.
    bed.report(&keys(), id, (4, 20), 2);
    bed.drive();
    let (id, boots, time, _) = bed.sealed();
    assert_eq!((boots, time), (4, 20));
    let row = (NAME, Value::Octets(b"yes"));
    let good = Says { engine: ENGINE, clock: (4, 21), kind: PduKind::Response, row };
    // Not signed, another engine, of another life, too old: none of them counts.
    bed.say(&Keys::NONE, id, &good);
    bed.say(&keys(), id, &Says { engine: b"\x80\x00other!", ..good });
    bed.say(&keys(), id, &Says { clock: (3, 21), ..good });
    bed.now += Duration::from_secs(1000);
    bed.say(&keys(), id, &Says { clock: (4, 21), ..good });
    bed.say(&keys(), id, &Says { clock: (4, 1020), ..good });
    assert_eq!(bed.ended(), [(0, value("yes"))]);
    assert_eq!(bed.engine.stray, 4);
    // The second question needs no question for the engine.
    bed.ask(user("password"), &[NAME]);
    let (_, boots, time, signed) = bed.sealed();
    assert_eq!((boots, time, signed), (4, 1020, true));
}

#[test]
fn a_replaced_device_is_discovered_again() {
    let mut bed = Bed::new();
    bed.ask(user("password"), &[NAME]);
    let id = bed.sealed().0;
    bed.report(&Keys::NONE, id, (3, 1000), 4);
    bed.drive();
    let id = bed.sealed().0;
    let row = ("1.3.6.1.6.3.15.1.1.4.0", Value::Counter32(1));
    let other = b"\x80\x00other!";
    bed.say(&Keys::NONE, id, &Says { engine: other, clock: (1, 1), kind: PduKind::Report, row });
    bed.drive();
    assert!(!bed.sealed().3, "the engine is asked for again");
}

#[test]
fn wrong_credentials_are_named() {
    let at = |bed: &Bed| format!("127.0.0.1:{}", bed.device.local_addr().unwrap().port());
    for (counter, why) in [
        (1, "Unsupported security level"),
        (3, "Unknown user name"),
        (5, "Authentication failure (incorrect password, community or key)"),
        (6, "Decryption error"),
    ] {
        let mut bed = Bed::new();
        bed.ask(user("password"), &[NAME]);
        let id = bed.sealed().0;
        bed.report(&Keys::NONE, id, (3, 1000), 4);
        bed.drive();
        let id = bed.sealed().0;
        bed.report(&Keys::NONE, id, (3, 1000), counter);
        let text = format!("Cannot connect to \"{}\": {why}.", at(&bed));
        assert_eq!(bed.ended(), [(0, CheckReply::NetworkError(text))]);
    }
    let mut bed = Bed::new();
    bed.ask(user("short"), &[NAME]);
    let why = "Error generating Ku from authentication pass phrase".to_owned();
    assert_eq!(bed.taken(), [(0, CheckReply::ConfigError(why))]);
}

#[test]
fn a_device_that_never_agrees_is_given_up() {
    let mut bed = Bed::new();
    bed.ask(user("password"), &[NAME]);
    let id = bed.sealed().0;
    bed.report(&Keys::NONE, id, (3, 1000), 4);
    bed.drive();
    let mut clock = 0;
    let ended = loop {
        let id = bed.sealed().0;
        clock += 10_000;
        bed.report(&keys(), id, (3, clock), 2);
        let ended = bed.drive();
        if !ended.is_empty() {
            break ended;
        }
    };
    assert!(matches!(&ended[..], [(0, CheckReply::NetworkError(why))] if why.contains("clock")));
    assert_eq!(clock, 10_000 * u32::from(AGAIN_MAX));
}
