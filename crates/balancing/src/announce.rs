//! Announcement of VIPs by BGP, through a BIRD on the engine's machine.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Network, Time};

/// Routers learn from this engine which VIPs it serves.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Announce {
    /// Addresses in these networks are VIPs. The engine adds them to a device of its own.
    pub networks: Vec<Network>,
    /// Identifies this machine in BGP; default: an address of the machine that is no VIP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router_id: Option<Ipv4Addr>,
    /// Autonomous system of this machine.
    pub local_as: u32,
    /// Routers; empty: only routes are written, and BIRD's own configuration exports them.
    #[serde(default)]
    pub neighbours: Vec<Neighbour>,
    /// Detection of failed machines and links.
    #[serde(default)]
    pub bfd: Bfd,
    /// Control socket of BIRD.
    #[serde(default = "Announce::bird")]
    pub bird: PathBuf,
    /// Folder whose files BIRD includes.
    #[serde(default = "Announce::folder")]
    pub folder: PathBuf,
}

/// A router.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Neighbour {
    /// Its address, on a network of this machine.
    pub address: IpAddr,
    /// From 1; if it is that of this machine, the session is internal (iBGP).
    #[serde(rename = "as")]
    pub autonomous_system: u32,
}

/// Bidirectional Forwarding Detection (RFC 5880).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bfd {
    /// Time between two packets.
    pub interval: Time,
    /// Missing packets after which the peer is down.
    pub multiplier: u8,
}

impl Default for Bfd {
    fn default() -> Self {
        Self { interval: Time(Duration::from_millis(50)), multiplier: 3 }
    }
}

impl Announce {
    /// Parses the text of a file that has these members.
    ///
    /// # Errors
    /// The line and the member, or the first problem of the contents.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parsed: Self = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        parsed.check()?;
        Ok(parsed)
    }

    fn bird() -> PathBuf {
        PathBuf::from("/run/bird/bird.ctl")
    }

    fn folder() -> PathBuf {
        PathBuf::from("/etc/bird/vedette")
    }

    /// Whether an address is a VIP.
    pub fn covers(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    /// Checks what types alone do not exclude.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), String> {
        const MOST: Duration = Duration::from_secs(10);
        if self.networks.is_empty() {
            return Err("'announce.networks' is empty; add the networks of the VIPs".to_owned());
        }
        if self.router_id.is_some_and(|id| id.is_unspecified()) {
            return Err(
                "'announce.router_id' is 0.0.0.0; use an address of this machine".to_owned()
            );
        }
        let systems = self.neighbours.iter().map(|neighbour| neighbour.autonomous_system);
        if systems.chain([self.local_as]).any(|number| number == 0) {
            return Err("0 is not an autonomous system; correct 'announce'".to_owned());
        }
        let mut known = HashSet::new();
        if let Some(twice) = self.neighbours.iter().find(|one| !known.insert(one.address)) {
            return Err(format!("neighbour {} exists twice in 'announce'", twice.address));
        }
        if self.bfd.multiplier == 0 || self.bfd.interval.0 > MOST {
            return Err(
                "'announce.bfd' needs a multiplier of at least 1 and an interval of at most 10s"
                    .to_owned(),
            );
        }
        Ok(())
    }
}
