//! Responses.

use super::fields::{self, Field, Known, Options};
use super::{Framing, Limits, Refusal, Version, head};

/// The head of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response<'a> {
    /// Version that the server speaks.
    pub version: Version,
    /// 100 to 999; classes beyond 5 are passed on.
    pub status: u16,
    /// May be empty.
    pub reason: &'a [u8],
    /// All fields in order.
    pub fields: Vec<Field<'a>>,
    /// Members of Connection.
    pub options: Options<'a>,
    /// How the body ends.
    pub framing: Framing,
    /// Content-Length, also where there is no body (HEAD, 304).
    pub length: Option<u64>,
    /// The server accepts another request on this connection afterwards.
    pub keep_alive: bool,
}

impl<'a> Response<'a> {
    /// Parses a complete head ([`super::HeadEnd`]). `to_head`: the request's method is HEAD.
    ///
    /// # Errors
    /// Everything that a client might understand in another way.
    pub fn parse(bytes: &'a [u8], to_head: bool, limits: &Limits) -> Result<Self, Refusal> {
        let mut lines = head::lines(bytes);
        let (version, status, reason) = first_line(lines.next().unwrap_or_default())?;
        let fields = fields::parse(lines, limits.fields)?;
        let by_fields = fields::framing(&fields, version)?;
        let length = match by_fields {
            Some(Framing::Length(length)) => Some(length),
            _ => None,
        };
        let framing = match by_fields {
            _ if to_head || status < 200 || status == 204 || status == 304 => Framing::None,
            Some(framing) => framing,
            None => Framing::UntilClose,
        };
        let options = Options::of(&fields);
        let agreed = version == Version::Http11 || options.keep_alive;
        let keep_alive = agreed && !options.close && framing != Framing::UntilClose;
        Ok(Self { version, status, reason, fields, options, framing, length, keep_alive })
    }

    /// Fields that are passed on as they are.
    pub fn end_to_end(&self) -> impl Iterator<Item = &Field<'a>> {
        self.fields.iter().filter(|field| self.options.passes(field))
    }

    /// The protocol of a response 101.
    pub fn is_websocket(&self) -> bool {
        let mut upgrades = self.fields.iter().filter(|field| field.known == Known::Upgrade);
        self.status == 101 && upgrades.any(|field| field.value.eq_ignore_ascii_case(b"websocket"))
    }
}

fn first_line(line: &[u8]) -> Result<(Version, u16, &[u8]), Refusal> {
    let (version, rest) = line.split_at_checked(9).ok_or(Refusal::FirstLine)?;
    let version = match version {
        b"HTTP/1.1 " => Version::Http11,
        b"HTTP/1.0 " => Version::Http10,
        _ => return Err(Refusal::Version),
    };
    let (digits, reason) = rest.split_at_checked(3).ok_or(Refusal::FirstLine)?;
    let number = |status: u16, digit: &u8| status * 10 + u16::from(digit - b'0');
    if !digits.iter().all(u8::is_ascii_digit) || digits[0] == b'0' {
        return Err(Refusal::FirstLine);
    }
    let reason = match reason {
        [] => reason,
        [b' ', reason @ ..] if fields::is_value(reason) => reason,
        _ => return Err(Refusal::FirstLine),
    };
    Ok((version, digits.iter().fold(0, number), reason))
}
