//! `vedette agent` and `vedette get`.

use std::path::Path;
use std::time::Duration;

use agent::{Agent, AgentConfig, KeyConfig, KeyRules, conf};
use anyhow::{Context, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};
use stdx::clock::RealClock;
use stdx::sys::confine;
use wire::peers::PeerList;

use crate::account::Account;
use crate::params::{self, Param, Values, param};

/// Parameters of `vedette agent`.
pub(crate) const PARAMS: &[Param] = &[
    param("listen", "ADDR", "127.0.0.1:10050", "Address on which the agent listens."),
    param("server", "LIST", "127.0.0.1,::1", "Addresses and networks that may query the agent."),
    param(
        "keys",
        "RULES",
        "",
        "Allowed item keys, as in zabbix_agentd.conf: AllowKey=vfs.file.*[/var/log/*]; \
         DenyKey=vfs.file.*[*]. The first matching rule applies; default: all keys.",
    ),
    param("hostname", "TEXT", "", "Name of this host; default: the system's host name."),
    param("log", "LEVEL", "info", "Log level: error, warn, info, debug or trace."),
];

/// Ends the names of files with parameters in TOML.
const TOML: &str = "toml";

/// Umask of commands, as a Zabbix agent sets it. The agent itself writes no files.
const UMASK: u32 = 0o002;

/// The command and its arguments.
pub(crate) fn command() -> Command {
    let command = Command::new("agent")
        .about("Run only the agent, which provides metrics of this machine")
        .long_about(
            "Run only the agent: it responds to passive checks of any Zabbix-compatible server, and sends \
             values of active checks. With the configuration file of a Zabbix agent, it replaces that agent.",
        )
        .arg(
            Arg::new("test")
                .long("test")
                .short('t')
                .value_name("KEY")
                .help("Print the value of an item key, and exit"),
        )
        .arg(
            Arg::new("print")
                .long("print")
                .short('p')
                .action(ArgAction::SetTrue)
                .conflicts_with("test")
                .help("Print the values of all item keys, and exit"),
        )
        .arg(
            Arg::new("foreground")
                .long("foreground")
                .short('f')
                .action(ArgAction::SetTrue)
                .help("Stay in the foreground, which the agent always does"),
        );
    params::add(command, PARAMS).mut_arg("config", |config| {
        config.short('c').help(
            "Read parameters from this file: zabbix_agentd.conf, or a file that ends in .toml \
             [default: vedette.toml, if it exists]",
        )
    })
}

/// What the arguments, the environment and the file say.
struct Settings {
    config: AgentConfig,
    /// Key of an item whose value is the host name.
    hostname_item: Option<String>,
    log: String,
    /// User to become if this process is root's.
    user: Option<String>,
    warnings: Vec<String>,
}

impl Settings {
    fn read(matches: &ArgMatches) -> anyhow::Result<Self> {
        match params::named_file(matches) {
            Some(path) if path.extension().is_none_or(|end| end != TOML) => {
                Self::of_file(&path, &Values::given(matches, PARAMS))
            }
            _ => Self::of_values(&Values::read(matches, PARAMS)?),
        }
    }

    fn of_values(values: &Values) -> anyhow::Result<Self> {
        let hostname = match values.get("hostname") {
            "" => host_name(),
            name => name.to_owned(),
        };
        let rules = KeyRules::parse(values.get("keys")).context("parameter keys")?;
        let config = AgentConfig {
            hostnames: vec![hostname],
            listen: vec![values.address("listen")?],
            allowed: PeerList::parse(values.get("server")).context("parameter server")?,
            keys: KeyConfig { rules, ..KeyConfig::default() },
            ..AgentConfig::default()
        };
        let log = values.get("log").to_owned();
        Ok(Self { config, hostname_item: None, log, user: None, warnings: Vec::new() })
    }

    /// Flags and the environment win over the file.
    fn of_file(path: &Path, given: &Values) -> anyhow::Result<Self> {
        let conf::Settings { agent, hostname_item, log, user, warnings } = conf::load(path)?;
        let log = log.to_owned();
        let mut settings = Self { config: agent, hostname_item, log, user, warnings };
        let config = &mut settings.config;
        if !given.get("hostname").is_empty() {
            config.hostnames = vec![given.get("hostname").to_owned()];
            settings.hostname_item = None;
        }
        if !given.get("listen").is_empty() {
            config.listen = vec![given.address("listen")?];
        }
        if !given.get("server").is_empty() {
            config.allowed = PeerList::parse(given.get("server")).context("parameter server")?;
        }
        if !given.get("keys").is_empty() {
            config.keys.rules = KeyRules::parse(given.get("keys")).context("parameter keys")?;
        }
        if !given.get("log").is_empty() {
            given.get("log").clone_into(&mut settings.log);
        }
        Ok(settings)
    }

    /// The agent, with the value of the host name's item.
    async fn agent(self) -> anyhow::Result<Agent> {
        let mut config = self.config;
        if let Some(item) = &self.hostname_item {
            config.hostnames = vec![host_name()];
            let first = Agent::new(config.clone(), RealClock::shared())?;
            let value = first.own_value(item).await.map_err(anyhow::Error::msg);
            config.hostnames = vec![value.with_context(|| format!("HostnameItem={item}"))?];
        }
        Ok(Agent::new(config, RealClock::shared())?)
    }
}

/// Runs the agent until it is asked to stop, or prints values.
pub(crate) fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let settings = Settings::read(matches)?;
    stdx::sys::set_umask(UMASK);
    let test = matches.get_one::<String>("test");
    let prints = matches.get_flag("print");
    if test.is_none() && !prints {
        crate::logging::log(&settings.log)?;
        settings.warnings.iter().for_each(|warning| tracing::warn!("{warning}"));
        become_user(settings.user.as_deref())?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let agent = settings.agent().await?;
        if let Some(key) = test {
            return print(&agent, std::slice::from_ref(key)).await;
        }
        if prints {
            return print(&agent, &agent::print::keys(&agent)).await;
        }
        serve(&agent).await
    });
    // A check that hangs in the kernel does not keep the process.
    runtime.shutdown_background();
    ended
}

async fn serve(agent: &Agent) -> anyhow::Result<()> {
    let listeners = agent.bind().context("cannot listen: is another agent running?")?;
    for address in &agent.config().listen {
        tracing::info!(%address, "the agent is listening");
    }
    tokio::select! {
        () = agent.run(listeners) => {}
        () = super::stop_signal() => {}
    }
    Ok(())
}

async fn print(agent: &Agent, keys: &[String]) -> anyhow::Result<()> {
    use std::io::Write as _;

    for key in keys {
        let line = agent::print::line(agent, key).await;
        writeln!(std::io::stdout(), "{line}")?;
    }
    Ok(())
}

/// As the user of the configuration file, if this process is root's.
fn become_user(name: Option<&str>) -> anyhow::Result<()> {
    let Some(name) = name.filter(|_| confine::user_id() == 0) else { return Ok(()) };
    let account = Account::find(name).with_context(|| {
        format!("there is no user {name}: create it, set User to another one, or set AllowRoot=1")
    })?;
    confine::become_user(account.uid, account.gid, &account.groups)
        .with_context(|| format!("cannot become user {name}"))
}

/// Asks an agent for one value.
pub(crate) fn get(address: &str, key: &str) -> anyhow::Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match runtime.block_on(agent::get::get(address, key, Duration::from_secs(5)))? {
        Some(value) => Ok(value),
        None => bail!("the agent has no value for {key} now"),
    }
}

/// What the system calls this machine.
pub(crate) fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "localhost".to_owned(),
        name => name.to_owned(),
    }
}
