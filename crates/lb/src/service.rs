//! The engine as a process: started from a file, changed by SIGHUP, ended by SIGTERM.

use std::path::Path;

use anyhow::Context;
use stdx::clock::SharedClock;
use tokio::signal::unix::{SignalKind, signal};

use crate::engine::{Engine, read};

/// Starts the engine from a file and runs it until SIGTERM or SIGINT. SIGHUP reads the file again; a
/// file with problems changes nothing.
///
/// # Errors
/// Problems of the first configuration, addresses that cannot be used, missing resources.
pub fn run(file: &Path, clock: &SharedClock) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut reload = signal(SignalKind::hangup()).context("cannot receive SIGHUP")?;
        let mut terminate = signal(SignalKind::terminate()).context("cannot receive SIGTERM")?;
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot receive SIGINT")?;
        let mut engine = Engine::start(&read(file)?, clock)?;
        tracing::info!("the engine runs; configuration {} applied", file.display());
        loop {
            tokio::select! {
                _ = reload.recv() => match read(file).and_then(|config| engine.apply(&config)) {
                    Ok(()) => tracing::info!("configuration {} applied", file.display()),
                    Err(error) => tracing::error!("cannot apply the new configuration; keeping the current one: {error:#}"),
                },
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
            }
        }
        engine.stop();
        Ok(())
    })
}
