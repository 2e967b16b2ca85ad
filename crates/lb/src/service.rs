//! The engine as a process: started from a file, changed by SIGHUP, ended by SIGTERM.

use std::path::PathBuf;

use anyhow::Context;
use stdx::clock::SharedClock;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::Receiver;

use crate::engine::{Engine, read};
use crate::orders::{self, Waiting};
use crate::succession::{Beginning, Drain, announce_ready};

/// An engine with a file.
#[derive(Debug, Clone)]
pub struct Service {
    /// The configuration.
    pub file: PathBuf,
    /// What else uses its files.
    pub beginning: Beginning,
    /// What SIGTERM does.
    pub drain: Drain,
    /// Socket for orders; `None`: it takes none.
    pub control: Option<PathBuf>,
}

/// Starts the engine from a file and runs it until SIGTERM or SIGINT. SIGHUP reads the file again; a
/// file with problems changes nothing. SIGTERM lets it drain, if it may; a second one ends it.
///
/// # Errors
/// Problems of the first configuration, addresses that cannot be used, missing resources.
pub fn run(service: &Service, clock: &SharedClock) -> anyhow::Result<()> {
    let Service { file, beginning, drain, control } = service;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut reload = signal(SignalKind::hangup()).context("cannot receive SIGHUP")?;
        let mut terminate = signal(SignalKind::terminate()).context("cannot receive SIGTERM")?;
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot receive SIGINT")?;
        let mut engine = Engine::begin(&read(file)?, *beginning, clock)?;
        tracing::info!("the engine runs; configuration {} applied", file.display());
        let mut control = control.as_deref().map(orders::listen).transpose()?;
        announce_ready(*beginning, *drain);
        let drains = loop {
            tokio::select! {
                _ = reload.recv() => match read(file).and_then(|config| engine.apply(&config)) {
                    Ok(()) => tracing::info!("configuration {} applied", file.display()),
                    Err(error) => tracing::error!("cannot apply the new configuration; keeping the current one: {error:#}"),
                },
                order = next(&mut control) => {
                    if let Some(order) = order {
                        order.carry_out(&engine);
                    }
                }
                _ = terminate.recv() => break !drain.deadline.is_zero(),
                _ = interrupt.recv() => break false,
            }
        };
        if drains {
            tokio::select! {
                () = engine.drain(*drain) => {}
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        }
        engine.stop();
        Ok(())
    })
}

/// The next order, if the engine takes any.
async fn next(control: &mut Option<Receiver<Waiting>>) -> Option<Waiting> {
    match control {
        Some(orders) => orders.recv().await,
        None => std::future::pending().await,
    }
}
