//! Commands: what actions and users run on hosts, and who runs it.
//!
//! A [`Task`] is complete: its texts have no macros left. The escalator stores a command as an alert and starts it when
//! its [`Place`] was given; the outcome comes as a report of the alert, as for messages.

use std::time::Duration;

use crate::{AlertId, HostId};

/// A command that can be run now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The host that it is for.
    pub host: HostId,
    /// What is run, and where.
    pub work: Work,
}

/// What is run, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// A shell command on the host, by its agent.
    Agent {
        /// The command line.
        command: String,
        /// Wait for its output. Otherwise it has succeeded when the agent has started it.
        wait: bool,
    },
    /// A shell command on this machine.
    Server {
        /// The command line.
        command: String,
    },
    /// Commands over SSH.
    Ssh(Remote),
    /// Commands over Telnet.
    Telnet(Remote),
    /// A command for the management controller: `power off`.
    Ipmi {
        /// The command line.
        command: String,
    },
    /// JavaScript.
    Webhook {
        /// The body of the function.
        script: String,
        /// Names and values in their order.
        parameters: Vec<(String, String)>,
        /// How long it may take.
        timeout: Duration,
    },
}

/// Commands for a host that one signs in to.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Remote {
    /// The command line.
    pub command: String,
    /// `None` = the protocol's own.
    pub port: Option<u16>,
    /// User name.
    pub username: String,
    /// Password, or passphrase of the private key.
    pub password: String,
    /// SSH: file names of the public and the private key; `None` = by password.
    pub keys: Option<(String, String)>,
}

/// Passwords are in no log.
impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote").field("command", &self.command).finish_non_exhaustive()
    }
}

/// What has a limit of its own for concurrent commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandKind {
    /// By agents.
    Agent,
    /// On this machine.
    Server,
    /// Over SSH.
    Ssh,
    /// Over Telnet.
    Telnet,
    /// By management controllers.
    Ipmi,
    /// JavaScript.
    Webhook,
}

impl CommandKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Agent, Self::Server, Self::Ssh, Self::Telnet, Self::Ipmi, Self::Webhook];
}

impl Work {
    /// Whose limits it counts for.
    pub const fn kind(&self) -> CommandKind {
        match self {
            Self::Agent { .. } => CommandKind::Agent,
            Self::Server { .. } => CommandKind::Server,
            Self::Ssh(_) => CommandKind::Ssh,
            Self::Telnet(_) => CommandKind::Telnet,
            Self::Ipmi { .. } => CommandKind::Ipmi,
            Self::Webhook { .. } => CommandKind::Webhook,
        }
    }
}

/// Who runs the commands of actions.
pub trait Commands: Send + Sync {
    /// A place for a command of this kind on this host. `None`: as many run as may, or the server stops. Each report of a
    /// command makes room.
    fn place(&self, kind: CommandKind, host: HostId) -> Option<Box<dyn Place>>;
}

/// A place for one command; dropped, it is free for another.
pub trait Place: Send {
    /// Starts the command; its outcome is reported once for the alert.
    fn start(self: Box<Self>, alert: AlertId, task: Task);
}
