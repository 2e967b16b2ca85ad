//! Datagrams become texts of traps.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};

use config::snapshot::source::{Snmp, SnmpUser};
use model::Timestamp;
use wire::snmp::ber::Writer;
use wire::snmp::usm::{Keys, MasterKeys};
use wire::snmp::{
    ErrorStatus, Message, Notification, OidRef, Pdu, PduKind, SnmpError, TrapV1, Value, Varbinds,
    Version, notification, v3,
};

use super::deliver::Place;
use collect::snmp::{master_keys, walk_line};

/// Keys that are remembered; beyond it all are created again.
const REMEMBERED_MAX: usize = 10_000;

/// Why a datagram is no trap that is wanted.
#[derive(Debug, thiserror::Error)]
pub(super) enum TrapError {
    /// It cannot be read.
    #[error(transparent)]
    Snmp(#[from] SnmpError),
    /// It is something else.
    #[error("the message is not a notification")]
    Kind,
    /// No interface has the address, or none with an item for traps.
    #[error("no SNMP interface with items for traps has this address")]
    Unknown,
    /// The community or the user is that of no interface with this address.
    #[error("no interface with this address has its community or user")]
    Denied,
}

#[derive(Debug)]
pub(super) struct Trap {
    pub(super) text: String,
    /// The response to an inform request.
    pub(super) answer: Option<Vec<u8>>,
}

/// What is remembered from trap to trap.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    masters: HashMap<SnmpUser, Option<MasterKeys>>,
    keys: HashMap<(SnmpUser, Vec<u8>), Keys>,
}

/// What stands above the values of a trap.
struct Head<'a> {
    kind: &'a str,
    version: &'a str,
    community: &'a str,
    request_id: i32,
}

impl Receiver {
    /// Reads a datagram that came from `from`, whose interfaces are `places`.
    pub(super) fn receive(
        &mut self,
        bytes: &[u8],
        from: (IpAddr, u16),
        places: &[Place],
        at: Timestamp,
    ) -> Result<Trap, TrapError> {
        let known: Vec<&Snmp> = places
            .iter()
            .filter_map(|place| place.host.interface(place.interface)?.snmp.as_deref())
            .collect();
        if known.is_empty() {
            return Err(TrapError::Unknown);
        }
        if Message::version_of(bytes)? == Version::V3 {
            return self.receive_v3(bytes, from, &known, at);
        }
        let message = Message::parse(bytes)?;
        let right = |one: &&Snmp| {
            one.version != 3 && openssl_eq(one.community.as_bytes(), message.community)
        };
        if !known.iter().any(right) {
            return Err(TrapError::Denied);
        }
        let community = String::from_utf8_lossy(message.community);
        if message.is_trap_v1() {
            let trap = message.trap_v1()?;
            let head = Head { kind: "TRAP", version: "0", community: &community, request_id: 0 };
            let mut text = begin(&head, from, at);
            describe_v1(&mut text, &trap);
            values(&mut text, trap.varbinds);
            return Ok(Trap { text, answer: None });
        }
        let pdu = message.pdu()?;
        let (kind, request_id) = (kind_of(&pdu)?, pdu.request_id);
        let mut text =
            begin(&Head { kind, version: "1", community: &community, request_id }, from, at);
        values(&mut text, pdu.varbinds);
        let answer = (pdu.kind == PduKind::Inform).then(|| answer(&message, &pdu));
        Ok(Trap { text, answer })
    }

    fn receive_v3(
        &mut self,
        bytes: &[u8],
        from: (IpAddr, u16),
        known: &[&Snmp],
        at: Timestamp,
    ) -> Result<Trap, TrapError> {
        let sealed = v3::Sealed::parse(bytes)?;
        let user = known
            .iter()
            .find(|one| one.version == 3 && one.user.name.as_bytes() == sealed.envelope.user);
        let user = &user.ok_or(TrapError::Denied)?.user;
        let keys = self.keys(user, sealed.envelope.engine).ok_or(TrapError::Denied)?;
        if keys.signs() {
            sealed.verify(keys)?;
        }
        if keys.encrypts() && !sealed.encrypted {
            return Err(SnmpError::Unprotected.into());
        }
        let mut room = Vec::new();
        let opened = sealed.open(keys, &mut room)?;
        let (kind, request_id) = (kind_of(&opened.pdu)?, opened.pdu.request_id);
        let head = Head { kind, version: "3", community: &user.name, request_id };
        let mut text = begin(&head, from, at);
        values(&mut text, opened.pdu.varbinds);
        Ok(Trap { text, answer: None })
    }

