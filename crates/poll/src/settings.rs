//! What the operator may say about checks. Everything else follows from the machine.

use std::path::PathBuf;

use model::ReachDelays;

/// Parameters of [`crate::Pollers::start`]. The defaults suit a server on loopback.
#[derive(Debug, Clone)]
pub struct PollConfig {
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
    /// Address from which passive checks go out; `None` = the system chooses.
    pub source_ip: Option<std::net::IpAddr>,
    /// When an interface counts as unreachable and unavailable.
    pub reach: ReachDelays,
    /// Threads that run checks; `None` = one per core.
    pub pollers: Option<usize>,
    /// Bytes of an agent's answer.
    pub agent_answer_bytes_max: u64,
}

impl Default for PollConfig {
    fn default() -> Self {
        Self {
            external_scripts: PathBuf::from("externalscripts"),
            web: WebFiles::default(),
            ssh_keys: PathBuf::from("ssh-keys"),
            ssh_host_keys: HostKeyPolicy::default(),
            ssh_known_hosts: PathBuf::from("ssh-known-hosts"),
            odbc_program: PathBuf::from("vedette-odbc"),
            java_gateway: String::new(),
            source_ip: None,
            reach: ReachDelays::default(),
            pollers: None,
            agent_answer_bytes_max: 16 << 20,
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
