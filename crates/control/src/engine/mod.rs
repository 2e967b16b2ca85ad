//! The engine's side: runs an engine with the configuration that the server sends.

mod analytics;
mod folder;
mod link;
mod placement;
mod session;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use balancing::{Announce, Config, Ocsp, Transactions};
use lb::{Beginning, Drain, Engine, announce_ready};
use stdx::clock::SharedClock;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use folder::{Folder, Identity, Owns};

/// Pauses before another attempt to connect: they double from the first to the last.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// How often a process looks whether the one before it has left the folder.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How an engine finds its server.
#[derive(Debug, Clone)]
pub struct Options {
    /// Name or address, and port.
    pub controller: String,
    /// Folder of the engine's key, configuration and records; created if missing.
    pub data: PathBuf,
    /// From `engine.generate`; needed for the first start only.
    pub token: Option<String>,
    /// Folder with the programs of monitors of type `script`; `None`: the server can run none.
    pub monitor_scripts: Option<PathBuf>,
    /// File with what the engine announces to routers; `None`: it announces nothing.
    pub announce: Option<PathBuf>,
    /// What else uses the folder.
    pub beginning: Beginning,
    /// What SIGTERM does.
    pub drain: Drain,
}

/// Runs until SIGTERM or SIGINT. Without the server the engine goes on with its last configuration.
///
/// # Errors
/// The folder cannot be used, the token is refused, or the first enrolment fails.
pub fn run(options: &Options, clock: &SharedClock) -> anyhow::Result<()> {
    let folder = Folder::open(&options.data, options.beginning)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let renewal = Arc::new(Notify::new());
        let mut signals = Signals::new(&renewal)?;
        let identity = tokio::select! {
            identity = identity(&folder, options) => identity?,
            _ = signals.stop() => return Ok(()),
        };
        let mut running = Running::start(folder, identity, &renewal, options, clock)?;
        announce_ready(options.beginning, options.drain);
        let ended = tokio::select! {
            never = running.follow(&options.controller) => never?,
            ended = signals.stop() => ended,
        };
        if ended == Ended::Terminated && !options.drain.deadline.is_zero() {
            // The process that follows this one goes on with the folder and the records.
            running.folder.release()?;
            tokio::select! {
                () = running.engine.drain(options.drain) => {}
                _ = signals.stop() => {}
            }
        }
        running.engine.stop();
        Ok(())
    })
}

/// What ended a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Terminated,
    Interrupted,
}

struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
    /// Notified by SIGHUP.
    renewal: Arc<Notify>,
}

impl Signals {
    fn new(renewal: &Arc<Notify>) -> anyhow::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup()).context("cannot receive SIGHUP")?,
            terminate: signal(SignalKind::terminate()).context("cannot receive SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("cannot receive SIGINT")?,
            renewal: Arc::clone(renewal),
        })
    }

    /// Waits for SIGTERM or SIGINT.
    async fn stop(&mut self) -> Ended {
        loop {
            tokio::select! {
                _ = self.hangup.recv() => {
                    tracing::info!("SIGHUP: the engine renews its certificate; the server sends the configuration");
                    self.renewal.notify_one();
                }
                _ = self.terminate.recv() => return Ended::Terminated,
                _ = self.interrupt.recv() => return Ended::Interrupted,
            }
        }
    }
}

/// What the folder has, or what the server issues for the token.
async fn identity(folder: &Folder, options: &Options) -> anyhow::Result<Identity> {
    if let Some(identity) = folder.identity()? {
        if options.token.is_some() {
            tracing::info!("the engine has enrolled before; the token is not used");
        }
        return Ok(identity);
    }
    let token = options.token.as_deref().context(
        "this engine has not enrolled: make a token on the server (engine.generate) and give it with \
         --token or in VEDETTE_ENGINE_TOKEN",
    )?;
    let identity = link::enrol(&options.controller, token).await?;
    folder.keep_identity(&identity)?;
    tracing::info!(name = identity.name, "the engine has enrolled");
    Ok(identity)
}

/// What a file says about routers.
fn announcement(file: &Path) -> anyhow::Result<Announce> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let announce = Announce::parse(&text);
    announce.map_err(|problem| anyhow::anyhow!("{}: {problem}", file.display()))
}

/// An engine under a server.
struct Running {
    engine: Engine,
    folder: Folder,
    identity: Identity,
    /// Notified when the user wants another certificate.
    renewal: Arc<Notify>,
    /// The parts of a configuration that the server does not decide.
    own: Config,
    /// Hash of the configuration that runs; empty: none.
    hash: String,
    /// VIPs that it announces; `None`: all.
    owns: Option<Owns>,
    clock: SharedClock,
    /// Monotonic time before which the engine asks for no certificate by itself.
    renewal_after: Duration,
    /// Unix time and monotonic time of the start.
    began: (Duration, Duration),
}

