//! What is known of the engines of devices that speak version 3: their ids, clocks and our keys.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use collect::snmp::master_keys;
use config::snapshot::source::{Snmp, SnmpUser};
use wire::snmp::ber::Writer;
use wire::snmp::usm::{Keys, MasterKeys, Report};
use wire::snmp::{Pdu, PduKind, Request, SnmpError, v3};

/// Engines and users that are remembered; beyond it all are requested again.
const REMEMBERED_MAX: usize = 500_000;
/// Seconds that the clock of a message may differ from the engine's (RFC 3414 section 2.2.3).
const WINDOW_S: u32 = 150;

/// Whom a session is with.
type Party = (SocketAddr, Arc<Snmp>);

#[derive(Debug)]
struct Session {
    engine: Box<[u8]>,
    boots: u32,
    /// The engine's clock in seconds at `at` (monotonic, ours).
    time: u32,
    at: Duration,
    keys: Keys,
}

impl Session {
    fn time(&self, now: Duration) -> u32 {
        let since = u32::try_from(now.saturating_sub(self.at).as_secs()).unwrap_or(u32::MAX);
        self.time.saturating_add(since).min(i32::MAX.unsigned_abs())
    }

    fn set_clock(&mut self, envelope: &v3::Envelope<'_>, now: Duration) {
        (self.boots, self.time, self.at) = (envelope.boots, envelope.time, now);
    }

    /// An authentic message is not of another life or time of the engine. Later clocks are
    /// believed.
    fn is_timely(&mut self, envelope: &v3::Envelope<'_>, now: Duration) -> bool {
        let time = self.time(now);
        if envelope.boots < self.boots
            || (envelope.boots == self.boots && envelope.time.saturating_add(WINDOW_S) < time)
        {
            return false;
        }
        if envelope.boots > self.boots || envelope.time > time {
            self.set_clock(envelope, now);
        }
        true
    }
}

/// All sessions of one engine of ours.
#[derive(Debug)]
pub(super) struct Sessions {
    by_party: HashMap<Party, Session>,
    masters: HashMap<SnmpUser, MasterKeys>,
    /// Never the same twice.
    salt: u64,
}

