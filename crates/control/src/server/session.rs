//! One connection of an engine.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use config::db::DbResult;
use config::engines::{self, Desired, Known, Report};
use lb::TicketSecrets;
use openssl::x509::X509;
use proxying::engine_link::analytics::Portion;
use proxying::engine_link::{LinkError, MESSAGE_MAX, Message, SMALL_MAX, VERSION};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout, timeout_at};
use tokio_openssl::SslStream;
use transactions::Stream;

use super::checks::{Seat, Sheet};
use super::placement::Told;
use super::records::Records;
use super::report::{Reporting, too_long};
use super::{From, Place, Shared, blocking};
use crate::authority::{engine_id, fingerprint, until_s};
use crate::channel::Channel;
use crate::purges::Desk;
use crate::{OPENING, SILENCE};

/// Longest time between the arrival of a block and its acknowledgement.
const SYNC_EVERY: Duration = Duration::from_millis(200);

/// Shortest time between two certificates of an engine on one connection: it uses a new one at once.
const RENEWAL_PAUSE: Duration = Duration::from_secs(600);

type Link = Channel<SslStream<TcpStream>>;

/// Serves until the connection ends.
pub(super) async fn serve(
    stream: SslStream<TcpStream>,
    from: From<'_>,
    shared: &Arc<Shared>,
) -> anyhow::Result<()> {
    let peer = from.peer;
    let Some(certificate) = stream.ssl().peer_certificate() else {
        return timeout(OPENING, enrol(Channel::new(stream, SMALL_MAX), peer, shared))
            .await
            .context("no token arrived in time")?;
    };
    let mut link = Channel::new(stream, MESSAGE_MAX);
    let Some((engine, known)) = recognise(&certificate, shared).await? else {
        let reason = "the server does not know this engine: it was deleted, or has enrolled again \
                      elsewhere; give it a new token";
        return refuse(&mut link, reason).await;
    };
    // Strangers must not take the place of an engine.
    let _busy = from.seat.busy();
    let (place, replaces) = shared.enter(engine);
    if replaces {
        tracing::warn!(engine = known.name, %peer, "the engine has connected again: its older connection ends");
    }
    let end = Instant::now() + OPENING;
    timeout_at(end, link.ready()).await.context("no greeting arrived in time")??;
    let Message::Hello { version, ring, hash } = link.message()? else {
        bail!("the first message is not a greeting");
    };
    let (hash, stream) = (hash.to_owned(), Stream { engine, ring });
    if version != VERSION {
        return refuse(&mut link, &other_version(version)).await;
    }
    let records = Records::new(stream, shared);
    let kept = records.acknowledged();
    link.send(&Message::Welcome { name: &known.name, kept }).await?;
    tracing::info!(engine = known.name, %peer, "an engine has connected");
    let report = Report {
        address: peer.ip().to_string(),
        running_hash: hash,
        connected_at: shared.clock.unix_s(),
        certificate_until: until_s(&certificate).unwrap_or(0),
        ..Report::default()
    };
    let seat = shared.checks.enter(known.group);
    let session = Session {
        shared,
        known,
        stream,
        link,
        reporting: Reporting::new(report),
        sent: String::new(),
        records,
        seat,
        secrets: Secrets::default(),
        placed: Told::default(),
        renewed: None,
        warned: false,
    };
    session.run(&place).await
}

fn other_version(version: u32) -> String {
    format!(
        "the engine speaks version {version} of the link, the server version {VERSION}; use the same release"
    )
}

async fn refuse(link: &mut Link, reason: &str) -> anyhow::Result<()> {
    link.send(&Message::Refused { reason }).await?;
    bail!("refused: {reason}")
}

/// The engine that a certificate belongs to.
async fn recognise(
    certificate: &X509,
    shared: &Arc<Shared>,
) -> anyhow::Result<Option<(u64, Known)>> {
    let Some(engine) = engine_id(certificate) else { return Ok(None) };
    let shown = fingerprint(certificate)?;
    let known = blocking(shared, move |shared| recognise_by(shared, engine, &shown)).await??;
    Ok(known.map(|known| (engine, known)))
}

fn recognise_by(shared: &Shared, engine: u64, fingerprint: &str) -> DbResult<Option<Known>> {
    let known = engines::known(&shared.config, engine)?;
    let renewed = known.as_ref().is_some_and(|known| known.next_fingerprint == fingerprint);
    let known = if renewed && engines::renewed(&shared.config, engine, fingerprint)? {
        engines::known(&shared.config, engine)?
    } else {
        known
    };
    Ok(known.filter(|known| known.fingerprint == fingerprint))
}