impl Running {
    fn start(
        folder: Folder,
        identity: Identity,
        renewal: &Arc<Notify>,
        options: &Options,
        clock: &SharedClock,
    ) -> anyhow::Result<Self> {
        let transactions = Transactions::of(folder.transactions());
        let own = Config {
            name: Some(identity.name.clone()),
            transactions: Some(transactions),
            monitor_scripts: options.monitor_scripts.clone(),
            ocsp: Some(Ocsp { folder: folder.ocsp() }),
            announce: options.announce.as_deref().map(announcement).transpose()?,
            ..Config::default()
        };
        let began = (clock.unix(), clock.monotonic());
        let engine = Engine::begin(&own, options.beginning, clock)?;
        let (clock, renewal) = (Arc::clone(clock), Arc::clone(renewal));
        let hash = String::new();
        let renewal_after = Duration::ZERO;
        let mut running = Self {
            engine,
            folder,
            identity,
            renewal,
            own,
            hash,
            owns: None,
            clock,
            renewal_after,
            began,
        };
        running.own_stored()?;
        if let Err(error) = running.use_stored() {
            // Another process forwards, and must not end for one that cannot.
            if !running.folder.is_owned()? {
                running.engine.stop();
                return Err(error.context("the engine does not take over"));
            }
            tracing::error!("{error:#}");
        }
        Ok(running)
    }

    /// Applies the stored configuration, unless it runs.
    fn use_stored(&mut self) -> anyhow::Result<()> {
        let Some(stored) = self.folder.configuration()? else { return Ok(()) };
        if stored.hash == self.hash {
            return Ok(());
        }
        self.apply(&stored.hash, &stored.text)
            .context("the stored configuration cannot be used")?;
        tracing::info!("the engine runs with its stored configuration");
        Ok(())
    }

    /// Waits until the process before this one has left the folder, and reads what it has stored last.
    async fn own_folder(&mut self) -> anyhow::Result<()> {
        if self.folder.is_owned()? {
            return Ok(());
        }
        tracing::info!(
            "the engine forwards beside another process; it waits until that one drains"
        );
        while !self.folder.is_owned()? {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        tracing::info!("the engine has taken over");
        if let Some(identity) = self.folder.identity()? {
            self.identity = identity;
        }
        self.own_stored()?;
        if let Err(error) = self.use_stored() {
            tracing::error!("{error:#}");
        }
        Ok(())
    }

    fn apply(&mut self, hash: &str, text: &str) -> anyhow::Result<()> {
        let sent = Config::parse(text).map_err(|problem| anyhow::anyhow!("{problem}"))?;
        let Config { name, transactions, monitor_scripts, ocsp, announce, .. } = self.own.clone();
        // The server decides about forwarding, not about files and programs of this machine.
        // A group announces as the server says, unless this machine has settings of its own.
        let announce = announce.or_else(|| sent.announce.clone());
        let own =
            Config { name, transactions, monitor_scripts, ocsp, announce, acme: None, ..sent };
        self.engine.apply(&own)?;
        hash.clone_into(&mut self.hash);
        Ok(())
    }

    /// Stays connected with the server, as far as it can be reached.
    async fn follow(&mut self, address: &str) -> anyhow::Result<Ended> {
        self.own_folder().await?;
        let mut pause = PAUSE;
        loop {
            match link::connect(address, &self.identity).await {
                Ok(stream) => {
                    let (connected, error) = session::run(stream, self).await;
                    if connected {
                        pause = PAUSE;
                    }
                    tracing::warn!("the connection to the server ended: {error:#}");
                }
                Err(error) => tracing::warn!("cannot connect to the server: {error:#}"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use openssl::hash::MessageDigest;
    use openssl::x509::X509;
    use stdx::clock::RealClock;

    use super::*;
    use crate::authority::new_key;

    /// Starts an engine with a folder.
    fn started(data: &Path, beginning: Beginning) -> anyhow::Result<Running> {
        let key = new_key()?;
        let mut builder = X509::builder()?;
        builder.set_pubkey(&key)?;
        builder.sign(&key, MessageDigest::sha256())?;
        let certificate = builder.build();
        let authority = certificate.clone();
        let identity = Identity { name: "edge".to_owned(), key, certificate, authority };
        let options = Options {
            controller: String::new(),
            data: data.to_owned(),
            token: None,
            monitor_scripts: None,
            announce: None,
            beginning,
            drain: Drain::default(),
        };
        let folder = Folder::open(data, beginning)?;
        Running::start(folder, identity, &Arc::default(), &options, &RealClock::shared())
    }

    #[test]
    fn an_engine_that_cannot_forward_does_not_take_over() {
        let dir = tempfile::tempdir().unwrap();
        let other = Folder::open(dir.path(), Beginning::Alone).unwrap();
        let service = "{name: web, type: http, listen: '127.0.0.1:1', pool: missing}";
        let text = format!("virtual_services: [{service}]\n");
        other.keep_configuration("abc", &text).unwrap();
        let error = started(dir.path(), Beginning::Takeover).err().unwrap();
        let error = format!("{error:#}");
        assert!(error.starts_with("the engine does not take over: the stored"), "{error}");
        other.release().unwrap();
        // Alone, it connects to the server, which may send a better one.
        let running = started(dir.path(), Beginning::Takeover).unwrap();
        assert_eq!(running.hash, "");
        running.engine.stop();
    }
}
