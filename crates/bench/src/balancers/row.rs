//! What is measured of each balancer: the rows of the table.

use anyhow::bail;

/// How clients reach the balancer, and what it does with their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Via {
    /// HTTP/1.1: each request goes to the next server.
    Http,
    /// The same inside TLS 1.3, which ends at the balancer.
    Tls,
    /// TCP: each connection goes to the next server, its bytes are not looked at.
    Tcp,
    /// UDP: each client's port goes to the next server; requests and responses are datagrams.
    Udp,
}

impl Via {
    /// Whether the balancer does not look at what it forwards.
    pub(crate) const fn is_opaque(self) -> bool {
        matches!(self, Self::Tcp | Self::Udp)
    }
}

/// Whether a client's connection is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connections {
    /// It stays open for the next request.
    Kept,
    /// One request each.
    Fresh,
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
}

impl Row {
    const fn kept(name: &'static str, label: &'static str, via: Via, clients: usize) -> Self {
        let (connections, body, records) = (Connections::Kept, Body::Small, Records::Off);
        Self { name, label, via, clients, connections, body, records }
    }
}

/// All rows, in the order of the table.
pub(crate) static ROWS: [Row; 9] = [
    Row::kept("keep-alive-1", "keep-alive, 1 connection", Via::Http, 1),
    Row::kept("keep-alive-64", "keep-alive, 64 connections", Via::Http, 64),
    Row::kept("keep-alive-1000", "keep-alive, 1,000 connections", Via::Http, 1000),
    Row {
        connections: Connections::Fresh,
        ..Row::kept("new-64", "new connection for each request, 64", Via::Http, 64)
    },
    Row::kept("tls-64", "TLS 1.3, keep-alive, 64 connections", Via::Tls, 64),
    Row::kept("tcp-64", "TCP forwarding, keep-alive, 64 connections", Via::Tcp, 64),
    Row::kept("udp-64", "UDP forwarding, 64 sessions", Via::Udp, 64),
    Row {
        records: Records::Each,
        ..Row::kept("logged-64", "keep-alive, 64 connections, each request logged", Via::Http, 64)
    },
    Row {
        body: Body::Bulk,
        ..Row::kept("bulk-64", "responses of 1 MiB, 64 connections", Via::Http, 64)
    },
];

/// The rows whose names contain one of `words`; all rows without words.
pub(crate) fn chosen(words: &[String]) -> anyhow::Result<Vec<&'static Row>> {
    if let Some(word) = words.iter().find(|word| !ROWS.iter().any(|row| row.name.contains(*word))) {
        let names: Vec<_> = ROWS.iter().map(|row| row.name).collect();
        bail!("--rows {word}: no row has a name like that; there are {}", names.join(", "));
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
        assert_eq!(names(&["bulk", "new"]), ["new-64", "bulk-64"]);
    }

    #[test]
    fn an_unknown_row_is_refused_with_the_names_of_all() {
        let error = chosen(&["quic".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("--rows quic") && error.contains("keep-alive-1000"), "{error}");
    }
}
