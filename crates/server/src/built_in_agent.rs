//! The built-in agent as a process of its own: what it reads, it reads as another user or at least
//! without the server's rights, and whatever a check does, it does not do it to the server.
//!
//! The process is this program again. Its standard input is the listening socket, its standard
//! output a socket to the server that brings its task and ends when the server does, and its
//! standard error goes to the server's log.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use agent::{Agent, AgentConfig, FileGuard, KeyConfig, KeyRules};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use stdx::clock::{RealClock, SharedClock};
use stdx::sys::confine;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::account::Account;
use crate::params::Values;

/// This program, even if its file has been replaced since the start.
const PROGRAM: &str = "/proc/self/exe";
/// Flag of `vedette agent` for the process that the server starts.
pub(crate) const FLAG: &str = "built-in";
/// Users that the agent becomes if the server is root, the first that exists.
const USERS: [&str; 2] = ["vedette-agent", "nobody"];
/// User and group `nobody`, where the system has no list of users.
const NOBODY: (u32, u32) = (65_534, 65_534);
/// Where packages keep the configuration.
const ETC: &str = "/etc/vedette";
/// Pauses between restarts, doubled each time.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// Longest line of the agent that is logged.
const LINE_BYTES_MAX: u64 = 16 << 10;

/// What the server tells its agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Task {
    hostname: String,
    listen: SocketAddr,
    log: String,
    rules: String,
    protected: Vec<PathBuf>,
    /// User and group to become.
    user: Option<(u32, u32)>,
}

/// The server's side: starts the agent, and starts it again when it ends.
pub(crate) struct BuiltIn {
    listener: std::net::TcpListener,
    task: Task,
    clock: SharedClock,
}

impl BuiltIn {
    /// Checks everything that the parameters can get wrong; starts nothing yet.
    pub(crate) fn new(
        values: &Values,
        listener: tokio::net::TcpListener,
        clock: &SharedClock,
    ) -> anyhow::Result<Self> {
        let rules = values.get("agent-keys").to_owned();
        KeyRules::parse(&rules).context("parameter agent-keys")?;
        let user = |name: &str| Account::find(name).map(|account| (account.uid, account.gid));
        let user = match (confine::user_id(), values.get("agent-user")) {
            (0, "") => Some(USERS.iter().find_map(|name| user(name)).unwrap_or(NOBODY)),
            (0, name) => Some(
                user(name)
                    .with_context(|| format!("parameter agent-user: there is no user {name}"))?,
            ),
            (_, "") => None,
            (_, _) => {
                anyhow::bail!("parameter agent-user: only root can start the agent as another user")
            }
        };
        let task = Task {
            hostname: crate::roles::agent::host_name(),
            listen: listener.local_addr()?,
            log: values.get("log").to_owned(),
            rules,
            protected: protected(values)?,
            user,
        };
        let listener = listener.into_std()?;
        Ok(Self { listener, task, clock: SharedClock::clone(clock) })
    }

    /// Keeps the agent running until dropped, which ends it.
    pub(crate) async fn run(self) {
        let mut pause = PAUSE_MIN;
        loop {
            let started = self.clock.monotonic();
            match self.run_once().await {
                Ok(status) => {
                    tracing::warn!(%status, "the built-in agent ended; restarting in {pause:?}")
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot start the built-in agent; retrying in {pause:?}");
                }
            }
            tokio::time::sleep(pause).await;
            let ran = self.clock.monotonic().saturating_sub(started);
            pause = if ran > PAUSE_MAX { PAUSE_MIN } else { (2 * pause).min(PAUSE_MAX) };
        }
    }

    async fn run_once(&self) -> anyhow::Result<ExitStatus> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut child = self.start(theirs)?;
        let mut ours = tokio::net::UnixStream::from_std(ours)?;
        let mut text = serde_json::to_vec(&self.task)?;
        text.push(b'\n');
        ours.write_all(&text).await?;
        forward_log(&mut child).await;
        Ok(child.wait().await?)
    }

    fn start(&self, task: UnixStream) -> anyhow::Result<Child> {
        let mut command = Command::new(PROGRAM);
        command.arg0("vedette").args(["agent", &format!("--{FLAG}")]);
        // The environment may hold passwords, and the working folder may be the data's.
        command.env_clear().current_dir("/");
        for name in ["TZ", "TZDIR", "PATH", "RUST_BACKTRACE"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.stdin(Stdio::from(OwnedFd::from(self.listener.try_clone()?)));
        command.stdout(Stdio::from(OwnedFd::from(task))).stderr(Stdio::piped());
        // Ctrl-C is for the server, which ends its agent.
        command.process_group(0).kill_on_drop(true);
        command.spawn().context("cannot start a process")
    }
}

