//! Checks by one datagram: monitors of the types `udp` and `dns`.

use std::io;
use std::net::SocketAddr;

use mio::net::UdpSocket;
use mio::{Interest, Poll, Token};
use socket2::{Domain, Socket, Type};

use super::outcome::Outcome;
use crate::config::{DnsMonitor, Health, HealthKind, Rcode, UdpMonitor};

/// Longest response that is read.
const RESPONSE_MAX: usize = 65_535;
/// Bytes of the header of a message of DNS (RFC 1035, 4.1.1).
const DNS_HEADER: usize = 12;

/// One check in progress.
pub(super) struct Probe {
    socket: UdpSocket,
    /// Message id of a query.
    id: u16,
}

impl Probe {
    /// Sends the datagram.
    pub(super) fn start(
        health: &Health,
        server: SocketAddr,
        poll: &Poll,
        token: Token,
    ) -> io::Result<Self> {
        let kind = Type::DGRAM.nonblocking();
        let socket = Socket::new(Domain::for_address(server), kind, None)?;
        socket.connect(&server.into())?;
        let mut socket = UdpSocket::from_std(socket.into());
        poll.registry().register(&mut socket, token, Interest::READABLE)?;
        // An unpredictable number, so that a forged response does not pass (RFC 5452, 4.3).
        let id = getrandom::u32().map_err(io::Error::other)? as u16;
        match (&health.udp, &health.dns) {
            (_, Some(dns)) if health.kind == HealthKind::Dns => socket.send(&query(dns, id))?,
            (Some(udp), _) => socket.send(&udp.send.0)?,
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        };
        Ok(Self { socket, id })
    }