    fn keys(&mut self, user: &SnmpUser, engine: &[u8]) -> Option<&Keys> {
        let masters = self.masters.entry(user.clone()).or_insert_with(|| master_keys(user).ok());
        let masters = masters.as_ref()?;
        if self.keys.len() >= REMEMBERED_MAX {
            self.keys.clear();
        }
        let key = (user.clone(), engine.to_vec());
        match self.keys.entry(key) {
            std::collections::hash_map::Entry::Occupied(known) => Some(&*known.into_mut()),
            std::collections::hash_map::Entry::Vacant(place) => {
                Some(&*place.insert(masters.for_engine(engine).ok()?))
            }
        }
    }
}

/// In a time that does not tell how much of it is right.
fn openssl_eq(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && openssl::memcmp::eq(one, other)
}

fn kind_of(pdu: &Pdu<'_>) -> Result<&'static str, TrapError> {
    match pdu.kind {
        PduKind::TrapV2 => Ok("TRAP"),
        PduKind::Inform => Ok("INFORM"),
        _ => Err(TrapError::Kind),
    }
}

/// An inform is answered with its own values.
fn answer(message: &Message<'_>, pdu: &Pdu<'_>) -> Vec<u8> {
    let varbinds: Vec<(OidRef<'_>, Value<'_>)> = pdu.varbinds.flatten().collect();
    let response = Notification {
        kind: PduKind::Response,
        request_id: pdu.request_id,
        error_status: ErrorStatus::NO_ERROR,
        error_index: 0,
        varbinds: &varbinds,
    };
    let mut w = Writer::new();
    notification(&mut w, message.version, message.community, &response);
    w.bytes().to_vec()
}

/// The lines above the values, in the form that receivers of the field write.
fn begin(head: &Head<'_>, (ip, port): (IpAddr, u16), at: Timestamp) -> String {
    let zone = jiff::tz::TimeZone::system();
    let time = jiff::Timestamp::from_second(i64::from(at.clock))
        .map(|time| time.to_zoned(zone).strftime("%Y-%m-%dT%H:%M:%S%z").to_string())
        .unwrap_or_default();
    let from = SocketAddr::new(ip, port);
    let rows = [
        ("notificationtype", head.kind.to_owned()),
        ("version", head.version.to_owned()),
        ("receivedfrom", format!("UDP: [{}]:{}", from.ip(), from.port())),
        ("errorstatus", "0".to_owned()),
        ("messageid", "0".to_owned()),
        ("community", head.community.to_owned()),
        ("transactionid", "0".to_owned()),
        ("errorindex", "0".to_owned()),
        ("requestid", head.request_id.to_string()),
    ];
    let mut text = format!("{time} PDU INFO:\n");
    for (name, value) in rows {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "  {name:<30} {value}");
    }
    text
}

/// What only version 1 says, as version 2 would (RFC 3584 section 3.1).
fn describe_v1(text: &mut String, trap: &TrapV1<'_>) {
    let [a, b, c, d] = trap.agent;
    let name = match trap.generic {
        0..=5 => format!(".1.3.6.1.6.3.1.1.5.{}", trap.generic + 1),
        _ => format!("{}.0.{}", trap.enterprise, trap.specific),
    };
    // Writing to a text cannot fail.
    let _ = writeln!(text, "  {:<30} {a}.{b}.{c}.{d}", "agentaddress");
    let _ = writeln!(text, "  {:<30} {}", "uptime", trap.uptime);
    let _ = writeln!(text, "  {:<30} {}", "trapoid", name);
}

fn values(text: &mut String, varbinds: Varbinds<'_>) {
    text.push_str("VARBINDS:");
    for (name, value) in varbinds.flatten() {
        text.push_str("\n  ");
        walk_line(text, name, &value);
    }
}
