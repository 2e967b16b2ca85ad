//! Requests, answers and notifications, and the messages of versions 1 and 2c that carry them.

use super::ber::{Reader, Writer, tag};
use super::{Oid, OidRef, SnmpError, Value};

/// Versions, by their numbers in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// Version 1.
    V1 = 0,
    /// Version 2c.
    V2c = 1,
    /// Version 3.
    V3 = 3,
}

/// Kinds of PDU, by their tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum PduKind {
    /// Values of exactly these names.
    Get = 0xa0,
    /// The next names and their values.
    GetNext = 0xa1,
    /// An answer.
    Response = 0xa2,
    /// Changes values.
    Set = 0xa3,
    /// A notification of version 1; its fields are [`TrapV1`].
    TrapV1 = 0xa4,
    /// Many of the next names and their values.
    GetBulk = 0xa5,
    /// A notification that wants an answer.
    Inform = 0xa6,
    /// A notification.
    TrapV2 = 0xa7,
    /// What is wrong with a message of version 3.
    Report = 0xa8,
}

impl PduKind {
    const fn from_tag(tag: u8) -> Option<Self> {
        Some(match tag {
            0xa0 => Self::Get,
            0xa1 => Self::GetNext,
            0xa2 => Self::Response,
            0xa3 => Self::Set,
            0xa4 => Self::TrapV1,
            0xa5 => Self::GetBulk,
            0xa6 => Self::Inform,
            0xa7 => Self::TrapV2,
            0xa8 => Self::Report,
            _ => return None,
        })
    }
}

/// `error-status` of an answer (RFC 3416 section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorStatus(pub i32);

impl ErrorStatus {
    /// All is well.
    pub const NO_ERROR: Self = Self(0);
    /// The answer would be larger than a message may be.
    pub const TOO_BIG: Self = Self(1);
    /// Version 1: a name is unknown.
    pub const NO_SUCH_NAME: Self = Self(2);
    /// Something else.
    pub const GEN_ERR: Self = Self(5);

    /// The name and what it means to people; `None` for numbers that the standard does not have.
    pub const fn text(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "(noError) No Error",
            1 => "(tooBig) Response message would have been too large.",
            2 => "(noSuchName) There is no such variable name in this MIB.",
            3 => "(badValue) The value given has the wrong type or length.",
            4 => {
                "(readOnly) The two parties used do not have access to use the specified SNMP PDU."
            }
            5 => "(genError) A general failure occured",
            6 => "noAccess",
            7 => "wrongType (The set datatype does not match the data type the agent expects)",
            8 => "wrongLength (The set value has an illegal length from what the agent expects)",
            9 => "wrongEncoding",
            10 => "wrongValue (The set value is illegal or unsupported in some way)",
            11 => {
                "noCreation (That table does not support row creation or that object can not \
                   ever be created)"
            }
            12 => "inconsistentValue (The set value is illegal or unsupported in some way)",
            13 => "resourceUnavailable (This is likely a out-of-memory failure within the agent)",
            14 => "commitFailed",
            15 => "undoFailed",
            16 => "authorizationError (access denied to that object)",
            17 => "notWritable (That object does not support modification)",
            18 => "inconsistentName (That object can not currently be created)",
            _ => return None,
        })
    }
}

/// A PDU of any kind but [`TrapV1`].
#[derive(Debug, Clone, Copy)]
pub struct Pdu<'a> {
    /// What it is.
    pub kind: PduKind,
    /// Tells answers apart.
    pub request_id: i32,
    /// What went wrong; of a [`PduKind::GetBulk`]: names that are not repeated.
    pub error_status: ErrorStatus,
    /// At which name, counted from 1; of a [`PduKind::GetBulk`]: how often others are repeated.
    pub error_index: i32,
    /// Names and values.
    pub varbinds: Varbinds<'a>,
}

impl<'a> Pdu<'a> {
    /// The next element of a message.
    pub fn read(reader: &mut Reader<'a>) -> Result<Self, SnmpError> {
        let found = reader.peek()?;
        let kind = PduKind::from_tag(found).filter(|kind| *kind != PduKind::TrapV1);
        let kind = kind.ok_or(SnmpError::Kind(found))?;
        let mut inside = reader.inside(found)?;
        Ok(Self {
            kind,
            request_id: inside.integer32()?,
            error_status: ErrorStatus(inside.integer32()?),
            error_index: inside.integer32()?,
            varbinds: Varbinds(inside.inside(tag::SEQUENCE)?),
        })
    }
}

/// Names and values of a PDU; walks them as often as wanted. It ends after the first error.
#[derive(Debug, Clone, Copy)]
pub struct Varbinds<'a>(Reader<'a>);

impl<'a> Iterator for Varbinds<'a> {
    type Item = Result<(OidRef<'a>, Value<'a>), SnmpError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let one = (|| {
            let mut pair = self.0.inside(tag::SEQUENCE)?;
            Ok((OidRef::from_ber(pair.expect(tag::OID)?)?, Value::read(&mut pair)?))
        })();
        if one.is_err() {
            self.0 = Reader::new(&[]);
        }
        Some(one)
    }
}

/// What to ask.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Get, get-next or get-bulk.
    pub kind: PduKind,
    /// Tells answers apart.
    pub request_id: i32,
    /// Of a get-bulk: how many of the first names are not repeated.
    pub non_repeaters: i32,
    /// Of a get-bulk: how often the others are repeated.
    pub max_repetitions: i32,
    /// Names.
    pub oids: &'a [Oid],
}

