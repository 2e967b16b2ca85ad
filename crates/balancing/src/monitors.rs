//! What the monitors that send datagrams send and expect: types `udp` and `dns`.

use std::fmt;
use std::str::FromStr;

use serde::de;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes as a text: `\xHH` is any byte, `\n`, `\r`, `\t` and `\\` are those of C; all else is UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Octets(pub Vec<u8>);

impl FromStr for Octets {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut octets = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            if *first != b'\\' {
                octets.push(*first);
                continue;
            }
            let (octet, length) = match *rest {
                [b'n', ..] => (b'\n', 1),
                [b'r', ..] => (b'\r', 1),
                [b't', ..] => (b'\t', 1),
                [b'\\', ..] => (b'\\', 1),
                [b'x', high, low, ..] => match (digit(high), digit(low)) {
                    (Some(high), Some(low)) => (high << 4 | low, 3),
                    _ => return Err(unknown_escape(text)),
                },
                _ => return Err(unknown_escape(text)),
            };
            octets.push(octet);
            rest = &rest[length..];
        }
        Ok(Self(octets))
    }
}

fn unknown_escape(text: &str) -> String {
    format!(
        "'{text}' has an unknown escape; write \\xHH with two hex digits, \\n, \\r, \\t or \\\\"
    )
}

fn digit(octet: u8) -> Option<u8> {
    char::from(octet).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

impl fmt::Display for Octets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for octet in &self.0 {
            match octet {
                b'\n' => f.write_str("\\n")?,
                b'\r' => f.write_str("\\r")?,
                b'\t' => f.write_str("\\t")?,
                b'\\' => f.write_str("\\\\")?,
                b' '..=b'~' => fmt::Write::write_char(f, char::from(*octet))?,
                octet => write!(f, "\\x{octet:02x}")?,
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Octets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Octets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a monitor of type `udp` sends and expects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UdpMonitor {
    /// The datagram, up to 1,200 bytes.
    pub send: Octets,
    /// Bytes that the response contains; empty: any response. Without it, silence passes, too, and
    /// only an ICMP error fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Octets>,
}

/// What a monitor of type `dns` queries and expects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DnsMonitor {
    /// Name that is queried, such as `health.example.com`, or `.`.
    pub name: String,
    /// Type of the record.
    #[serde(rename = "type", default)]
    pub kind: RecordType,
    /// Response codes that pass.
    #[serde(default = "DnsMonitor::no_error")]
    pub rcodes: Vec<Rcode>,
}

impl DnsMonitor {
    fn no_error() -> Vec<Rcode> {
        vec![Rcode::NoError]
    }
}

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident: $number:ty { $($(#[$doc:meta])* $variant:ident = $code:literal $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its word in the configuration.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Its number in messages.
            #[must_use]
            pub const fn code(self) -> $number {
                match self { $(Self::$variant => $code,)* }
            }
        }
    };
}

codes! {
    /// Types of records that are queried (RFC 1035, 3.2.2; RFC 3596; RFC 2782).
    #[derive(Default)]
    RecordType: u16 {
        /// IPv4 address.
        #[default]
        A = 1 "A",
        /// Name server.
        Ns = 2 "NS",
        /// Another name.
        Cname = 5 "CNAME",
        /// Start of a zone.
        Soa = 6 "SOA",
        /// Name of an address.
        Ptr = 12 "PTR",
        /// Mail server.
        Mx = 15 "MX",
        /// Free text (RFC 1035, 3.3.14).
        Txt = 16 "TXT",
        /// IPv6 address.
        Aaaa = 28 "AAAA",
        /// Server of a service.
        Srv = 33 "SRV",
    }
}

codes! {
    /// Response codes of DNS (RFC 1035, 4.1.1).
    Rcode: u8 {
        /// The query was successful.
        NoError = 0 "NOERROR",
        /// The server does not understand the query.
        FormErr = 1 "FORMERR",
        /// The server has a problem.
        ServFail = 2 "SERVFAIL",
        /// The name does not exist.
        NxDomain = 3 "NXDOMAIN",
        /// The server does not support the query.
        NotImp = 4 "NOTIMP",
        /// The server refuses the query.
        Refused = 5 "REFUSED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_are_written_as_they_are_read() {
        for (text, octets) in
            [("ping", &b"ping"[..]), ("\\x00\\xff\\n\\r\\t\\\\", b"\0\xff\n\r\t\\"), ("", b"")]
        {
            let read: Octets = text.parse().unwrap();
            assert_eq!((read.0.as_slice(), read.to_string().as_str()), (octets, text));
        }
        assert_eq!("\u{e9}".parse::<Octets>().unwrap().to_string(), "\\xc3\\xa9");
        for text in ["\\", "\\q", "\\x", "\\x0", "\\x0g"] {
            assert!(text.parse::<Octets>().unwrap_err().contains("\\xHH"), "{text}");
        }
    }
}