/// Files and folders with secrets of the server.
fn protected(values: &Values) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths =
        vec![PathBuf::from(ETC), PathBuf::from(format!("/proc/{}", std::process::id()))];
    paths.extend(values.file().map(PathBuf::from));
    for name in ["data", "http-tls-key", "tls-key-file", "ssl-key-location", "ssh-keys"] {
        paths.extend(values.path(name));
    }
    if let config::db::Location::Sqlite(file) =
        crate::parts::base::config_location(values, &values.path("data").unwrap_or_default())
    {
        // Its log and index lie beside it under longer names.
        for end in ["", "-wal", "-shm", "-journal"] {
            let mut name = file.clone().into_os_string();
            name.push(end);
            paths.push(PathBuf::from(name));
        }
    }
    paths.iter().map(|path| Ok(std::path::absolute(path)?)).collect()
}

/// Writes the agent's lines to the server's log, until the agent ends.
async fn forward_log(child: &mut Child) {
    let Some(lines) = child.stderr.take() else { return };
    let mut lines = tokio::io::BufReader::new(lines);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut lines).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => log_line(&String::from_utf8_lossy(&line)),
        }
    }
}

/// One line as `tracing` writes it without time: level, then text. What has no level comes from
/// outside of the log, such as a panic.
fn log_line(line: &str) {
    let line = line.trim();
    let (level, text) = line.split_once(' ').unwrap_or((line, ""));
    match level {
        "ERROR" => tracing::error!("built-in agent: {text}"),
        "WARN" => tracing::warn!("built-in agent: {text}"),
        "INFO" => tracing::info!("built-in agent: {text}"),
        "DEBUG" => tracing::debug!("built-in agent: {text}"),
        "TRACE" => tracing::trace!("built-in agent: {text}"),
        _ => tracing::error!("built-in agent: {line}"),
    }
}

/// The agent's side: what `vedette agent` does when the server has started it.
pub(crate) fn run() -> anyhow::Result<()> {
    confine::name_process(c"vedette-agent");
    let server = UnixStream::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let listener = std::net::TcpListener::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut text = String::new();
    BufReader::new(&server).read_line(&mut text)?;
    let task: Task = serde_json::from_str(&text)
        .context("this flag is for the server, which starts its agent with it")?;
    crate::logging::log_to_server(&task.log)?;
    if let Some((uid, gid)) = task.user
        && let Err(error) = confine::become_user(uid, gid, &[])
    {
        tracing::warn!(%error, "the agent cannot switch to user {uid}; it runs as the server's user");
    }
    confine::drop_capabilities().context("cannot give up capabilities")?;
    // Without commands: a shell would read what the guard of files refuses.
    let keys = KeyConfig {
        rules: KeyRules::parse(&task.rules)?,
        files: FileGuard { protected: task.protected, private_of: Some(confine::user_id()) },
        ..KeyConfig::default()
    };
    let config = AgentConfig {
        hostnames: vec![task.hostname],
        listen: vec![task.listen],
        keys,
        ..AgentConfig::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let agent = Agent::new(config, RealClock::shared())?;
        server.set_nonblocking(true)?;
        let server = tokio::net::UnixStream::from_std(server)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        tokio::select! {
            () = agent.run(vec![listener]) => {}
            () = until_closed(server) => {}
            // systemd signals every process of a service; the server ends its agent itself.
            () = ignore_signals() => {}
        }
        anyhow::Ok(())
    });
    runtime.shutdown_background();
    ended
}

/// Resolves when the server has ended, in whatever way.
async fn until_closed(mut server: tokio::net::UnixStream) {
    let mut rest = [0; 64];
    while server.read(&mut rest).await.is_ok_and(|n| n > 0) {}
}

async fn ignore_signals() {
    loop {
        crate::roles::stop_signal().await;
    }
}
