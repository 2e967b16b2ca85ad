//! Runs one command, with the clients of the checks.

use std::sync::Arc;
use std::time::Duration;

use collect::program::{self, Complete, Excess, Limits, Stopped, Streams};
use collect::remote::Asked;
use config::snapshot::source::{Login, Source};
use config::snapshot::{Host, Interface, Item, ItemExtra, ItemType};
use eval::key::quote_param;
use model::Available;
use model::command::{Remote, Task, Work};
use objects::InterfaceType;
use tokio::process::Command;
use tokio::sync::watch;

use super::webhook;
use super::{Answer, CommanderSetup, Failure};
use crate::checks::check::Check;
use crate::checks::reply::CheckReply;
use crate::checks::{agent, ipmi, ssh, telnet};
use crate::status::{Running, Status};

/// Time for a command on a host.
const REMOTE_MAX: Duration = Duration::from_secs(60);
/// Time for a command on this machine (7.0: `TrapperTimeout`).
const SERVER_MAX: Duration = Duration::from_secs(300);
/// Bytes of the output of a command on this machine.
const OUTPUT_BYTES_MAX: usize = 16 << 20;

const NOT_ENABLED: &str =
    "Global script execution on Zabbix server is disabled by server configuration.";
const ACTIVE_TIMEOUT: &str = "timed out while requesting remote command in active mode";

/// Who runs commands.
pub(super) struct Runner {
    poll: Arc<Running>,
    setup: CommanderSetup,
    /// Becomes true when commands have to end.
    cancel: watch::Receiver<bool>,
}

impl Runner {
    pub(super) fn new(
        pollers: &Status,
        setup: CommanderSetup,
        cancel: watch::Receiver<bool>,
    ) -> Self {
        Self { poll: Arc::clone(&pollers.0), setup, cancel }
    }

    /// Blocks until the command has ended.
    pub(super) fn run(&self, task: &Task) -> Result<Answer, Failure> {
        if let Work::Webhook { script, parameters, timeout } = &task.work {
            let clock = &self.poll.shared.context.clock;
            let tickets = &self.poll.shared.tickets;
            return webhook::run(clock, tickets, script, parameters, *timeout);
        }
        let work = async {
            tokio::select! {
                biased;
                ended = self.on_host(task) => ended.map(|value| Answer { value, ..Answer::default() }),
                () = self.cancelled() => Err(Failure::Cancelled),
            }
        };
        self.setup.runtime.block_on(work)
    }

    async fn cancelled(&self) {
        let mut cancel = self.cancel.clone();
        if cancel.wait_for(|cancel| *cancel).await.is_err() {
            // Nobody can cancel any more.
            std::future::pending::<()>().await;
        }
    }

    async fn on_host(&self, task: &Task) -> Result<String, Failure> {
        if let Work::Server { command } = &task.work {
            return self.on_server(command).await;
        }
        let snapshot = self.poll.shared.context.snapshots.load();
        let host = snapshot.hosts.get(&task.host).cloned();
        let host = host.ok_or_else(|| "The host does not exist.".to_owned())?;
        if !host.is_of_server() {
            let reason = "The host is monitored by a proxy, and proxies cannot connect yet.";
            return Err(reason.to_owned().into());
        }
        match &task.work {
            Work::Agent { command, wait } => self.by_agent(&host, command, *wait).await,
            Work::Ssh(remote) => self.signed_in(&host, remote, ItemType::Ssh).await,
            Work::Telnet(remote) => self.signed_in(&host, remote, ItemType::Telnet).await,
            Work::Ipmi { command } => {
                let interface = main(&host, InterfaceType::Ipmi)
                    .ok_or_else(|| "The host has no IPMI interface.".to_owned())?;
                let work = ipmi::control::run(interface, &self.poll.shared, command);
                let ended = tokio::time::timeout(REMOTE_MAX, work).await;
                let silent = "cannot connect to IPMI host: the device does not respond";
                ended.unwrap_or_else(|_| Err(silent.to_owned()))?;
                Ok(String::new())
            }
            Work::Server { .. } | Work::Webhook { .. } => unreachable!("BUG: they are run above"),
        }
    }

