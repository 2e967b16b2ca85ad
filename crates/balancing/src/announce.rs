//! Announcement of VIPs: to routers by BGP, through a BIRD on the engine's machine, or to the machines of a network
//! by VRRP, through a keepalived.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Dispatch, Keepalived, Network, Time};

/// Other machines learn from this engine which VIPs it serves.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "Members", into = "Members")]
pub struct Announce {
    /// Addresses in these networks are VIPs.
    pub networks: Vec<Network>,
    /// Program of this machine that tells the others.
    pub speaker: Speaker,
}

/// Program that tells other machines of VIPs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Speaker {
    /// Routers spread connections over all engines.
    Bird(Bird),
    /// One engine has the VIPs, and another one of the same network takes them over.
    Keepalived(Keepalived),
}

/// What BIRD announces by BGP, and to whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bird {
    /// Identifies this machine in BGP; `None`: an address of the machine that is no VIP.
    pub router_id: Option<Ipv4Addr>,
    /// Autonomous system of this machine.
    pub local_as: u32,
    /// Routers; empty: only routes are written, and BIRD's own configuration exports them.
    pub neighbours: Vec<Neighbour>,
    /// Detection of failed machines and links.
    pub bfd: Bfd,
    /// Control socket of BIRD.
    pub bird: PathBuf,
    /// Folder whose files BIRD includes.
    pub folder: PathBuf,
}

/// The members in the file.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Members {
    networks: Vec<Network>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keepalived: Option<Keepalived>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    router_id: Option<Ipv4Addr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    local_as: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    neighbours: Option<Vec<Neighbour>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bfd: Option<Bfd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bird: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
}

impl TryFrom<Members> for Announce {
    type Error = &'static str;

    fn try_from(members: Members) -> Result<Self, Self::Error> {
        let Members { networks, keepalived, router_id, local_as, neighbours, bfd, bird, folder } =
            members;
        let for_bird = neighbours.is_some() || bfd.is_some() || bird.is_some() || folder.is_some();
        let speaker = match (keepalived, router_id, local_as) {
            (Some(keepalived), None, None) if !for_bird => Speaker::Keepalived(keepalived),
            (Some(_), ..) => {
                return Err("beside 'announce.keepalived', only 'networks' is possible");
            }
            (None, router_id, Some(local_as)) => Speaker::Bird(Bird {
                router_id,
                local_as,
                neighbours: neighbours.unwrap_or_default(),
                bfd: bfd.unwrap_or_default(),
                bird: bird.unwrap_or_else(|| PathBuf::from("/run/bird/bird.ctl")),
                folder: folder.unwrap_or_else(|| PathBuf::from("/etc/bird/vedette")),
            }),
            (None, ..) => {
                return Err("'announce' needs 'local_as' for BGP, or 'keepalived' for VRRP");
            }
        };
        Ok(Self { networks, speaker })
    }
}

impl From<Announce> for Members {
    fn from(Announce { networks, speaker }: Announce) -> Self {
        let none = Self {
            networks,
            keepalived: None,
            router_id: None,
            local_as: None,
            neighbours: None,
            bfd: None,
            bird: None,
            folder: None,
        };
        match speaker {
            Speaker::Keepalived(keepalived) => Self { keepalived: Some(keepalived), ..none },
            Speaker::Bird(Bird { router_id, local_as, neighbours, bfd, bird, folder }) => Self {
                router_id,
                local_as: Some(local_as),
                neighbours: Some(neighbours),
                bfd: Some(bfd),
                bird: Some(bird),
                folder: Some(folder),
                ..none
            },
        }
    }
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

    /// Whether an address is a VIP.
    pub fn covers(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    /// How machines of a group share the connections of its VIPs, if they do.
    #[must_use]
    pub const fn dispatched(&self) -> Option<(&Keepalived, Dispatch)> {
        match &self.speaker {
            Speaker::Keepalived(keepalived) => match keepalived.dispatch {
                Some(dispatch) => Some((keepalived, dispatch)),
                None => None,
            },
            Speaker::Bird(_) => None,
        }
    }

    /// Checks what types alone do not exclude.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), String> {
        if self.networks.is_empty() {
            return Err("'announce.networks' is empty; add the networks of the VIPs".to_owned());
        }
        match &self.speaker {
            Speaker::Bird(bird) => bird.check(),
            Speaker::Keepalived(keepalived) => keepalived.check(&self.networks),
        }
    }
}

impl Bird {
    fn check(&self) -> Result<(), String> {
        const MOST: Duration = Duration::from_secs(10);
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
