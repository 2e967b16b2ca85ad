//! Results of network discovery and autoregistration: collection's message to the actions.

use std::net::IpAddr;

use crate::Timestamp;

/// What was found at one address, by one round of a rule, or of one active agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiscoveryResult {
    /// A discovery rule has looked at one address.
    Address(SeenAddress),
    /// A discovery rule has gone through all of its addresses.
    Round {
        /// Row of `drules`.
        rule: u64,
        /// What keeps the rule from working; empty = nothing.
        error: String,
    },
    /// An active agent has asked for its checks.
    Agent(SeenAgent),
    /// The server stops: nothing that follows is waited for.
    End,
}

impl DiscoveryResult {
    /// When it was found; `None` = it is about no address or agent.
    pub const fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Address(SeenAddress { at, .. }) | Self::Agent(SeenAgent { at, .. }) => Some(*at),
            Self::Round { .. } | Self::End => None,
        }
    }
}

/// All that a discovery rule found out about one address in one round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenAddress {
    /// Row of `drules`.
    pub rule: u64,
    /// The address.
    pub ip: IpAddr,
    /// Its name; empty = it has none.
    pub dns: String,
    /// Time of the check.
    pub at: Timestamp,
    /// What was looked for, found or not.
    pub services: Vec<SeenService>,
}

/// One service that a discovery rule looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenService {
    /// The check of the rule.
    pub check: u64,
    /// Port; 0 where there is none.
    pub port: u16,
    /// It answered as it should.
    pub up: bool,
    /// What an agent or an SNMP device answered; else empty.
    pub value: String,
}

/// An active agent that asked for its checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenAgent {
    /// Name as the agent says it.
    pub host: String,
    /// Metadata as the agent says it.
    pub metadata: String,
    /// Address to check the agent at: what it says, or where it came from.
    pub ip: String,
    /// DNS name to check the agent at, if it gave one as its interface.
    pub dns: String,
    /// Port of the agent.
    pub port: u16,
    /// What its interface is: 0 it gave none, 1 an address, 2 a name.
    pub interface: u8,
    /// How it came: 1 none, 2 PSK, 4 certificate.
    pub tls: u8,
    /// Time at which the agent asked for its checks.
    pub at: Timestamp,
}
