//! Header and trailer fields, and the options of Connection.

use super::{Framing, Refusal, Version, head};

/// Fields that the intermediary itself understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the names of the fields")]
pub enum Known {
    Host,
    ContentLength,
    TransferEncoding,
    Connection,
    KeepAlive,
    ProxyConnection,
    Te,
    Trailer,
    Upgrade,
    Expect,
    Via,
    Forwarded,
    XForwardedFor,
    XForwardedProto,
    XForwardedPort,
    Cookie,
    SetCookie,
    Other,
}

impl Known {
    /// Names by their length, so that one comparison decides.
    pub(crate) fn of(name: &[u8]) -> Self {
        let candidates: &[(&str, Self)] = match name.len() {
            2 => &[("te", Self::Te)],
            3 => &[("via", Self::Via)],
            4 => &[("host", Self::Host)],
            6 => &[("cookie", Self::Cookie), ("expect", Self::Expect)],
            7 => &[("upgrade", Self::Upgrade), ("trailer", Self::Trailer)],
            9 => &[("forwarded", Self::Forwarded)],
            10 => &[
                ("connection", Self::Connection),
                ("set-cookie", Self::SetCookie),
                ("keep-alive", Self::KeepAlive),
            ],
            14 => &[("content-length", Self::ContentLength)],
            15 => &[("x-forwarded-for", Self::XForwardedFor)],
            16 => &[
                ("proxy-connection", Self::ProxyConnection),
                ("x-forwarded-port", Self::XForwardedPort),
            ],
            17 => &[
                ("transfer-encoding", Self::TransferEncoding),
                ("x-forwarded-proto", Self::XForwardedProto),
            ],
            _ => &[],
        };
        let found = candidates.iter().find(|(text, _)| name.eq_ignore_ascii_case(text.as_bytes()));
        found.map_or(Self::Other, |(_, known)| *known)
    }

    /// Whether the field concerns this connection or the framing of this message only, and is
    /// therefore never copied (RFC 9110, 7.6.1).
    pub fn is_hop_by_hop(self) -> bool {
        matches!(
            self,
            Self::ContentLength
                | Self::TransferEncoding
                | Self::Connection
                | Self::KeepAlive
                | Self::ProxyConnection
                | Self::Te
                | Self::Upgrade
        )
    }
}

/// One field as received, without the spaces around its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// Name in the sender's case.
    pub name: &'a [u8],
    /// Value: no control characters but tabs.
    pub value: &'a [u8],
    /// What the name means to the intermediary.
    pub known: Known,
}

impl<'a> Field<'a> {
    /// A field whose name and value are valid.
    #[must_use]
    pub fn new(name: &'a [u8], value: &'a [u8]) -> Self {
        Self { name, value, known: Known::of(name) }
    }
}

const fn table(also: &[u8], from: u8) -> [bool; 256] {
    let mut allowed = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        allowed[byte] =
            letter.is_ascii_alphanumeric() || (from > 0 && letter >= from && byte != 127);
        byte += 1;
    }
    let mut at = 0;
    while at < also.len() {
        allowed[also[at] as usize] = true;
        at += 1;
    }
    allowed
}

/// RFC 9110, 5.6.2.
static TOKEN: [bool; 256] = table(b"!#$%&'*+-.^_`|~", 0);
/// RFC 9110, 5.5: visible characters, obs-text, space and tab.
static VALUE: [bool; 256] = table(b"\t", b' ');

pub(crate) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| TOKEN[usize::from(*byte)])
}

pub(crate) fn is_value(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| VALUE[usize::from(*byte)])
}

/// A value without optional whitespace: RFC 9110, 5.6.3 has spaces and tabs, not `trim_ascii`'s.
pub(crate) fn trim(bytes: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| *byte != b' ' && *byte != b'\t';
    let Some(start) = bytes.iter().position(is_text) else { return &[] };
    let end = bytes.iter().rposition(is_text).map_or(bytes.len(), |last| last + 1);
    &bytes[start..end]
}

