//! Opening a session: of version 2.0 where the device knows it (section 13.14 and later), else of
//! version 1.5 (section 13.11).

use super::commands::{
    ACTIVATE_SESSION, APP, GET_AUTH_CAPABILITIES, GET_SESSION_CHALLENGE, SET_SESSION_PRIVILEGE,
};
use super::crypto::{self, Hash, NAME_BYTES, PASSWORD_BYTES, Signature, Suite};
use super::login::{AuthType, Login, USER};
use super::message::{self, Answer, Request};
use super::packet::{self, Packet};
use super::session::{self, Protection, Session, Ticket};
use super::{IpmiError, completion};

/// This channel: the one that the request came over.
const CHANNEL: u8 = 0x0E;
/// Asks for what version 2.0 adds to an answer.
const EXTENDED: u8 = 0x80;
/// A user is looked up by the name alone.
const BY_NAME: u8 = 0x10;
/// Why a device gives no session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The vendor's own ways are unknown.
    #[error("authentication of the type \"OEM\" is not supported: choose another one")]
    Oem,
    /// The device has not what is wanted.
    #[error(
        "the device does not support this authentication type (it offers {0}): choose another type in the \
         host's IPMI settings"
    )]
    NotOffered(String),
    /// The device refuses.
    #[error("the device refuses {0}: {1}")]
    Refused(&'static str, String),
    /// Who opened the session does not know the user's password.
    #[error("the device refuses the password")]
    Password,
    /// What answers does not know the user's password.
    #[error("the device cannot prove that it knows the user's password")]
    Device,
    /// It cannot be done here.
    #[error(transparent)]
    Local(#[from] IpmiError),
}

/// What a packet brought.
#[derive(Debug)]
pub enum Progress {
    /// Nothing: go on waiting.
    Ignored,
    /// The next packet is to be sent.
    Next,
    /// The session is open.
    Open(Box<Session>),
}

/// What the next packet asks.
#[derive(Debug)]
enum Step {
    Capabilities { extended: bool },
    Challenge(Signature),
    Activate { signature: Signature, session: u32, challenge: [u8; 16] },
    Suite(usize),
    Rakp1(Rakp),
    Rakp3(Rakp, Vec<u8>),
    Privilege(Box<Session>),
}

/// What is known of a session of version 2.0 while it opens.
#[derive(Debug, Clone)]
struct Rakp {
    suite: Suite,
    /// The device's number of the session.
    id: u32,
    device_random: [u8; 16],
    guid: [u8; 16],
}

/// A session that is being opened.
#[derive(Debug)]
pub struct Opening {
    login: Login,
    /// Our number of the session.
    local: u32,
    random: [u8; 16],
    /// Versions 1.5 that the device offers; known after its first answer.
    offered: u8,
    step: Step,
    ticket: Option<Ticket>,
}

impl Opening {
    /// `random` must be unpredictable and never the same twice.
    pub fn new(login: Login, random: [u8; 20]) -> Result<Self, OpenError> {
        if login.auth == AuthType::Oem {
            return Err(OpenError::Oem);
        }
        let (number, random) = random.split_at(4);
        let number = u32::from_le_bytes(number.try_into().map_err(|_| IpmiError::Truncated)?);
        let random = random.try_into().map_err(|_| IpmiError::Truncated)?;
        let step = match login.auth {
            AuthType::RmcpPlus => Step::Suite(0),
            _ => Step::Capabilities { extended: true },
        };
        // 0 means none.
        Ok(Self { login, local: number.max(1), random, offered: 0, step, ticket: None })
    }

    /// The packet to send, also to send again.
    pub fn packet(&mut self) -> Result<Vec<u8>, OpenError> {
        let privilege = self.login.privilege();
        Ok(match &mut self.step {
            Step::Capabilities { extended } => {
                let channel = CHANNEL | if *extended { EXTENDED } else { 0 };
                self.plain(GET_AUTH_CAPABILITIES, &[channel, privilege])
            }
            Step::Challenge(signature) => {
                let mut data = vec![*signature as u8];
                data.extend(crypto::field::<NAME_BYTES>(&self.login.username));
                self.plain(GET_SESSION_CHALLENGE, &data)
            }
            Step::Activate { signature, session, challenge } => {
                let mut data = vec![*signature as u8, privilege];
                data.extend_from_slice(challenge);
                // Where the device's own numbers begin.
                data.extend(1_u32.to_le_bytes());
                let request = Request::new(APP, ACTIVATE_SESSION, &data);
                let (bytes, ticket) = (message::encode(&request, 0), Ticket::first(&request));
                self.ticket = Some(ticket);
                let password = crypto::field(&self.login.password);
                let code = signature.code(&password, (*session, 0), &bytes);
                packet::v15(*signature as u8, (*session, 0), &code, &bytes)
            }
            Step::Suite(at) => {
                let suite = self.login.suites()[*at];
                self.open_request(suite)
            }
            Step::Rakp1(rakp) => {
                let mut data = vec![0, 0, 0, 0];
                data.extend(rakp.id.to_le_bytes());
                data.extend_from_slice(&self.random);
                let name = self.login.name();
                data.extend([privilege | BY_NAME, 0, 0, name.len() as u8]);
                data.extend_from_slice(name);
                packet::v20(packet::RAKP_1, (0, 0), &data)
            }
            Step::Rakp3(rakp, code) => {
                let mut data = vec![0, 0, 0, 0];
                data.extend(rakp.id.to_le_bytes());
                data.extend_from_slice(code);
                packet::v20(packet::RAKP_3, (0, 0), &data)
            }
            Step::Privilege(session) => {
                let data = [privilege];
                let request = Request::new(APP, SET_SESSION_PRIVILEGE, &data);
                let (bytes, ticket) = session.request(&request)?;
                self.ticket = Some(ticket);
                bytes
            }
        })
    }

    fn plain(&mut self, command: u8, data: &[u8]) -> Vec<u8> {
        let (bytes, ticket) = session::outside(&Request::new(APP, command, data));
        self.ticket = Some(ticket);
        bytes
    }

    fn open_request(&self, suite: Suite) -> Vec<u8> {
        let mut data = vec![0, self.login.privilege(), 0, 0];
        data.extend(self.local.to_le_bytes());
        for (kind, number) in (0..).zip(suite.numbers()) {
            data.extend([kind, 0, 0, 8, number, 0, 0, 0]);
        }
        packet::v20(packet::OPEN_REQUEST, (0, 0), &data)
    }

    /// Takes a packet of the device.
    pub fn feed(&mut self, datagram: &[u8]) -> Result<Progress, OpenError> {
        // What cannot be read is not from the device: anybody can send a packet.
        match packet::parse(datagram) {
            Ok(Packet::V20 { kind, payload, .. }) if kind != packet::MESSAGE => {
                self.feed_rakp(kind, payload)
            }
            Ok(Packet::V15 { message, .. }) if !matches!(self.step, Step::Privilege(_)) => {
                let Some(ticket) = self.ticket else { return Ok(Progress::Ignored) };
                match ticket.takes(message) {
                    Ok(Some(answer)) => self.feed_plain(&answer),
                    _ => Ok(Progress::Ignored),
                }
            }
            Ok(_) => self.feed_session(datagram),
            Err(_) => Ok(Progress::Ignored),
        }
    }

    fn feed_plain(&mut self, answer: &Answer) -> Result<Progress, OpenError> {
        let refused = |what| OpenError::Refused(what, completion(answer.code));
        match (&self.step, answer.code, answer.data.as_slice()) {
            (Step::Capabilities { .. }, 0, [_, offered, _, extended, ..]) => {
                self.choose(*offered, *extended)?;
            }
            (Step::Capabilities { extended: true }, 1.., _) => {
                // A device of version 1.5 that stumbles over the bit.
                self.step = Step::Capabilities { extended: false };
            }
            (Step::Capabilities { .. }, 1.., _) => return Err(refused("any authentication")),
            (Step::Challenge(signature), 0, data) if data.len() >= 20 => {
                let (session, challenge) = data.split_at(4);
                let number = |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes);
                if let (Ok(session), Ok(challenge)) = (number(session), challenge[..16].try_into())
                {
                    self.step = Step::Activate { signature: *signature, session, challenge };
                }
            }
            (Step::Challenge(_), 1.., _) => return Err(refused("the user")),
            (Step::Activate { .. }, 0, [signature, numbers @ ..]) if numbers.len() >= 8 => {
                let number = |at: usize| numbers.get(at..at + 4)?.try_into().ok();
                let number = |at| number(at).map_or(0, u32::from_le_bytes);
                let (id, first) = (number(0), number(4));
                let signature = Signature::from_number(signature & 0x0F)
                    .ok_or_else(|| OpenError::NotOffered("an unknown one".to_owned()))?;
                let password = crypto::field(&self.login.password);
                let protection = Protection::V15 { signature, password };
                return Ok(self.opened(Session::new(protection, id, first)));
            }
            (Step::Activate { .. }, 1.., _) => return Err(refused("the session")),
            _ => return Ok(Progress::Ignored),
        }
        Ok(Progress::Next)
    }

    /// The device has said what it offers: version 2.0 before 1.5.
    fn choose(&mut self, offered: u8, extended: u8) -> Result<(), OpenError> {
        /// The answer says more than version 1.5 knows, and what it says of version 2.0.
        const SAYS_MORE: u8 = 0x80;
        const KNOWS_2: u8 = 0x02;
        self.offered = offered;
        let newer = offered & SAYS_MORE != 0 && extended & KNOWS_2 != 0;
        if newer && self.login.auth == AuthType::Default {
            self.step = Step::Suite(0);
            return Ok(());
        }
        self.choose_old()
    }

    fn choose_old(&mut self) -> Result<(), OpenError> {
        let mut wanted = self.login.signatures().iter();
        let Some(signature) = wanted.find(|one| self.offered & one.bit() != 0) else {
            return Err(OpenError::NotOffered(self.offers()));
        };
        self.step = Step::Challenge(*signature);
        Ok(())
    }

    fn offers(&self) -> String {
        let names = ["none", "MD2", "MD5", "", "straight", "OEM", "", "RMCP+"];
        let mut offered = Vec::new();
        for (bit, name) in names.into_iter().enumerate() {
            if self.offered & (1 << bit) != 0 && !name.is_empty() {
                offered.push(name);
            }
        }
        if offered.is_empty() { "nothing".to_owned() } else { offered.join(", ") }
    }

    fn feed_rakp(&mut self, kind: u8, payload: &[u8]) -> Result<Progress, OpenError> {
        let [_, status, ..] = *payload else { return Ok(Progress::Ignored) };
        let local = payload.get(4..8) == Some(&self.local.to_le_bytes()[..]);
        match (&self.step, kind) {
            (Step::Suite(at), packet::OPEN_ANSWER) => {
                /// No such authentication, integrity or confidentiality, or not together.
                const OTHER_SUITE: [u8; 5] = [0x04, 0x05, 0x10, 0x11, 0x12];
                if OTHER_SUITE.contains(&status) {
                    return self.next_suite(at + 1);
                }
                if status != 0 {
                    return Err(OpenError::Refused("a session", status_text(status)));
                }
                let suite = self.login.suites()[*at];
                self.opened_request(suite, local, payload)
            }
            // Answers to a step that is over carry no news, nor do those without our number.
            (Step::Rakp1(rakp), packet::RAKP_2) if status == 0 && local => {
                let rakp = rakp.clone();
                self.second(rakp, payload)
            }
            (Step::Rakp1(_), packet::RAKP_2) if status != 0 => {
                Err(OpenError::Refused("the user", status_text(status)))
            }
            (Step::Rakp3(rakp, _), packet::RAKP_4) if status == 0 && local => {
                let rakp = rakp.clone();
                self.fourth(&rakp, payload)
            }
            (Step::Rakp3(..), packet::RAKP_4) if status != 0 => match status {
                // The integrity check value is wrong.
                0x0F => Err(OpenError::Password),
                _ => Err(OpenError::Refused("the session", status_text(status))),
            },
            _ => Ok(Progress::Ignored),
        }
    }

    fn next_suite(&mut self, next: usize) -> Result<Progress, OpenError> {
        if next < self.login.suites().len() {
            self.step = Step::Suite(next);
        } else if self.login.auth == AuthType::Default {
            self.choose_old()?;
        } else {
            return Err(OpenError::NotOffered("no cipher suite that is known".to_owned()));
        }
        Ok(Progress::Next)
    }

    fn opened_request(
        &mut self,
        suite: Suite,
        local: bool,
        payload: &[u8],
    ) -> Result<Progress, OpenError> {
        let id = payload.get(8..12).and_then(|four| four.try_into().ok());
        let algorithm = |at: usize| payload.get(at + 4).map(|number| number & 0x3F);
        let chosen = [algorithm(12), algorithm(20), algorithm(28)];
        let (Some(id), true) = (id, local) else { return Ok(Progress::Ignored) };
        if chosen != suite.numbers().map(Some) {
            let why = "it answers with another cipher suite than was asked for".to_owned();
            return Err(OpenError::Refused("a session", why));
        }
        let id = u32::from_le_bytes(id);
        self.step = Step::Rakp1(Rakp { suite, id, device_random: [0; 16], guid: [0; 16] });
        Ok(Progress::Next)
    }

    fn user_key(&self) -> [u8; PASSWORD_BYTES] {
        crypto::field(&self.login.password)
    }

    /// Role and name, as signatures have them.
    fn who(&self) -> Vec<u8> {
        let name = self.login.name();
        [&[self.login.privilege() | BY_NAME, name.len() as u8], name].concat()
    }

    /// The device's number and its proof; ours follows.
    fn second(&mut self, mut rakp: Rakp, payload: &[u8]) -> Result<Progress, OpenError> {
        let part = |at: usize| payload.get(at..at + 16).and_then(|part| part.try_into().ok());
        let (Some(random), Some(guid)) = (part(8), part(24)) else { return Ok(Progress::Ignored) };
        (rakp.device_random, rakp.guid) = (random, guid);
        let (key, who) = (self.user_key(), self.who());
        let (local, id) = (self.local.to_le_bytes(), rakp.id.to_le_bytes());
        let auth = rakp.suite.auth;
        let expected =
            auth.mac(&key, &[&local, &id, &self.random, &rakp.device_random, &rakp.guid, &who])?;
        let said = payload.get(40..).unwrap_or_default();
        if !crypto::same(&expected, said.get(..expected.len()).unwrap_or_default()) {
            // The device signs with the user's password: one that is not ours gives another proof.
            return Err(OpenError::Password);
        }
        let code = auth.mac(&key, &[&rakp.device_random, &local, &who])?;
        self.step = Step::Rakp3(rakp, code);
        Ok(Progress::Next)
    }

    /// The device has accepted our proof and shows that it has made the same key.
    fn fourth(&mut self, rakp: &Rakp, payload: &[u8]) -> Result<Progress, OpenError> {
        let (auth, who) = (rakp.suite.auth, self.who());
        let master = auth.mac(&self.user_key(), &[&self.random, &rakp.device_random, &who])?;
        let mut expected =
            auth.mac(&master, &[&self.random, &rakp.id.to_le_bytes(), &rakp.guid])?;
        expected.truncate(auth.short_bytes());
        let said = payload.get(8..).unwrap_or_default();
        if !crypto::same(&expected, said.get(..expected.len()).unwrap_or_default()) {
            return Err(OpenError::Device);
        }
        let key = |constant: u8| match auth {
            Hash::None => Ok(Vec::new()),
            _ => auth.mac(&master, &[&[constant; PASSWORD_BYTES]]),
        };
        let (sign, encrypt) = (key(1)?, key(2)?);
        let protection = Protection::V20 { suite: rakp.suite, local: self.local, sign, encrypt };
        Ok(self.opened(Session::new(protection, rakp.id, 1)))
    }

    /// The session is there; its privilege may have to be raised.
    fn opened(&mut self, session: Session) -> Progress {
        if self.login.privilege() <= USER {
            return Progress::Open(Box::new(session));
        }
        self.step = Step::Privilege(Box::new(session));
        Progress::Next
    }

    fn feed_session(&mut self, datagram: &[u8]) -> Result<Progress, OpenError> {
        let (Step::Privilege(session), Some(ticket)) = (&self.step, self.ticket) else {
            return Ok(Progress::Ignored);
        };
        match session.answer(datagram, ticket) {
            Ok(Some(Answer { code: 0, .. })) => Ok(Progress::Open(session.clone())),
            Ok(Some(Answer { code, .. })) => {
                Err(OpenError::Refused("the privilege", completion(code)))
            }
            Ok(None) | Err(_) => Ok(Progress::Ignored),
        }
    }
}

/// Status codes of RMCP+ (table 13-15).
fn status_text(status: u8) -> String {
    let text = match status {
        0x01 => "it has no more sessions to give, try again later",
        0x02 => "it does not know the session",
        0x09 | 0x0A => "the user has not this privilege",
        0x0B => "it has no more sessions of this privilege to give",
        0x0C => "the name is too long",
        0x0D => "there is no such user, or it may not use this channel",
        _ => return format!("status {status:#04x}"),
    };
    text.to_owned()
}
