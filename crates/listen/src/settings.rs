//! What the operator may say about listeners.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Parameters of [`crate::Listener::bind`]. The defaults suit a server on loopback.
#[derive(Debug, Clone)]
pub struct ListenConfig {
    /// Where the trapper listens; empty = no trapper. Port 0 takes any free port.
    pub listen: Vec<SocketAddr>,
    /// Addresses that may ask `zabbix.stats` (list as in `StatsAllowedIP`); empty = nobody.
    pub stats_allowed: String,
    /// Where traps of SNMP devices are received; `None` = nowhere.
    pub snmp_traps: Option<SocketAddr>,
    /// File to which another receiver appends traps.
    pub snmp_trap_file: Option<PathBuf>,
    /// Limits on what strangers can cost.
    pub limits: Limits,
}

impl Default for ListenConfig {
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from(([127, 0, 0, 1], 10051))],
            stats_allowed: String::new(),
            snmp_traps: None,
            snmp_trap_file: None,
            limits: Limits::default(),
        }
    }
}

/// What a stranger can choose, and how far. Beyond a limit a connection hears a clear error or is
/// closed; the others keep being served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections of the trapper at one time; more wait in the system's backlog.
    pub connections: usize,
    /// Connections of the trapper from one address at one time.
    pub connections_per_peer: usize,
    /// Bytes of one message on the wire.
    pub frame_bytes_max: u64,
    /// Bytes of one message after decompression.
    pub message_bytes_max: u64,
    /// Bytes of all messages in memory, received and decompressed, at one time.
    pub bytes_in_flight: usize,
    /// From the connection to the first byte, and for a TLS handshake.
    pub first_byte: Duration,
    /// From the connection to the last byte of a message.
    pub receive: Duration,
    /// From the last byte of the message until the answer is ready (`TrapperTimeout`).
    pub answer: Duration,
    /// Until the peer has taken the answer.
    pub send: Duration,
}

impl Limits {
    /// Those of a server.
    pub const SERVER: Self = Self {
        connections: 8_192,
        connections_per_peer: 4_096,
        frame_bytes_max: 128 << 20,
        message_bytes_max: 256 << 20,
        bytes_in_flight: 512 << 20,
        first_byte: Duration::from_secs(10),
        receive: Duration::from_secs(60),
        answer: Duration::from_secs(300),
        send: Duration::from_secs(30),
    };
}

const _: () = {
    let Limits { connections, connections_per_peer, .. } = Limits::SERVER;
    assert!(connections_per_peer < connections, "one peer leaves connections to the others");
    let Limits { frame_bytes_max, message_bytes_max, bytes_in_flight, .. } = Limits::SERVER;
    assert!(frame_bytes_max <= message_bytes_max, "each frame is a message");
    assert!(message_bytes_max <= bytes_in_flight as u64, "the largest message fits the budget");
};

impl Default for Limits {
    fn default() -> Self {
        Self::SERVER
    }
}
