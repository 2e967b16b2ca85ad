//! The columns of a transaction: the only place that knows their numbers, names and units.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use crate::record::{Fault, Transaction};

/// What a column holds, and where a transaction has it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    Number(for<'t> fn(&Transaction<'t>) -> u64),
    Text(for<'t> fn(&Transaction<'t>) -> &'t [u8]),
    Address(for<'t> fn(&Transaction<'t>) -> IpAddr),
    /// A number that stands for a word.
    Word(for<'t> fn(&Transaction<'t>) -> &'static str),
}

/// What the numbers of a column count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    None,
    /// Unix time in microseconds.
    Time,
    Microseconds,
    Bytes,
    /// A status of HTTP: `4xx` is a class.
    Status,
}

/// A column. Its number is in the files and never changes.
#[derive(Debug)]
pub struct Column {
    pub(crate) number: u8,
    /// The name by which it is searched.
    pub name: &'static str,
    /// What it says, for help texts.
    pub about: &'static str,
    pub unit: Unit,
    pub(crate) source: Source,
}

/// Bytes of a text that are kept.
pub const TEXT_MAX: usize = 2_048;

const fn number(
    number: u8,
    name: &'static str,
    unit: Unit,
    about: &'static str,
    read: for<'t> fn(&Transaction<'t>) -> u64,
) -> Column {
    Column { number, name, about, unit, source: Source::Number(read) }
}

const fn text(
    number: u8,
    name: &'static str,
    about: &'static str,
    read: for<'t> fn(&Transaction<'t>) -> &'t [u8],
) -> Column {
    Column { number, name, about, unit: Unit::None, source: Source::Text(read) }
}

const fn word(
    number: u8,
    name: &'static str,
    about: &'static str,
    read: for<'t> fn(&Transaction<'t>) -> &'static str,
) -> Column {
    Column { number, name, about, unit: Unit::None, source: Source::Word(read) }
}

/// All columns, in the order in which they are shown.
pub static COLUMNS: [Column; 32] = [
    number(1, "began", Unit::Time, "first byte of the request", |t| t.began_us),
    text(2, "engine", "engine that carried it", |t| t.target.engine.as_bytes()),
    text(3, "service", "virtual service", |t| t.target.service.as_bytes()),
    text(4, "pool", "pool that was chosen", |t| t.target.pool.as_bytes()),
    text(5, "server", "server that responded", |t| t.target.server.as_bytes()),
    Column {
        number: 6,
        name: "client",
        about: "address of the client",
        unit: Unit::None,
        source: Source::Address(|t| t.client.address),
    },
    number(7, "client_port", Unit::None, "port of the client", |t| t.client.port.into()),
    text(8, "tls", "version of TLS with the client", |t| t.client.tls.as_bytes()),
    word(9, "protocol", "what the client spoke", |t| t.request.protocol.word()),
    text(10, "method", "method of the request", |t| t.request.method),
    text(11, "host", "host that was asked", |t| t.request.host),
    text(12, "path", "path that was asked", |t| t.request.path),
    text(13, "query", "what followed the question mark", |t| t.request.query),
    text(14, "user_agent", "program of the client", |t| t.request.user_agent),
    text(15, "referer", "page that led there", |t| t.request.referer),
    number(16, "status", Unit::Status, "status that the client got", |t| t.response.status.into()),
    number(17, "server_status", Unit::Status, "status that the server sent", |t| {
        t.response.server_status.into()
    }),
    number(18, "request_bytes", Unit::Bytes, "bytes from the client", |t| t.request.bytes),
    number(19, "response_bytes", Unit::Bytes, "bytes to the client", |t| t.response.bytes),
    number(20, "client_rtt", Unit::Microseconds, "round trip to the client", |t| {
        t.timings.client_rtt_us
    }),
    number(21, "connect", Unit::Microseconds, "until the server's connection stood", |t| {
        t.timings.connect_us
    }),
    number(22, "response", Unit::Microseconds, "until the server's first byte", |t| {
        t.timings.response_us
    }),
    number(23, "transfer", Unit::Microseconds, "from the server's first byte to its last", |t| {
        t.timings.transfer_us
    }),
    number(24, "total", Unit::Microseconds, "from the first byte to the last", |t| {
        t.timings.total_us
    }),
    word(25, "end", "who ended it, and how", |t| t.course.end.word()),
    number(26, "tries", Unit::None, "servers that were asked", |t| t.course.tries.into()),
    number(27, "reused", Unit::None, "1 = the server's connection was used before", |t| {
        t.course.reused.into()
    }),
    text(28, "rules", "numbers of the rules that applied, from 1", |t| t.course.rules.as_bytes()),
    word(29, "fault", "who made the error: client, server, balancer", |t| {
        t.fault().map_or("", Fault::word)
    }),
    number(30, "stream", Unit::None, "stream of an HTTP/2 connection", |t| t.request.stream.into()),
    word(31, "cache", "hit, miss, revalidated, stale, passed; empty without a cache", |t| {
        t.course.cached.word()
    }),
    text(32, "user", "user of Basic, JWT or client certificate; empty if not authenticated", |t| {
        t.client.user
    }),
];

/// The five timings, in the order in which they happen; the last is their sum.
pub const TIMINGS: [&str; 5] = ["client_rtt", "connect", "response", "transfer", "total"];

impl Column {
    /// The column of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        COLUMNS.iter().find(|column| column.name == name)
    }

    /// Its place in [`COLUMNS`].
    pub(crate) fn place(&self) -> usize {
        usize::from(self.number) - 1
    }

    /// Whether its values are numbers.
    #[must_use]
    pub const fn is_number(&self) -> bool {
        matches!(self.source, Source::Number(_))
    }

    /// Whether its values are addresses.
    #[must_use]
    pub const fn is_address(&self) -> bool {
        matches!(self.source, Source::Address(_))
    }

    /// An entry of its dictionary as a value.
    #[must_use]
    pub fn cell(&self, entry: &[u8]) -> Cell {
        if self.is_address() {
            return Cell::Address(address(entry));
        }
        Cell::Text(String::from_utf8_lossy(entry).into())
    }
}

/// A value of one row.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cell {
    Number(u64),
    /// Bytes that are not UTF-8 are replaced.
    Text(Box<str>),
    Address(IpAddr),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Address(address) => address.fmt(f),
        }
    }
}

/// An address as an entry of a dictionary: an IPv6 address, IPv4 mapped into it.
pub(crate) fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// The address of an entry; of a damaged one, `::`.
pub(crate) fn address(entry: &[u8]) -> IpAddr {
    let octets: [u8; 16] = entry.try_into().unwrap_or_default();
    IpAddr::V6(Ipv6Addr::from(octets)).to_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places() {
        for (place, column) in COLUMNS.iter().enumerate() {
            assert_eq!(column.place(), place, "{}", column.name);
        }
    }

    #[test]
    fn each_timing_is_a_column_of_microseconds() {
        for name in TIMINGS {
            assert_eq!(Column::named(name).unwrap().unit, Unit::Microseconds, "{name}");
        }
    }
}
