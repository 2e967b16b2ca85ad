//! What is measured of each balancer: the rows of the table.

use anyhow::bail;

/// How clients reach the balancer, and what it does with their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    /// HTTP/1.1: each request goes to the next server.
    Http,
    /// The same inside TLS 1.3, which ends at the balancer.
    Tls(Key),
    /// HTTP/2 inside TLS 1.3; servers are asked with HTTP/1.1.
    Http2,
    /// TCP: each connection goes to the next server, its bytes are not looked at.
    Tcp,
    /// UDP: each client's port goes to the next server; requests and responses are datagrams.
    Udp,
}

/// The key of the balancer's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// ECDSA P-256.
    Ec,
    /// RSA with 2,048 bits.
    Rsa,
}

impl Via {
    /// Whether the balancer does not look at what it forwards.
    pub(crate) const fn is_opaque(self) -> bool {
        matches!(self, Self::Tcp | Self::Udp)
    }

    /// The key of TLS; `None`: there is no TLS.
    pub(crate) const fn key(self) -> Option<Key> {
        match self {
            Self::Tls(key) => Some(key),
            Self::Http2 => Some(Key::Ec),
            Self::Http | Self::Tcp | Self::Udp => None,
        }
    }
}

/// How a client's connection is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connections {
    /// It stays open for the next request.
    Kept,
    /// One request each. A TLS handshake is a full one.
    Fresh,
    /// One request each. A TLS handshake resumes the session of the one before.
    Resumed,
    /// So many requests at once, each a stream of HTTP/2.
    Streams(usize),
    /// One request, then nothing: the memory counts.
    Idle,
}

/// What servers answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// 128 bytes: the requests count.
    Small,
    /// 1 MiB: the bytes count.
    Bulk,
}

/// Whether the balancer writes down each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Records {
    /// No record.
    Off,
    /// Vedette: the folder of transactions; others: an access log in a file.
    Each,
}

/// How much of the machine the balancer gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Workers {
    /// One thread on a core that clients and servers do not use.
    One,
    /// One process with this many threads, on all cores.
    Threads(usize),
    /// This many processes with a thread each that share an address, on all cores.
    Processes(usize),
}

/// Changes of the configuration, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Changes {
    /// How many.
    pub(crate) count: u64,
    /// Pools of the configuration that no service uses.
    pub(crate) pools: usize,
}

/// A kind of load.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// For `--rows` and JSON.
    pub(crate) name: &'static str,
    /// For people.
    pub(crate) label: &'static str,
    pub(crate) via: Via,
    /// Clients with a request in flight.
    pub(crate) clients: usize,
    pub(crate) connections: Connections,
    pub(crate) body: Body,
    pub(crate) records: Records,
    /// Requests per second of all clients; `None`: as many as there can be.
    pub(crate) rate: Option<u32>,
    /// Virtual services, among which the clients are spread.
    pub(crate) services: usize,
    pub(crate) workers: Workers,
    /// What is changed meanwhile; `None`: nothing, and the requests count.
    pub(crate) changes: Option<Changes>,
}

impl Row {
    const fn kept(name: &'static str, label: &'static str, via: Via, clients: usize) -> Self {
        Self {
            name,
            label,
            via,
            clients,
            connections: Connections::Kept,
            body: Body::Small,
            records: Records::Off,
            rate: None,
            services: 1,
            workers: Workers::One,
            changes: None,
        }
    }

    const fn fresh(name: &'static str, label: &'static str, via: Via, clients: usize) -> Self {
        Self { connections: Connections::Fresh, ..Self::kept(name, label, via, clients) }
    }

    const fn streams(name: &'static str, label: &'static str, clients: usize) -> Self {
        let connections = Connections::Streams(STREAMS);
        Self { connections, ..Self::kept(name, label, Via::Http2, clients) }
    }

    const fn bulk(name: &'static str, label: &'static str, via: Via, clients: usize) -> Self {
        Self { body: Body::Bulk, ..Self::kept(name, label, via, clients) }
    }