/// Exchanges a token for a certificate.
async fn enrol(mut link: Link, peer: SocketAddr, shared: &Arc<Shared>) -> anyhow::Result<()> {
    link.ready().await?;
    let Message::Enrol { version, token, request } = link.message()? else {
        bail!("an engine without a certificate must enrol");
    };
    if version != VERSION {
        return refuse(&mut link, &other_version(version)).await;
    }
    let (token, request) = (token.to_owned(), request.to_vec());
    let issued = blocking(shared, move |shared| issue(shared, &token, &request)).await??;
    let Some((name, certificate)) = issued else {
        tracing::warn!(%peer, "an engine tried to enrol with a token that is unknown, already used or expired");
        return refuse(
            &mut link,
            "the token is unknown, already used or expired; generate a new one",
        )
        .await;
    };
    let (certificate, authority) =
        (certificate.to_der()?, shared.authority.certificate().to_der()?);
    let message =
        Message::Enrolled { name: &name, certificate: &certificate, authority: &authority };
    link.send(&message).await?;
    tracing::info!(engine = name, %peer, "an engine has enrolled");
    Ok(())
}

fn issue(shared: &Shared, token: &str, request: &[u8]) -> anyhow::Result<Option<(String, X509)>> {
    let now = shared.clock.unix();
    let Some(engine) = engines::of_token(&shared.config, token, now.as_secs())? else {
        return Ok(None);
    };
    let certificate = shared.authority.engine(engine, request, now)?;
    let shown = fingerprint(&certificate)?;
    let before = engines::known(&shared.config, engine)?;
    if engines::enrol(&shared.config, token, now.as_secs(), &shown)? != Some(engine) {
        return Ok(None);
    }
    // Who has the old key and the secrets is not the engine any more.
    if let Some(before) = before.filter(|before| !before.fingerprint.is_empty()) {
        shared.tickets.leave([before.group]);
    }
    let known = engines::known(&shared.config, engine)?;
    Ok(known.map(|known| (known.name, certificate)))
}

/// Secrets of session tickets.
#[derive(Default)]
struct Secrets {
    /// Those that the engine has.
    sent: Option<TicketSecrets>,
    /// Others could not be read; the next heartbeat reads them.
    fail: bool,
}

struct Session<'s> {
    shared: &'s Arc<Shared>,
    known: Known,
    stream: Stream,
    link: Link,
    reporting: Reporting,
    /// Hash of the configuration that was sent last.
    sent: String,
    records: Records,
    /// Its place among those who let checks of authorities pass.
    seat: Seat,
    secrets: Secrets,
    /// The VIPs that it owns.
    placed: Told,
    /// When it got its newest certificate.
    renewed: Option<Instant>,
    /// That its figures have an unknown form is in the log.
    warned: bool,
}