    /// The result, if there is one.
    pub(super) fn advance(&self, health: &Health) -> Option<Outcome> {
        let mut response = vec![0; RESPONSE_MAX];
        loop {
            match self.socket.recv(&mut response) {
                Ok(length) => {
                    let outcome = self.judge(&response[..length], health);
                    if outcome.is_some() {
                        return outcome;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    return Some(Outcome::failed("the port is closed (ICMP)"));
                }
                Err(error) => return Some(error.into()),
            }
        }
    }

    /// Whether silence until the deadline passes.
    pub(super) fn passes_in_silence(health: &Health) -> bool {
        health.kind == HealthKind::Udp
            && health.udp.as_ref().is_some_and(|udp| udp.expect.is_none())
    }

    /// The result by a datagram; `None`: it is no response to this check.
    fn judge(&self, response: &[u8], health: &Health) -> Option<Outcome> {
        match (&health.udp, &health.dns) {
            (_, Some(dns)) if health.kind == HealthKind::Dns => dns_result(response, dns, self.id),
            (Some(udp), _) if !is_expected(response, udp) => {
                Some(Outcome::failed("the response does not contain the expected bytes"))
            }
            (Some(_), _) => Some(Outcome::Passed),
            _ => Some(Outcome::failed("the monitor sends nothing")),
        }
    }
}

fn is_expected(response: &[u8], monitor: &UdpMonitor) -> bool {
    let Some(expected) = &monitor.expect else { return true };
    memchr::memmem::find(response, &expected.0).is_some()
}

/// A query with one question, with recursion desired (RFC 1035, 4.1).
fn query(monitor: &DnsMonitor, id: u16) -> Vec<u8> {
    /// Recursion desired.
    const FLAGS: [u8; 2] = [0x01, 0x00];
    let mut message = Vec::with_capacity(DNS_HEADER + monitor.name.len() + 6);
    message.extend(id.to_be_bytes());
    message.extend(FLAGS);
    // One question; no other records.
    message.extend([0, 1, 0, 0, 0, 0, 0, 0]);
    message.extend(question(monitor));
    message
}

/// Name, type and class IN.
fn question(monitor: &DnsMonitor) -> Vec<u8> {
    let mut question = Vec::new();
    for label in monitor.name.split('.').filter(|label| !label.is_empty()) {
        question.push(u8::try_from(label.len()).unwrap_or(u8::MAX));
        question.extend(label.as_bytes());
    }
    question.push(0);
    question.extend(monitor.kind.code().to_be_bytes());
    question.extend([0, 1]);
    question
}

/// The result by the response code; `None`: this is no response to the query.
fn dns_result(response: &[u8], monitor: &DnsMonitor, id: u16) -> Option<Outcome> {
    let (header, rest) = response.split_at_checked(DNS_HEADER)?;
    let is_response = header[2] & 0x80 != 0;
    if header[..2] != id.to_be_bytes() || !is_response {
        return None;
    }
    // A server that does not understand a query may leave out the question.
    let question = question(monitor);
    let repeated = header[4..6] == [0, 1];
    if repeated && !rest.get(..question.len())?.eq_ignore_ascii_case(&question) {
        return None;
    }
    let code = header[3] & 0x0f;
    if monitor.rcodes.iter().any(|rcode| rcode.code() == code) {
        return Some(Outcome::Passed);
    }
    let word = Rcode::ALL.iter().find(|rcode| rcode.code() == code).map(|rcode| rcode.word());
    let word = word.map_or_else(|| code.to_string(), str::to_owned);
    Some(Outcome::Failed(format!("response code {word}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dns(text: &str) -> DnsMonitor {
        serde_saphyr::from_str(text).unwrap()
    }

    /// A response to a query, with these flags.
    fn response(query: &[u8], flags: [u8; 2]) -> Vec<u8> {
        let mut response = query.to_vec();
        response[2..4].copy_from_slice(&flags);
        response
    }

    #[test]
    fn a_query_has_one_question() {
        let monitor = dns("{name: a.example., type: AAAA}");
        let expected = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\x07example\0\0\x1c\0\x01";
        assert_eq!(query(&monitor, 0x1234), expected);
        assert_eq!(query(&dns("{name: '.', type: NS}"), 0)[12..], *b"\0\0\x02\0\x01");
    }

    #[test]
    fn the_response_code_decides() {
        let monitor = dns("{name: example.com, rcodes: [NOERROR, NXDOMAIN]}");
        let query = query(&monitor, 7);
        let result = |response: &[u8]| dns_result(response, &monitor, 7);
        let failed = |code: &str| Some(Outcome::Failed(format!("response code {code}")));
        assert_eq!(result(&response(&query, [0x81, 0x80])), Some(Outcome::Passed));
        assert_eq!(result(&response(&query, [0x81, 0x83])), Some(Outcome::Passed), "NXDOMAIN");
        assert_eq!(result(&response(&query, [0x81, 0x82])), failed("SERVFAIL"));
        let mut upper = response(&query, [0x81, 0x80]);
        upper[13..20].make_ascii_uppercase();
        assert_eq!(result(&upper), Some(Outcome::Passed), "names have no case");
        let short = [&response(&query, [0x81, 0x81])[..4], &[0; 8]].concat();
        assert_eq!(result(&short), failed("FORMERR"), "without the question");
    }

    #[test]
    fn other_datagrams_are_no_responses() {
        let monitor = dns("{name: example.com}");
        let query = query(&monitor, 7);
        let good = response(&query, [0x81, 0x80]);
        assert_eq!(dns_result(&query, &monitor, 7), None, "a query");
        assert_eq!(dns_result(&good, &monitor, 8), None, "another id");
        assert_eq!(dns_result(&good, &dns("{name: example.net}"), 7), None, "another name");
        assert_eq!(dns_result(&good, &dns("{name: example.com, type: MX}"), 7), None);
        for length in 0..good.len() {
            assert_eq!(dns_result(&good[..length], &monitor, 7), None, "{length}");
        }
    }

    #[test]
    fn a_response_contains_the_expected_bytes() {
        let udp = |text: &str| serde_saphyr::from_str::<UdpMonitor>(text).unwrap();
        assert!(is_expected(b"x", &udp("{send: a}")));
        assert!(is_expected(b"", &udp("{send: a, expect: ''}")));
        assert!(is_expected(b"a pong", &udp("{send: a, expect: pong}")));
        assert!(is_expected(b"\x01\x00", &udp(r"{send: a, expect: '\x00'}")));
        assert!(!is_expected(b"pon", &udp("{send: a, expect: pong}")));
    }
}