    const fn idle(name: &'static str, label: &'static str, via: Via) -> Self {
        Self { connections: Connections::Idle, ..Self::kept(name, label, via, IDLE) }
    }

    const fn logged(
        name: &'static str,
        label: &'static str,
        rate: Option<u32>,
        services: usize,
    ) -> Self {
        let clients = if rate.is_some() { PACED } else { 64 };
        let records = Records::Each;
        Self { records, rate, services, ..Self::kept(name, label, Via::Http, clients) }
    }

    const fn scaled(name: &'static str, label: &'static str, workers: Workers) -> Self {
        Self { workers, ..Self::kept(name, label, Via::Http, 64) }
    }

    const fn changed(name: &'static str, label: &'static str, changes: Changes) -> Self {
        Self { changes: Some(changes), ..Self::kept(name, label, Via::Http, 8) }
    }

    /// Connections that are open at once.
    pub(crate) const fn open_files(&self) -> u64 {
        self.clients as u64
    }
}

/// Streams of a connection of HTTP/2.
const STREAMS: usize = 32;
/// Connections that do nothing.
const IDLE: usize = 10_000;
/// Clients that share a rate: at 50,000 requests per second, each has 4 ms for one.
const PACED: usize = 200;

/// All rows, in the order of the table.
pub(crate) static ROWS: &[Row] = &[
    Row::kept("keep-alive-1", "keep-alive, 1 connection", Via::Http, 1),
    Row::kept("keep-alive-64", "keep-alive, 64 connections", Via::Http, 64),
    Row::kept("keep-alive-1000", "keep-alive, 1,000 connections", Via::Http, 1000),
    Row::fresh("new-1", "new connection for each request, 1", Via::Http, 1),
    Row::fresh("new-64", "new connection for each request, 64", Via::Http, 64),
    Row::fresh("new-1000", "new connection for each request, 1,000", Via::Http, 1000),
    Row::kept("tls-64", "TLS 1.3, keep-alive, 64 connections", Via::Tls(Key::Ec), 64),
    Row::fresh(
        "handshake-ecdsa",
        "full TLS 1.3 handshake and a request, ECDSA P-256",
        Via::Tls(Key::Ec),
        24,
    ),
    Row::fresh(
        "handshake-rsa",
        "full TLS 1.3 handshake and a request, RSA-2048",
        Via::Tls(Key::Rsa),
        24,
    ),
    Row {
        connections: Connections::Resumed,
        ..Row::fresh(
            "resumption",
            "TLS 1.3 resumption and a request, 1 at a time",
            Via::Tls(Key::Ec),
            1,
        )
    },
    Row::streams("http2-1", "HTTP/2 over TLS, 1 connection with 32 streams", 1),
    Row::streams("http2-8", "HTTP/2 over TLS, 8 connections with 32 streams", 8),
    Row::kept("tcp-64", "TCP forwarding, keep-alive, 64 connections", Via::Tcp, 64),
    Row::kept("udp-64", "UDP forwarding, 64 sessions", Via::Udp, 64),
    Row::logged("logged-64", "keep-alive, 64 connections, each request logged", None, 1),
    Row {
        rate: Some(10_000),
        ..Row::kept("fixed-10000", "10,000 requests/s, 50 connections", Via::Http, 50)
    },
    Row {
        clients: 50,
        ..Row::logged(
            "fixed-10000-logged",
            "10,000 requests/s, 50 connections, each request logged",
            Some(10_000),
            1,
        )
    },
    Row::logged("logs-1000", "1,000 logged requests/s", Some(1_000), 1),
    Row::logged("logs-10000", "10,000 logged requests/s", Some(10_000), 1),
    Row::logged("logs-20000", "20,000 logged requests/s", Some(20_000), 1),
    Row::logged("logs-30000", "30,000 logged requests/s", Some(30_000), 1),
    Row::logged("logs-40000", "40,000 logged requests/s", Some(40_000), 1),
    Row::logged("logs-50000", "50,000 logged requests/s", Some(50_000), 1),
    Row::logged("logs-1000-x8", "1,000 logged requests/s, 8 services", Some(1_000), 8),
    Row::logged("logs-10000-x8", "10,000 logged requests/s, 8 services", Some(10_000), 8),
    Row::logged("logs-20000-x8", "20,000 logged requests/s, 8 services", Some(20_000), 8),
    Row::logged("logs-30000-x8", "30,000 logged requests/s, 8 services", Some(30_000), 8),
    Row::logged("logs-40000-x8", "40,000 logged requests/s, 8 services", Some(40_000), 8),
    Row::logged("logs-50000-x8", "50,000 logged requests/s, 8 services", Some(50_000), 8),
    Row::scaled("threads-1", "1 thread, all cores for all programs", Workers::Threads(1)),
    Row::scaled("threads-2", "2 threads, all cores for all programs", Workers::Threads(2)),
    Row::scaled("processes-2", "2 processes, all cores for all programs", Workers::Processes(2)),
    Row::bulk("bulk-1", "responses of 1 MiB, 1 connection", Via::Http, 1),
    Row::bulk("bulk-64", "responses of 1 MiB, 64 connections", Via::Http, 64),
    Row::bulk("tls-bulk-8", "responses of 1 MiB over TLS, 8 connections", Via::Tls(Key::Ec), 8),
    Row::bulk("tcp-bulk-8", "TCP forwarding, 1 MiB, 8 connections", Via::Tcp, 8),
    Row::bulk("tcp-bulk-64", "TCP forwarding, 1 MiB, 64 connections", Via::Tcp, 64),
    Row::idle("idle", "10,000 idle connections", Via::Http),
    Row::idle("idle-tls", "10,000 idle TLS connections", Via::Tls(Key::Ec)),
    Row::changed(
        "change-100",
        "a change of 100 pools under load",
        Changes { count: 100, pools: 100 },
    ),
    Row::changed(
        "change-20000",
        "a change of 20,000 pools under load",
        Changes { count: 10, pools: 20_000 },
    ),
    Row::changed(
        "changes-10000",
        "each of 10,000 changes of 1 pool under load",
        Changes { count: 10_000, pools: 0 },
    ),
];