    async fn on_server(&self, command: &str) -> Result<String, Failure> {
        if !self.setup.on_server {
            return Err(Failure::Failed(NOT_ENABLED.to_owned()));
        }
        let mut shell = Command::new("/bin/sh");
        // Its error texts begin with this name.
        program::clean(shell.arg0("sh").arg("-c").arg(command));
        let limits = Limits {
            time: SERVER_MAX,
            bytes: OUTPUT_BYTES_MAX,
            excess: Excess::Kill,
            complete: Complete::AtExit,
        };
        let ended = program::run(shell, Streams::Joined, limits, self.cancelled()).await;
        let ended = ended.map_err(|why| match why {
            Stopped::Cancelled => Failure::Cancelled,
            why => Failure::Failed(why.to_string()),
        })?;
        if ended.status.success() {
            return Ok(ended.text());
        }
        Err(Failure::Failed(ended.failure()))
    }

    /// By a connection to the agent; where there is none, the agent fetches the command.
    async fn by_agent(
        &self,
        host: &Arc<Host>,
        command: &str,
        wait: bool,
    ) -> Result<String, Failure> {
        let context = &self.poll.shared.context;
        let interface = main(host, InterfaceType::Agent);
        let is_down = |interface: &Interface| {
            context.availability.interface(interface.id).available == Available::No
                && context.active_available(host.id) == Available::Yes
        };
        match interface.filter(|interface| !is_down(interface)) {
            Some(interface) => self.by_passive_agent(host, interface, command, wait).await,
            None => {
                let asked = context.commands.ask(host.id, command.to_owned(), wait);
                let too_many = || "Too many commands wait for the active agent.".to_owned();
                by_active_agent(asked.ok_or_else(too_many)?).await
            }
        }
    }

    async fn by_passive_agent(
        &self,
        host: &Arc<Host>,
        interface: &Interface,
        command: &str,
        wait: bool,
    ) -> Result<String, Failure> {
        let cannot =
            || "The command cannot be sent to an agent: it ends with a backslash.".to_owned();
        let command = quote_param(command, false).ok_or_else(cannot)?;
        let key = format!("system.run[{command},{}]", if wait { "wait" } else { "nowait" });
        let item = item(host, ItemType::Agent, key, ItemExtra::default());
        let context = &self.poll.shared.context;
        let timeout =
            if wait { REMOTE_MAX } else { context.timeout(&context.snapshots.load(), &item) };
        let interface = Some(interface);
        let check = Check { shared: &self.poll.shared, host, item: &item, interface, timeout };
        text(agent::check(&check).await)
    }

    async fn signed_in(
        &self,
        host: &Arc<Host>,
        remote: &Remote,
        kind: ItemType,
    ) -> Result<String, Failure> {
        let interface =
            host.main_interface().ok_or_else(|| "The host has no interface.".to_owned())?;
        let name = if kind == ItemType::Ssh { "ssh.run" } else { "telnet.run" };
        let port = remote.port.map_or_else(String::new, |port| port.to_string());
        let (public_key, private_key) = remote.keys.clone().unwrap_or_default();
        let login = Login {
            username: remote.username.clone(),
            password: remote.password.clone(),
            by_key: remote.keys.is_some(),
            public_key,
            private_key,
        };
        let extra = ItemExtra {
            params: remote.command.clone(),
            source: Source::Login(login),
            ..ItemExtra::default()
        };
        let item = item(host, kind, format!("{name}[command,,{port}]"), extra);
        let check = Check {
            shared: &self.poll.shared,
            host,
            item: &item,
            interface: Some(interface),
            timeout: REMOTE_MAX,
        };
        text(match kind {
            ItemType::Ssh => ssh::check(&self.poll.engines.host_keys, &check).await,
            _ => telnet::check(&check).await,
        })
    }
}

async fn by_active_agent(mut asked: Asked) -> Result<String, Failure> {
    match tokio::time::timeout(REMOTE_MAX, asked.answer()).await {
        Ok(answer) => Ok(answer?),
        Err(_) => Err(Failure::Failed(ACTIVE_TIMEOUT.to_owned())),
    }
}

/// An item that is configured nowhere.
fn item(host: &Host, kind: ItemType, key: String, extra: ItemExtra) -> Item {
    Item::unconfigured(host.id, kind, key.into(), extra)
}

fn main(host: &Host, kind: InterfaceType) -> Option<&Interface> {
    host.interfaces.iter().find(|one| one.main && one.kind == kind as u8)
}

fn text(reply: CheckReply) -> Result<String, Failure> {
    match reply {
        CheckReply::Nothing => Ok(String::new()),
        reply => Ok(reply.into_text()?),
    }
}
