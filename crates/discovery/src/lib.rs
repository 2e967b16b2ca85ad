//! Records the results of network discovery and autoregistration: which devices, services and agents
//! there are, and since when. A result yields the events that actions judge.

mod agents;
mod network;

use std::collections::BTreeSet;

use config::Edit;
use config::db::DbResult;
use model::{DiscoveryResult, NewEvent};

use network::Rules;

pub use network::worth;

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
    ) -> DbResult<Vec<NewEvent>> {
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
