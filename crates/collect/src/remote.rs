//! Commands for active agents: they wait until the agent asks for its list of checks, and its answer comes with its values.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use model::HostId;
use stdx::sync::lock;
use tokio::sync::oneshot;

/// Commands that wait for one agent.
const OF_HOST_MAX: usize = 8;

/// A command for an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCommand {
    /// Comes back with the answer.
    pub id: u64,
    /// The command line.
    pub command: String,
    /// The agent waits for its output.
    pub wait: bool,
}

type Answer = Result<String, String>;

#[derive(Debug)]
struct Entry {
    command: AgentCommand,
    /// The agent has it.
    given: bool,
    answer: oneshot::Sender<Answer>,
}

/// Commands that agents fetch.
#[derive(Debug, Default)]
pub struct AgentCommands {
    hosts: Mutex<HashMap<HostId, Vec<Entry>>>,
}

/// A command whose answer somebody waits for; dropped, it is withdrawn.
#[derive(Debug)]
pub struct Asked {
    commands: Arc<AgentCommands>,
    host: HostId,
    id: u64,
    answer: oneshot::Receiver<Answer>,
}

impl AgentCommands {
    /// A command for the agent of a host. `None` = too many wait for it.
    pub fn ask(self: &Arc<Self>, host: HostId, command: String, wait: bool) -> Option<Asked> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).ok()?;
        // Not to be guessed by others, and exact in JSON.
        let id = (u64::from_le_bytes(bytes) >> 12).max(1);
        let (sender, answer) = oneshot::channel();
        let mut hosts = lock(&self.hosts);
        let own = hosts.entry(host).or_default();
        if own.len() >= OF_HOST_MAX {
            return None;
        }
        let command = AgentCommand { id, command, wait };
        own.push(Entry { command, given: false, answer: sender });
        Some(Asked { commands: Arc::clone(self), host, id, answer })
    }

    /// What the agent gets now; each command once.
    pub fn take(&self, host: HostId) -> Vec<AgentCommand> {
        let mut hosts = lock(&self.hosts);
        let own = hosts.get_mut(&host).into_iter().flatten().filter(|entry| !entry.given);
        own.map(|entry| {
            entry.given = true;
            entry.command.clone()
        })
        .collect()
    }

    /// The agent's answer. One that nobody waits for is dropped.
    pub fn answer(&self, host: HostId, id: u64, answer: Result<String, String>) {
        if let Some(entry) = self.remove(host, id) {
            // Who waited may have given up in this moment.
            let _ = entry.answer.send(answer);
        }
    }

    fn remove(&self, host: HostId, id: u64) -> Option<Entry> {
        let mut hosts = lock(&self.hosts);
        let own = hosts.get_mut(&host)?;
        let at = own.iter().position(|entry| entry.command.id == id)?;
        let entry = own.swap_remove(at);
        if own.is_empty() {
            hosts.remove(&host);
        }
        Some(entry)
    }
}

impl Asked {
    /// The output, or why there is none.
    pub async fn answer(&mut self) -> Result<String, String> {
        (&mut self.answer).await.unwrap_or_else(|_| Err("the command was withdrawn".to_owned()))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.commands.remove(self.host, self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_command_is_given_and_answered_once() {
        let commands = Arc::<AgentCommands>::default();
        let (host, other) = (HostId(1), HostId(2));
        let mut asked = commands.ask(host, "id".to_owned(), true).unwrap();
        assert!(commands.take(other).is_empty());
        let given = commands.take(host);
        assert_eq!((given.len(), given[0].command.as_str(), given[0].wait), (1, "id", true));
        assert!(commands.take(host).is_empty());
        commands.answer(other, given[0].id, Ok("forged".to_owned()));
        commands.answer(host, given[0].id, Ok("root".to_owned()));
        assert_eq!(asked.answer().await, Ok("root".to_owned()));
        drop(asked);
        assert!(lock(&commands.hosts).is_empty());
    }

    #[test]
    fn what_nobody_waits_for_is_not_given() {
        let commands = Arc::<AgentCommands>::default();
        let asked: Vec<_> =
            (0..OF_HOST_MAX).map(|_| commands.ask(HostId(1), String::new(), false)).collect();
        assert!(asked.iter().all(Option::is_some));
        assert!(commands.ask(HostId(1), String::new(), false).is_none());
        drop(asked);
        assert!(commands.take(HostId(1)).is_empty());
    }
}
