//! What the operator may say about collection. Everything else follows from the machine.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use model::{InterfaceId, ItemId};

use crate::availability::InterfaceState;
use crate::trapper::active::LogPosition;
use crate::traps::TrapPosition;

/// Parameters of [`crate::Collector::start`]. The defaults suit a server on loopback.
#[derive(Debug, Clone)]
pub struct CollectorConfig {
    /// Where the trapper listens; empty = no trapper. Port 0 takes any free port.
    pub listen: Vec<SocketAddr>,
    /// Certificates of this server; without them only PSK and unencrypted connections work.
    pub tls: TlsConfig,
    /// Addresses that may ask `zabbix.stats` (list as in `StatsAllowedIP`); empty = nobody.
    pub stats_allowed: String,
    /// Folder of the programs of external checks.
    pub external_scripts: PathBuf,
    /// Files of requests to web servers.
    pub web: WebFiles,
    /// Folder of the key files of SSH checks.
    pub ssh_keys: PathBuf,
    /// Which host keys SSH checks accept.
    pub ssh_host_keys: HostKeyPolicy,
    /// File of the hosts' keys, in the form of OpenSSH's `known_hosts`.
    pub ssh_known_hosts: PathBuf,
    /// The program that talks to ODBC drivers.
    pub odbc_program: PathBuf,
    /// `HOST:PORT` of the Java gateway that JMX checks go through; empty = none.
    pub java_gateway: String,
    /// Where traps of SNMP devices are received; `None` = nowhere.
    pub snmp_traps: Option<SocketAddr>,
    /// File to which another receiver appends traps.
    pub snmp_trap_file: Option<PathBuf>,
    /// Address from which passive checks go out; `None` = the system chooses.
    pub source_ip: Option<std::net::IpAddr>,
    /// Default timeout of checks; a timeout of an item or of the global settings beats it.
    pub timeout: Duration,
    /// When an interface counts as unreachable and unavailable.
    pub reach: ReachDelays,
    /// Limits on what strangers can cost.
    pub limits: Limits,
    /// Threads that run checks; `None` = one per core.
    pub pollers: Option<usize>,
    /// What was known before a restart ([`crate::Status::remembered`]).
    pub remembered: Remembered,
}

/// What has to outlive a restart: otherwise agents would send log files from the start again, and
/// all interfaces would be unknown until their next check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remembered {
    /// How far active agents have read.
    pub log_positions: Vec<(ItemId, LogPosition)>,
    /// Interfaces that were checked.
    pub interfaces: Vec<(InterfaceId, InterfaceState)>,
    /// How far the traps of the trap file are kept.
    pub trap_file: Option<TrapPosition>,
}

impl Default for CollectorConfig {
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from(([127, 0, 0, 1], 10051))],
            tls: TlsConfig::default(),
            stats_allowed: String::new(),
            external_scripts: PathBuf::from("externalscripts"),
            web: WebFiles::default(),
            ssh_keys: PathBuf::from("ssh-keys"),
            ssh_host_keys: HostKeyPolicy::default(),
            ssh_known_hosts: PathBuf::from("ssh-known-hosts"),
            odbc_program: PathBuf::from("vedette-odbc"),
            java_gateway: String::new(),
            snmp_traps: None,
            snmp_trap_file: None,
            source_ip: None,
            timeout: Duration::from_secs(3),
            reach: ReachDelays::default(),
            limits: Limits::default(),
            pollers: None,
            remembered: Remembered::default(),
        }
    }
}

/// Which keys of hosts SSH checks accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostKeyPolicy {
    /// The first one of a host, which is remembered; later that one alone.
    #[default]
    First,
    /// Those in the file alone.
    Known,
    /// Any.
    Ignore,
}

impl HostKeyPolicy {
    /// By its name: `first`, `known`, `ignore`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "first" => Self::First,
            "known" => Self::Known,
            "ignore" => Self::Ignore,
            _ => return None,
        })
    }
}

/// `TLSCAFile`, `TLSCRLFile`, `TLSCertFile`, `TLSKeyFile`: PEM files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsConfig {
    /// Authorities whose certificates are believed.
    pub ca_file: Option<PathBuf>,
    /// Revoked certificates.
    pub crl_file: Option<PathBuf>,
    /// Certificate of this server, intermediate ones after it.
    pub cert_file: Option<PathBuf>,
    /// Private key of this server.
    pub key_file: Option<PathBuf>,
}

/// Folders of the files that HTTP agent items and web scenarios name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebFiles {
    /// Client certificates (`SSLCertLocation`).
    pub certificates: PathBuf,
    /// Their keys (`SSLKeyLocation`).
    pub keys: PathBuf,
    /// Authorities that are believed beside the system's, by hash (`SSLCALocation`).
    pub authorities: Option<PathBuf>,
}

impl Default for WebFiles {
    fn default() -> Self {
        Self { certificates: "ssl/certs".into(), keys: "ssl/keys".into(), authorities: None }
    }
}

/// Delays of the availability rules, in seconds. The defaults are the field's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReachDelays {
    /// `UnreachablePeriod`: after so long without an answer an interface is unavailable.
    pub unreachable_period_s: u32,
    /// `UnreachableDelay`: pause between attempts until then.
    pub unreachable_delay_s: u32,
    /// `UnavailableDelay`: pause between attempts afterwards.
    pub unavailable_delay_s: u32,
}

impl Default for ReachDelays {
    fn default() -> Self {
        Self { unreachable_period_s: 45, unreachable_delay_s: 15, unavailable_delay_s: 60 }
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
    /// Bytes of an agent's answer.
    pub agent_answer_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 8_192,
            connections_per_peer: 4_096,
            frame_bytes_max: 128 << 20,
            message_bytes_max: 256 << 20,
            bytes_in_flight: 512 << 20,
            first_byte: Duration::from_secs(10),
            receive: Duration::from_secs(60),
            answer: Duration::from_secs(300),
            send: Duration::from_secs(30),
            agent_answer_bytes_max: 16 << 20,
        }
    }
}