/// What a message of version 3 means to the request that waits for a response.
pub(super) enum Heard<'a> {
    /// Nothing that may be believed.
    Nothing,
    /// The engine or its clock is known now: ask again.
    AskAgain,
    /// The device refuses us, and why.
    Refused(&'static str),
    Answer(Pdu<'a>),
}

impl Sessions {
    /// `seed` differs from start to start, as salts must.
    pub(super) fn new(seed: u64) -> Self {
        Self { by_party: HashMap::new(), masters: HashMap::new(), salt: seed }
    }

    /// The engine is known.
    pub(super) fn knows(&self, party: &Party) -> bool {
        self.by_party.contains_key(party)
    }

    pub(super) fn forget(&mut self, party: &Party) {
        self.by_party.remove(party);
    }

    /// Looks whether a user's pass phrases can be used. The error is the item's.
    pub(super) fn check(&mut self, user: &SnmpUser) -> Result<(), String> {
        if self.masters.contains_key(user) {
            return Ok(());
        }
        let keys = master_keys(user)?;
        if self.masters.len() >= REMEMBERED_MAX {
            self.masters.clear();
        }
        self.masters.insert(user.clone(), keys);
        Ok(())
    }

    /// Writes a request, or the question for the engine if that is unknown.
    pub(super) fn write(
        &mut self,
        w: &mut Writer,
        party: &Party,
        request: &Request<'_>,
        now: Duration,
    ) -> Result<(), SnmpError> {
        self.salt = self.salt.wrapping_add(1);
        let user = &party.1.user;
        let Some(session) = self.by_party.get(party) else {
            let envelope = v3::Envelope {
                id: request.request_id,
                reportable: true,
                engine: &[],
                boots: 0,
                time: 0,
                user: &[],
                context: &[],
            };
            let nothing = Request { kind: PduKind::Get, oids: &[], ..*request };
            let nothing = Request { non_repeaters: 0, max_repetitions: 0, ..nothing };
            return v3::write(w, &envelope, &Keys::NONE, self.salt, |w| nothing.write(w));
        };
        let envelope = v3::Envelope {
            id: request.request_id,
            reportable: true,
            engine: &session.engine,
            boots: session.boots,
            time: session.time(now),
            user: user.name.as_bytes(),
            context: user.context.as_bytes(),
        };
        v3::write(w, &envelope, &session.keys, self.salt, |w| request.write(w))
    }

    /// Takes a message of a device that was asked with this id.
    pub(super) fn hear<'b>(
        &mut self,
        party: &Party,
        sealed: &v3::Sealed<'b>,
        room: &'b mut Vec<u8>,
        now: Duration,
    ) -> Heard<'b> {
        let envelope = sealed.envelope;
        let known =
            self.by_party.get(party).map(|session| session.engine == envelope.engine.into());
        match known {
            None => self.meet(party, sealed, room, now),
            // Another engine answers at this address: only its report that ours is unknown counts.
            Some(false) => match open_report(sealed, room) {
                Some(Report::UnknownEngine) => {
                    self.forget(party);
                    Heard::AskAgain
                }
                _ => Heard::Nothing,
            },
            Some(true) => self.hear_known(party, sealed, room, now),
        }
    }

    /// The report that answers the question for the engine.
    fn meet(
        &mut self,
        party: &Party,
        sealed: &v3::Sealed<'_>,
        room: &mut Vec<u8>,
        now: Duration,
    ) -> Heard<'static> {
        let envelope = sealed.envelope;
        if envelope.engine.is_empty() || open_report(sealed, room).is_none() {
            return Heard::Nothing;
        }
        let Some(masters) = self.masters.get(&party.1.user) else { return Heard::Nothing };
        let Ok(keys) = masters.for_engine(envelope.engine) else {
            return Heard::Refused("the machine's library refuses the algorithm");
        };
        if self.by_party.len() >= REMEMBERED_MAX {
            self.by_party.clear();
        }
        let session = Session {
            engine: envelope.engine.into(),
            boots: envelope.boots,
            time: envelope.time,
            at: now,
            keys,
        };
        self.by_party.insert(party.clone(), session);
        Heard::AskAgain
    }

    fn hear_known<'b>(
        &mut self,
        party: &Party,
        sealed: &v3::Sealed<'b>,
        room: &'b mut Vec<u8>,
        now: Duration,
    ) -> Heard<'b> {
        let Some(session) = self.by_party.get_mut(party) else { return Heard::Nothing };
        let signs = session.keys.signs();
        if signs && sealed.signed {
            if sealed.verify(&session.keys).is_err() {
                return Heard::Nothing;
            }
        } else if signs || sealed.signed {
            // Reports about keys cannot be signed with them.
            return match open_report(sealed, room) {
                Some(Report::NotInTimeWindow) | None => Heard::Nothing,
                Some(report) => refused(report),
            };
        }
        let protected = sealed.encrypted == session.keys.encrypts();
        let Ok(opened) = sealed.open(&session.keys, room) else { return Heard::Nothing };
        match opened.pdu.kind {
            PduKind::Report => match report_of(&opened.pdu) {
                Some(Report::NotInTimeWindow) => {
                    session.set_clock(&sealed.envelope, now);
                    Heard::AskAgain
                }
                Some(report) => refused(report),
                None => Heard::Nothing,
            },
            PduKind::Response if protected => {
                if signs && !session.is_timely(&sealed.envelope, now) {
                    return Heard::Nothing;
                }
                Heard::Answer(opened.pdu)
            }
            _ => Heard::Nothing,
        }
    }
}

/// The report in a message that is not encrypted.
fn open_report(sealed: &v3::Sealed<'_>, room: &mut Vec<u8>) -> Option<Report> {
    if sealed.encrypted {
        return None;
    }
    report_of(&sealed.open(&Keys::NONE, room).ok()?.pdu)
}

fn report_of(pdu: &Pdu<'_>) -> Option<Report> {
    if pdu.kind != PduKind::Report {
        return None;
    }
    let (counter, _) = { pdu.varbinds }.next()?.ok()?;
    Some(Report::of(counter))
}

/// The words that the field knows.
const fn refused(report: Report) -> Heard<'static> {
    match report {
        Report::UnsupportedSecurityLevel => Heard::Refused("Unsupported security level"),
        Report::UnknownUser => Heard::Refused("Unknown user name"),
        Report::WrongDigest => {
            Heard::Refused("Authentication failure (incorrect password, community or key)")
        }
        Report::Decryption => Heard::Refused("Decryption error"),
        Report::UnknownEngine => Heard::Refused("Unknown engine ID"),
        Report::NotInTimeWindow => Heard::Refused("Not in time window"),
        Report::Other => Heard::Refused("the device reports a fault of the message"),
    }
}