impl Request<'_> {
    /// Writes the PDU.
    pub fn write(&self, w: &mut Writer) {
        let mark = w.len();
        for oid in self.oids.iter().rev() {
            let pair = w.len();
            Value::Null.write(w);
            w.element(tag::OID, oid.borrow().ber());
            w.header(tag::SEQUENCE, pair);
        }
        w.header(tag::SEQUENCE, mark);
        w.integer(self.max_repetitions.into());
        w.integer(self.non_repeaters.into());
        w.integer(self.request_id.into());
        w.header(self.kind as u8, mark);
    }
}

/// A PDU with values: answers and notifications.
#[derive(Debug, Clone, Copy)]
pub struct Notification<'a> {
    /// Response, trap, inform or report.
    pub kind: PduKind,
    /// That of the request, or an own one.
    pub request_id: i32,
    /// What went wrong.
    pub error_status: ErrorStatus,
    /// At which name, counted from 1.
    pub error_index: i32,
    /// Names and values.
    pub varbinds: &'a [(OidRef<'a>, Value<'a>)],
}

impl Notification<'_> {
    /// Writes the PDU.
    pub fn write(&self, w: &mut Writer) {
        let mark = w.len();
        for (oid, value) in self.varbinds.iter().rev() {
            let pair = w.len();
            value.write(w);
            w.element(tag::OID, oid.ber());
            w.header(tag::SEQUENCE, pair);
        }
        w.header(tag::SEQUENCE, mark);
        w.integer(self.error_index.into());
        w.integer(self.error_status.0.into());
        w.integer(self.request_id.into());
        w.header(self.kind as u8, mark);
    }
}

/// A notification of version 1 (RFC 1157 section 4.1.6).
#[derive(Debug, Clone, Copy)]
pub struct TrapV1<'a> {
    /// Who made the device.
    pub enterprise: OidRef<'a>,
    /// Address of the device.
    pub agent: [u8; 4],
    /// 0 cold start … 5 EGP neighbour lost, 6 see `specific`.
    pub generic: i32,
    /// The maker's number.
    pub specific: i32,
    /// Time since the device started, hundredths of a second.
    pub uptime: u32,
    /// Names and values.
    pub varbinds: Varbinds<'a>,
}

impl<'a> TrapV1<'a> {
    /// The next element of a message.
    pub fn read(reader: &mut Reader<'a>) -> Result<Self, SnmpError> {
        let mut inside = reader.inside(PduKind::TrapV1 as u8)?;
        let enterprise = OidRef::from_ber(inside.expect(tag::OID)?)?;
        let Value::Ip(agent) = Value::read(&mut inside)? else {
            return Err(SnmpError::Truncated);
        };
        let (generic, specific) = (inside.integer32()?, inside.integer32()?);
        let Value::TimeTicks(uptime) = Value::read(&mut inside)? else {
            return Err(SnmpError::Truncated);
        };
        let varbinds = Varbinds(inside.inside(tag::SEQUENCE)?);
        Ok(Self { enterprise, agent, generic, specific, uptime, varbinds })
    }
}

/// A datagram of version 1 or 2c.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    pub version: Version,
    /// The community, which is a password in clear.
    pub community: &'a [u8],
    /// From the PDU on.
    body: Reader<'a>,
}

impl<'a> Message<'a> {
    /// The version that a datagram says it has.
    pub fn version_of(datagram: &[u8]) -> Result<Version, SnmpError> {
        match Reader::new(datagram).inside(tag::SEQUENCE)?.integer()? {
            0 => Ok(Version::V1),
            1 => Ok(Version::V2c),
            3 => Ok(Version::V3),
            other => Err(SnmpError::Version(other)),
        }
    }

    /// Reads a datagram of version 1 or 2c.
    #[inline]
    pub fn parse(datagram: &'a [u8]) -> Result<Self, SnmpError> {
        let mut body = Reader::new(datagram).inside(tag::SEQUENCE)?;
        let version = match body.integer()? {
            0 => Version::V1,
            1 => Version::V2c,
            other => return Err(SnmpError::Version(other)),
        };
        Ok(Self { version, community: body.expect(tag::OCTETS)?, body })
    }

    /// The PDU, if it is not a notification of version 1.
    pub fn pdu(&self) -> Result<Pdu<'a>, SnmpError> {
        Pdu::read(&mut self.body.clone())
    }

    /// The notification of version 1.
    pub fn trap_v1(&self) -> Result<TrapV1<'a>, SnmpError> {
        TrapV1::read(&mut self.body.clone())
    }

    /// It is a notification of version 1.
    pub fn is_trap_v1(&self) -> bool {
        self.body.peek() == Ok(PduKind::TrapV1 as u8)
    }
}

/// Writes a message of version 1 or 2c around what `pdu` writes.
fn message(w: &mut Writer, version: Version, community: &[u8], pdu: impl FnOnce(&mut Writer)) {
    let mark = w.len();
    pdu(w);
    w.element(tag::OCTETS, community);
    w.integer(version as i64);
    w.header(tag::SEQUENCE, mark);
}

/// Writes a request as a message of version 1 or 2c.
pub fn request(w: &mut Writer, version: Version, community: &[u8], request: &Request<'_>) {
    message(w, version, community, |w| request.write(w));
}

/// Writes an answer or a notification as a message of version 1 or 2c.
pub fn notification(w: &mut Writer, version: Version, community: &[u8], pdu: &Notification<'_>) {
    message(w, version, community, |w| pdu.write(w));
}