impl Session<'_> {
    async fn run(mut self, place: &Place) -> anyhow::Result<()> {
        let ended = self.talk(place).await;
        if let Some(report) = self.reporting.rest()
            && place.is_newest()
        {
            self.store(report).await?;
        }
        ended
    }

    async fn talk(&mut self, place: &Place) -> anyhow::Result<()> {
        let mut changes = self.shared.groups.changes();
        let mut sync = interval(SYNC_EVERY);
        sync.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut sheets = self.shared.checks.sheets();
        let mut tickets = self.shared.tickets.changes();
        let mut decisions = self.shared.placer.decisions();
        let mut purging = self.shared.board.purges.enter(self.stream.engine);
        self.configure().await?;
        self.hand_checks(&mut sheets).await?;
        self.store_report().await?;
        let mut heard = Instant::now();
        loop {
            let due = self.reporting.due();
            tokio::select! {
                ready = timeout_at(heard + SILENCE, self.link.ready()) => {
                    ready.context("the engine is silent")??;
                    heard = Instant::now();
                    self.take(&mut purging).await?;
                }
                (number, order) = purging.next() => {
                    self.link.send(&Message::Purge { number, order: &order }).await?;
                }
                changed = changes.changed() => {
                    changed?;
                    self.configure().await?;
                }
                changed = sheets.changed() => {
                    changed?;
                    self.hand_checks(&mut sheets).await?;
                }
                changed = decisions.changed() => {
                    changed?;
                    decisions.mark_unchanged();
                    self.place().await?;
                }
                changed = tickets.changed() => {
                    changed?;
                    // They may have changed because this engine has left the group.
                    self.configure().await?;
                }
                () = sleep_until(due.unwrap_or(heard)), if due.is_some() => {
                    self.store_report().await?;
                }
                _ = sync.tick(), if self.records.is_unsynced() => self.acknowledge(false).await?,
                () = place.replaced.notified() => bail!("the engine has connected again"),
            }
        }
    }

    /// Takes figures over. Those of another form are dropped: a release that has more figures is no reason to end
    /// the connection.
    fn figures(&mut self, portion: Result<Portion, LinkError>) -> Result<(), LinkError> {
        match portion {
            Ok(portion) => self.shared.board.take(self.stream.engine, portion),
            Err(error @ LinkError::Form(_)) => {
                if !std::mem::replace(&mut self.warned, true) {
                    tracing::warn!(engine = self.known.name, "no figures of an engine: {error}");
                }
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Handles the message that is ready.
    async fn take(&mut self, purging: &mut Desk) -> anyhow::Result<()> {
        match self.link.message()? {
            Message::Block { at, bytes } => {
                let bytes = bytes.to_vec();
                let kept = self.records.keep(self.shared, &self.known.name, at, bytes).await?;
                if let Err(reason) = kept {
                    return refuse(&mut self.link, &reason).await;
                }
            }
            Message::Heartbeat(gauges) => {
                tracing::debug!(engine = self.known.name, ?gauges, "heartbeat");
                // Its answer shows the engine that the server lives.
                self.acknowledge(true).await?;
                self.store_report().await?;
                if let Some(reason) = self.records.restart(self.shared) {
                    return refuse(&mut self.link, reason).await;
                }
                if self.secrets.fail {
                    self.configure().await?;
                }
            }
            Message::Analytics { portion } => {
                let portion = Portion::read(portion);
                self.figures(portion)?;
            }
            Message::Applied { hash, error } => {
                self.reporting.applied(hash, error);
                self.show_configured();
                if let Some(error) = self.reporting.log_due(Instant::now()) {
                    tracing::warn!(
                        engine = self.known.name,
                        "an engine refuses its configuration: {error}"
                    );
                }
                self.store_report().await?;
            }
            Message::Answering { number } => self.seat.answers(number),
            Message::Purged { number, count, error } => purging.done(number, count, error),
            Message::Renew { request } => {
                let request = request.to_vec();
                self.renew(request).await?;
            }
            Message::Owning { generation, vips } => {
                let vips = serde_json::from_str(vips).context("an engine sent no list of VIPs")?;
                self.shared.placer.claim(self.stream.engine, generation, vips);
                self.placed.follow();
                self.place().await?;
            }
            Message::Program { version } => {
                self.reporting.version(version);
                self.store_report().await?;
            }
            Message::Refused { reason } => bail!("the engine says: {reason}"),
            _ => bail!("a message that engines do not send"),
        }
        Ok(())
    }

    /// Sends the configuration of the group if it differs from the last one.
    async fn configure(&mut self) -> anyhow::Result<()> {
        let engine = self.stream.engine;
        let known = blocking(self.shared, move |shared| engines::known(&shared.config, engine));
        match known.await?? {
            Some(known) if known.fingerprint == self.known.fingerprint => self.known = known,
            _ => {
                return refuse(&mut self.link, "the engine was deleted or has enrolled again")
                    .await;
            }
        }
        self.seat.belongs_to(self.known.group);
        self.share_tickets().await?;
        let group = self.known.group;
        let desired = blocking(self.shared, move |shared| shared.groups.desired(group)).await?;
        match desired {
            Ok(desired) => self.push(&desired).await,
            Err(error) => {
                self.cannot_send(&format!("the configuration of its group cannot be made: {error}"))
                    .await
            }
        }
    }

    /// The engine goes on with what it runs, and `engine.get` shows why.
    async fn cannot_send(&mut self, problem: &str) -> anyhow::Result<()> {
        tracing::error!(engine = self.known.name, "{problem}");
        self.reporting.unsent(Some(problem));
        self.show_configured();
        self.store_report().await
    }

    fn show_configured(&self) {
        let configured = self.reporting.is_configured(&self.sent);
        self.shared.board.configured(self.stream.engine, configured);
    }

    /// Tells the engine which VIPs it owns, unless it knows.
    async fn place(&mut self) -> anyhow::Result<()> {
        let (group, engine) = (self.known.group, self.stream.engine);
        match self.placed.due(&self.shared.placer, group, engine) {
            Ok(Some((generation, vips))) => {
                self.link.send(&Message::Place { generation, vips: &vips }).await
            }
            Ok(None) => Ok(()),
            Err(problem) => self.cannot_send(&problem).await,
        }
    }

    /// Sends what the checks of authorities must find.
    async fn hand_checks(&mut self, sheets: &mut watch::Receiver<Sheet>) -> anyhow::Result<()> {
        let Sheet { number, text } = sheets.borrow_and_update().clone();
        self.link.send(&Message::Checks { number, text: &text }).await
    }

    /// Sends the secrets of session tickets of the group, unless the engine has them. Without them it has
    /// its own.
    async fn share_tickets(&mut self) -> anyhow::Result<()> {
        let group = self.known.group;
        let found = blocking(self.shared, move |shared| shared.tickets.of_group(group)).await?;
        self.secrets.fail = found.is_err();
        match found {
            Ok(secrets) if self.secrets.sent.as_ref() == Some(&secrets) => Ok(()),
            Ok(secrets) => {
                let bytes = secrets.to_bytes();
                self.link.send(&Message::Tickets { secrets: &bytes }).await?;
                self.secrets.sent = Some(secrets);
                Ok(())
            }
            Err(error) => {
                tracing::warn!(
                    engine = self.known.name,
                    "cannot send session ticket keys to an engine: {error:#}"
                );
                Ok(())
            }
        }
    }

    /// Issues the engine's next certificate.
    async fn renew(&mut self, request: Vec<u8>) -> anyhow::Result<()> {
        if self.renewed.is_some_and(|at| at.elapsed() < RENEWAL_PAUSE) {
            let reason = "the engine has just got a certificate, and asks for another one";
            return refuse(&mut self.link, reason).await;
        }
        self.renewed = Some(Instant::now());
        let (engine, before) = (self.stream.engine, self.known.fingerprint.clone());
        let issued = blocking(self.shared, move |shared| {
            let certificate = shared.authority.engine(engine, &request, shared.clock.unix())?;
            let next = fingerprint(&certificate)?;
            let noted = engines::renew(&shared.config, engine, &before, &next)?;
            anyhow::Ok(noted.then_some(certificate))
        });
        let Some(certificate) = issued.await?? else {
            return refuse(&mut self.link, "the engine was deleted or has enrolled again").await;
        };
        self.link.send(&Message::Renewed { certificate: &certificate.to_der()? }).await?;
        tracing::info!(engine = self.known.name, "an engine gets a new certificate");
        Ok(())
    }

    async fn push(&mut self, desired: &Desired) -> anyhow::Result<()> {
        if desired.hash != self.sent
            && let Some(problem) = too_long(&desired.text)
        {
            return self.cannot_send(&problem).await;
        }
        self.reporting.unsent(None);
        if desired.hash == self.sent {
            self.show_configured();
            return self.store_report().await;
        }
        let runs = self.sent.is_empty() && desired.hash == self.reporting.running_hash();
        self.shared.board.configured(self.stream.engine, runs);
        if runs {
            return Ok(());
        }
        let Desired { hash, text } = desired;
        self.link.send(&Message::Configuration { hash, text }).await?;
        self.sent.clone_from(hash);
        Ok(())
    }

    /// Tells the engine up to where its records are safe. `always`: also if it knows.
    async fn acknowledge(&mut self, always: bool) -> anyhow::Result<()> {
        match self.records.sync(self.shared).await? {
            None if !always => Ok(()),
            _ => {
                let before = self.records.acknowledged();
                self.link.send(&Message::Acknowledged { before }).await
            }
        }
    }

    async fn store_report(&mut self) -> anyhow::Result<()> {
        match self.reporting.store_due(Instant::now()) {
            Some(report) => self.store(report).await,
            None => Ok(()),
        }
    }

    async fn store(&self, report: Report) -> anyhow::Result<()> {
        let engine = self.stream.engine;
        let stored = blocking(self.shared, move |shared| {
            let report = Report { at_s: shared.clock.unix_s(), ..report };
            engines::report(&shared.config, engine, &report)
        });
        Ok(stored.await??)
    }
}