/// Names of all rows, in the order of the table.
pub fn row_names() -> Vec<&'static str> {
    ROWS.iter().map(|row| row.name).collect()
}

/// The rows whose names contain one of `words`; all rows without words.
pub(crate) fn chosen(words: &[String]) -> anyhow::Result<Vec<&'static Row>> {
    if let Some(word) = words.iter().find(|word| !ROWS.iter().any(|row| row.name.contains(*word))) {
        let names = row_names().join(", ");
        bail!("--rows {word}: no row has a name like that; there are {names}");
    }
    let wanted = |row: &&Row| words.is_empty() || words.iter().any(|word| row.name.contains(word));
    Ok(ROWS.iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Vec<&'static str> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        chosen(&words).unwrap().iter().map(|row| row.name).collect()
    }

    #[test]
    fn rows_are_chosen_by_parts_of_their_names() {
        assert_eq!(names(&[]).len(), ROWS.len());
        assert_eq!(names(&["keep-alive"]), ["keep-alive-1", "keep-alive-64", "keep-alive-1000"]);
        assert_eq!(names(&["bulk-64", "new-6"]), ["new-64", "bulk-64", "tcp-bulk-64"]);
    }

    #[test]
    fn an_unknown_row_is_refused_with_the_names_of_all() {
        let error = chosen(&["quic".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("--rows quic") && error.contains("keep-alive-1000"), "{error}");
    }

    #[test]
    fn names_of_rows_differ() {
        let all: std::collections::HashSet<_> = ROWS.iter().map(|row| row.name).collect();
        assert_eq!(all.len(), ROWS.len());
    }
}
