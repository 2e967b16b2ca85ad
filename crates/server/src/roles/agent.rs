//! `vedette agent` and `vedette get`.

use std::time::Duration;

use agent::{Agent, AgentConfig, KeyRules};
use anyhow::{Context, bail};
use stdx::clock::RealClock;
use wire::peers::PeerList;

use crate::params::Values;

/// Runs the agent until it is asked to stop.
pub(crate) fn run(values: &Values) -> anyhow::Result<()> {
    crate::logging::log(values.get("log"))?;
    let hostname = match values.get("hostname") {
        "" => host_name(),
        name => name.to_owned(),
    };
    let config = AgentConfig {
        hostname,
        listen: values.address("listen")?,
        allowed: PeerList::parse(values.get("server")).context("parameter server")?,
        rules: KeyRules::parse(values.get("keys")).context("parameter keys")?,
        ..AgentConfig::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let agent = Agent::new(config, RealClock::shared())?;
        let listener = agent.bind().await.with_context(|| {
            format!("cannot listen on {}: is another agent running?", agent.config().listen)
        })?;
        tracing::info!(address = %agent.config().listen, "the agent is listening");
        tokio::select! {
            () = agent.run(listener) => {}
            () = super::stop_signal() => {}
        }
        Ok(())
    });
    // A check that hangs in the kernel does not keep the process.
    runtime.shutdown_background();
    ended
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
