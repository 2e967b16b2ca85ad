//! Network discovery as collection sees it: which addresses, what to look for there.

use std::ops::RangeInclusive;
use std::sync::Arc;

use eval::ranges::AddressRanges;

use super::source::Snmp;

/// All rules that are switched on, by their ids.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discovery {
    /// In the order of their ids.
    pub rules: Vec<Arc<DiscoveryRule>>,
    /// An action is switched on that makes hosts of agents that announce themselves.
    pub autoregisters: bool,
}

/// A rule, macros resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryRule {
    /// `druleid`.
    pub id: u64,
    pub name: Arc<str>,
    /// Where to look.
    pub addresses: AddressRanges,
    /// From the begin of one round to the begin of the next.
    pub delay_s: u32,
    /// Checks at one time; 0 = as many as go.
    pub concurrency_max: u16,
    /// What to look for.
    pub checks: Vec<DiscoveryCheck>,
    /// Why it cannot work; empty = it can.
    pub error: String,
}

/// What to look for at each address, macros resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryCheck {
    /// `dcheckid`.
    pub id: u64,
    /// What it is.
    pub kind: CheckKind,
    /// Ports; none where there are no ports.
    pub ports: Vec<RangeInclusive<u16>>,
}

/// The kinds of checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckKind {
    /// A service, by the name that keys of simple checks use.
    Service(&'static str),
    /// A passive agent that has a value for this key.
    Agent(Arc<str>),
    /// An SNMP device that has a value for this object.
    Snmp(Arc<Snmp>, Arc<str>),
    /// Echo requests; with `true` an answer from elsewhere counts too.
    Ping(bool),
}
