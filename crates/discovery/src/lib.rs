//! Records the results of network discovery and autoregistration: which devices, services and agents
//! there are, and since when. A result yields the events that actions judge.

mod agents;
mod network;

use std::collections::BTreeSet;

use config::Edit;
use config::db::DbResult;
use model::{DiscoveryResult, Timestamp};

use network::Rules;

pub use network::worth;

/// The API's number of events of network discovery.
pub const SOURCE_DISCOVERY: i64 = 1;
/// The API's number of events of agents that announce themselves.
pub const SOURCE_AUTOREGISTRATION: i64 = 2;

/// What an event is about. The numbers are the API's `object`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Object {
    /// A device, with all of its services.
    Host = 1,
    /// A service of a device.
    Service = 2,
    /// An active agent.
    Agent = 3,
}

/// The API's values of events of network discovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It responds.
    Up = 0,
    /// It does not respond.
    Down = 1,
    /// It responds for the first time, or again.
    Discovered = 2,
    /// It has stopped to respond.
    Lost = 3,
}

/// An event that a result yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Kind of the object.
    pub object: Object,
    /// Id of the object in the table of its kind.
    pub id: u64,
    /// A [`State`]; 1 for agents.
    pub value: i64,
    /// Time of the result.
    pub at: Timestamp,
}

impl Event {
    /// The API's number of the source.
    pub fn source(&self) -> i64 {
        match self.object {
            Object::Agent => SOURCE_AUTOREGISTRATION,
            Object::Host | Object::Service => SOURCE_DISCOVERY,
        }
    }
}

/// Records the results of one transaction.
#[derive(Debug, Default)]
pub struct Recorder<'r> {
    rules: Rules,
    /// Name and metadata of the agents that were recorded.
    agents: BTreeSet<(&'r str, &'r str)>,
}

impl<'r> Recorder<'r> {
    /// Records a result; returns its events.
    pub fn record(
        &mut self,
        edit: &mut Edit<'_>,
        result: &'r DiscoveryResult,
    ) -> DbResult<Vec<Event>> {
        let mut events = Vec::new();
        match result {
            DiscoveryResult::Address(address) => {
                network::address(edit, &mut self.rules, address, &mut events)?;
            }
            DiscoveryResult::Round { rule, error } => network::round(edit, *rule, error)?,
            DiscoveryResult::Agent(agent) => {
                // Thousands of requests of one agent within a batch say the same.
                if self.agents.insert((&agent.host, &agent.metadata)) {
                    agents::agent(edit, agent, &mut events)?;
                }
            }
            DiscoveryResult::End => {}
        }
        Ok(events)
    }
}