fn parse_line(line: &[u8]) -> Result<Field<'_>, Refusal> {
    let colon = memchr::memchr(b':', line).ok_or(Refusal::FieldName)?;
    let (name, value) = (&line[..colon], trim(&line[colon + 1..]));
    if !is_token(name) {
        return Err(Refusal::FieldName);
    }
    if value.contains(&b'\r') {
        return Err(Refusal::LineEnd);
    }
    if !is_value(value) {
        return Err(Refusal::FieldValue);
    }
    Ok(Field { name, value, known: Known::of(name) })
}

pub(super) fn parse<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    most: usize,
) -> Result<Vec<Field<'a>>, Refusal> {
    let mut fields = Vec::with_capacity(16);
    for line in lines {
        if fields.len() == most {
            return Err(Refusal::TooManyFields);
        }
        fields.push(parse_line(line)?);
    }
    Ok(fields)
}

/// The trailer fields that may be passed on: none that would change the framing, the routing or the
/// connection, had a recipient merged them into the head (RFC 9110, 6.5.1).
///
/// # Errors
/// A malformed field.
pub fn trailers(section: &[u8]) -> Result<Vec<Field<'_>>, Refusal> {
    let mut fields = parse(head::lines(section), usize::MAX)?;
    fields.retain(|field| field.known == Known::Other);
    Ok(fields)
}

/// The members of Connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options<'a> {
    pub close: bool,
    pub keep_alive: bool,
    pub upgrade: bool,
    /// Names of fields that end here.
    nominated: Vec<&'a [u8]>,
}

impl<'a> Options<'a> {
    pub(super) fn of(fields: &[Field<'a>]) -> Self {
        let mut options = Self::default();
        for field in fields.iter().filter(|field| field.known == Known::Connection) {
            for member in field.value.split(|byte| *byte == b',').map(trim) {
                if member.eq_ignore_ascii_case(b"close") {
                    options.close = true;
                } else if member.eq_ignore_ascii_case(b"keep-alive") {
                    options.keep_alive = true;
                } else if member.eq_ignore_ascii_case(b"upgrade") {
                    options.upgrade = true;
                } else if !member.is_empty() {
                    options.nominated.push(member);
                }
            }
        }
        options
    }

    /// Names of header and trailer fields that end here (RFC 9110, 7.6.1).
    pub fn nominated(&self) -> &[&'a [u8]] {
        &self.nominated
    }

    /// Whether a field is passed on. The host is, even where Connection names it: without it, the
    /// request would be another.
    pub fn passes(&self, field: &Field<'_>) -> bool {
        !field.known.is_hop_by_hop()
            && (field.known == Known::Host
                || !self.nominated.iter().any(|name| name.eq_ignore_ascii_case(field.name)))
    }
}

/// Length of a body by its fields; `None`: no field tells.
pub(super) fn framing(fields: &[Field<'_>], version: Version) -> Result<Option<Framing>, Refusal> {
    let mut length = None;
    let mut chunked = false;
    for field in fields {
        match field.known {
            Known::ContentLength if length.is_some() => return Err(Refusal::Length),
            Known::ContentLength => length = Some(parse_length(field.value)?),
            Known::TransferEncoding if version == Version::Http10 => return Err(Refusal::Framing),
            Known::TransferEncoding if chunked => return Err(Refusal::Framing),
            Known::TransferEncoding if field.value.eq_ignore_ascii_case(b"chunked") => {
                chunked = true;
            }
            Known::TransferEncoding if field.value.is_empty() => return Err(Refusal::Framing),
            Known::TransferEncoding => return Err(Refusal::Coding),
            _ => {}
        }
    }
    match (length, chunked) {
        (Some(_), true) => Err(Refusal::Framing),
        (None, true) => Ok(Some(Framing::Chunked)),
        (Some(0), false) => Ok(Some(Framing::Length(0))),
        (Some(length), false) => Ok(Some(Framing::Length(length))),
        (None, false) => Ok(None),
    }
}

pub(crate) fn parse_length(value: &[u8]) -> Result<u64, Refusal> {
    /// 18 digits are below 2^63.
    const DIGITS: usize = 18;
    if value.is_empty() || value.len() > DIGITS || !value.iter().all(u8::is_ascii_digit) {
        return Err(Refusal::Length);
    }
    Ok(value.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}
