//! Reverse proxies in front of the server: which address a request really comes from.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use wire::peers::{PeerError, PeerList};

/// What a proxy appends the address of its client to; each proxy of a chain adds one on the right.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The reverse proxies that may name their clients. The header of any other peer is ignored, because
/// a client could write another client's address into it.
#[derive(Debug, Clone, Default)]
pub struct Proxies(PeerList);

/// The list of proxies cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProxiesError {
    /// An entry is nothing that a list may hold.
    #[error(transparent)]
    Entry(#[from] PeerError),
    /// A name would have to be looked up for each connection.
    #[error("\"{0}\" is a name: give addresses or networks in CIDR notation")]
    Name(String),
}

impl Proxies {
    /// Parses addresses and networks separated by commas; empty = no proxy.
    ///
    /// # Errors
    /// An entry is neither.
    pub fn parse(text: &str) -> Result<Self, ProxiesError> {
        let list = PeerList::parse(text)?;
        if let Some(name) = list.names().next() {
            return Err(ProxiesError::Name(name.to_owned()));
        }
        Ok(Self(list))
    }

    /// The address of the client that sent a request over a connection of `peer`: the last address in
    /// the header that is not a proxy of the list. Without one it is the proxy's own.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.0.allows(peer) {
            return peer;
        }
        let told: Vec<&str> = headers
            .get_all(FORWARDED_FOR)
            .iter()
            // Byte by byte: what a client wrote must not spoil what its proxy added.
            .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
            .map(|entry| std::str::from_utf8(entry).unwrap_or(""))
            .collect();
        let mut nearest = peer;
        for address in told.into_iter().rev().map(address) {
            let Some(address) = address else { break };
            nearest = address;
            if !self.0.allows(address) {
                break;
            }
        }
        nearest
    }
}

/// An address, with or without a port, as proxies write them.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    bare.parse().ok().or_else(with_port).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn client(peer: &str, told: &[&str]) -> String {
        let proxies = Proxies::parse("10.0.0.0/24, ::1").unwrap();
        let mut headers = HeaderMap::new();
        for value in told {
            let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
            headers.append(FORWARDED_FOR, value);
        }
        proxies.client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn the_nearest_address_that_is_no_proxy_is_the_client() {
        assert_eq!(client("10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(client("::1", &["203.0.113.9, 198.51.100.7"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &["198.51.100.7, 10.0.0.2"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &["203.0.113.9", "198.51.100.7:4711"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &["[2001:db8::1]:443"]), "2001:db8::1");
        assert_eq!(client("10.0.0.1", &["[2001:db8::1]"]), "2001:db8::1");
        assert_eq!(client("10.0.0.1", &["::ffff:198.51.100.7"]), "198.51.100.7");
    }

    #[test]
    fn what_others_than_proxies_write_does_not_count() {
        assert_eq!(client("192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
        assert_eq!(client("10.0.0.1", &["10.0.0.7, unknown"]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["198.51.100.7, unknown, 10.0.0.2"]), "10.0.0.2");
        assert_eq!(client("10.0.0.1", &["é, 198.51.100.7"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &[""]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn a_list_with_a_name_is_refused() {
        let refused = Proxies::parse("10.0.0.1,proxy.example.org").unwrap_err().to_string();
        assert!(refused.contains("\"proxy.example.org\" is a name"), "{refused}");
        assert!(Proxies::parse("10.0.0.1/40").is_err());
    }
}
