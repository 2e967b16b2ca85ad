//! One connection to the server.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use balancing::Order;
use lb::TicketSecrets;
use lb::acme::Check;
use openssl::pkey::{PKey, Private};
use openssl::x509::X509;
use proxying::engine_link::{Gauges, Message, Position, VERSION};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout, timeout_at};
use transactions::Tail;

use super::Running;
use super::folder::Identity;
use super::link::Link;
use crate::analytics::REPORT_EVERY;
use crate::authority::{is_due, new_key, request, verify_own};
use crate::{HEARTBEAT, OPENING, SILENCE};

/// Bytes of blocks that may wait for an acknowledgement.
const WINDOW: usize = 16 << 20;
/// How often the log is looked at for new blocks.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often the engine looks whether its certificate is due.
const RENEWAL_EVERY: Duration = Duration::from_secs(3_600);
/// Shortest time between two renewals that nobody asked for.
const RENEWAL_PAUSE: Duration = Duration::from_secs(86_400);

/// Runs until the connection ends. The first part of the result: the server accepted the engine.
pub(super) async fn run(link: Link, running: &mut Running) -> (bool, anyhow::Error) {
    let mut session = match timeout(OPENING, Session::open(link, running)).await {
        Ok(Ok(session)) => session,
        Ok(Err(error)) => return (false, error),
        Err(late) => {
            return (false, anyhow::Error::new(late).context("the server sent no greeting"));
        }
    };
    let Err(error) = session.run().await;
    (true, error)
}

struct Session<'r> {
    link: Link,
    running: &'r mut Running,
    tail: Tail,
    /// End and length of each block that was sent and is not acknowledged.
    waiting: VecDeque<Sent>,
    waiting_bytes: usize,
    /// That of the certificate for which the engine has asked.
    new_key: Option<PKey<Private>>,
}

struct Sent {
    end: Position,
    bytes: usize,
}

impl<'r> Session<'r> {
    async fn open(mut link: Link, running: &'r mut Running) -> anyhow::Result<Self> {
        let ring = running.folder.ring()?;
        link.send(&Message::Hello { version: VERSION, ring, hash: &running.hash }).await?;
        link.ready().await?;
        let kept = match link.message()? {
            Message::Welcome { name, kept } => {
                tracing::info!(name, "connected to the server");
                transactions::Position { file: kept.file, offset: kept.offset }
            }
            Message::Refused { reason } => bail!("the server refuses the engine: {reason}"),
            _ => bail!("the server sent no greeting"),
        };
        link.send(&Message::Program { version: env!("CARGO_PKG_VERSION") }).await?;
        let (generation, vips) = running.owning()?;
        link.send(&Message::Owning { generation, vips: &vips }).await?;
        link.send(&Message::Purged { number: 0, count: 0, error: "" }).await?;
        let tail = Tail::new(&running.folder.transactions(), kept);
        Ok(Self { link, running, tail, waiting: VecDeque::new(), waiting_bytes: 0, new_key: None })
    }

    async fn run(&mut self) -> anyhow::Result<std::convert::Infallible> {
        let mut beat = interval(HEARTBEAT);
        let mut look = interval(LOOK_EVERY);
        let mut report = interval(REPORT_EVERY);
        let mut age = interval(RENEWAL_EVERY);
        let wish = Arc::clone(&self.running.renewal);
        for ticks in [&mut beat, &mut look, &mut report, &mut age] {
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        }
        let mut heard = Instant::now();
        loop {
            tokio::select! {
                ready = timeout_at(heard + SILENCE, self.link.ready()) => {
                    ready.context("the server is silent")??;
                    heard = Instant::now();
                    self.take().await?;
                }
                _ = beat.tick() => {
                    let gauges = self.gauges()?;
                    self.link.send(&Message::Heartbeat(gauges)).await?;
                }
                _ = report.tick() => self.report().await?,
                _ = age.tick() => {
                    let (now_s, now) = (self.running.clock.unix_s(), self.running.clock.monotonic());
                    let is_due = is_due(&self.running.identity.certificate, now_s);
                    // If the clocks of the two machines differ, each new certificate may be due.
                    if is_due && now >= self.running.renewal_after {
                        self.running.renewal_after = now + RENEWAL_PAUSE;
                        self.renew().await?;
                    }
                }
                () = wish.notified() => self.renew().await?,
                _ = look.tick(), if self.waiting_bytes < WINDOW => self.send_blocks().await?,
            }
        }
    }

    /// Handles the message that is ready.
    async fn take(&mut self) -> anyhow::Result<()> {
        match self.link.message()? {
            Message::Configuration { hash, text } => {
                let (hash, text) = (hash.to_owned(), text.to_owned());
                let applied = self.running.apply(&hash, &text);
                let error = match applied {
                    Ok(()) => {
                        tracing::info!(hash, "configuration applied");
                        self.running.folder.keep_configuration(&hash, &text)?;
                        String::new()
                    }
                    Err(error) => {
                        tracing::error!(
                            "cannot apply the new configuration; keeping the current one: {error:#}"
                        );
                        short(format!("{error:#}"))
                    }
                };
                self.link.send(&Message::Applied { hash: &hash, error: &error }).await
            }
            Message::Acknowledged { before } => {
                while self.waiting.front().is_some_and(|sent| sent.end <= before) {
                    let bytes = self.waiting.pop_front().map_or(0, |sent| sent.bytes);
                    self.waiting_bytes -= bytes;
                }
                Ok(())
            }
            Message::Checks { number, text } => {
                let checks: Vec<Check> = serde_json::from_str(text)?;
                self.running.engine.answer_checks(&checks)?;
                self.link.send(&Message::Answering { number }).await
            }
            Message::Tickets { secrets } => {
                let secrets = TicketSecrets::from_bytes(secrets);
                let secrets = secrets.context("the server sent secrets of another length")?;
                self.running.engine.share_tickets(secrets);
                Ok(())
            }
            Message::Place { generation, vips } => {
                let vips = vips.to_owned();
                self.running.place(generation, &vips)?;
                let (generation, vips) = self.running.owning()?;
                self.link.send(&Message::Owning { generation, vips: &vips }).await
            }
            Message::Purge { number, order } => {
                let order: Order = serde_json::from_str(order)?;
                let purged = self.running.engine.purge(order.service.as_deref(), &order.purge);
                let (count, error) =
                    purged.map_or_else(|error| (0, short(error)), |count| (count, String::new()));
                self.link.send(&Message::Purged { number, count, error: &error }).await
            }
            Message::Renewed { certificate } => {
                let certificate = X509::from_der(certificate)?;
                self.renewed(certificate)
            }
            Message::Refused { reason } => bail!("the server says: {reason}"),
            _ => bail!("a message that servers do not send"),
        }
    }

    /// Asks for a certificate for a new key, unless that is done already.
    async fn renew(&mut self) -> anyhow::Result<()> {
        if self.new_key.is_some() {
            return Ok(());
        }
        let key = new_key()?;
        let request = request(&key)?;
        self.new_key = Some(key);
        self.link.send(&Message::Renew { request: &request }).await
    }

    /// Keeps a new certificate. An error ends this connection; the next one uses it.
    fn renewed(&mut self, certificate: X509) -> anyhow::Result<()> {
        let key =
            self.new_key.take().context("the server sent a certificate that was not requested")?;
        let Identity { name, authority, .. } = &self.running.identity;
        verify_own(&certificate, &key, authority)?;
        let (name, authority) = (name.clone(), authority.clone());
        let identity = Identity { name, key, certificate, authority };
        if let Err(error) = self.running.folder.keep_identity(&identity) {
            tracing::error!("cannot store the new certificate; keeping the old one: {error:#}");
            return Ok(());
        }
        tracing::info!("the certificate of the engine is renewed");
        self.running.identity = identity;
        bail!("the engine connects again with its new certificate")
    }

    async fn send_blocks(&mut self) -> anyhow::Result<()> {
        while self.waiting_bytes < WINDOW
            && let Some((at, block)) = self.tail.read().context("cannot read the records")?
        {
            let at = Position { file: at.file, offset: at.offset };
            self.link.send(&Message::Block { at, bytes: &block }).await?;
            let end = self.tail.position();
            let end = Position { file: end.file, offset: end.offset };
            self.waiting_bytes += block.len();
            self.waiting.push_back(Sent { end, bytes: block.len() });
        }
        Ok(())
    }

    async fn report(&mut self) -> anyhow::Result<()> {
        let gauges = self.gauges()?;
        for portion in self.running.report(&gauges) {
            self.link.send(&Message::Analytics { portion: &portion }).await?;
        }
        Ok(())
    }

    fn gauges(&mut self) -> anyhow::Result<Gauges> {
        let counts = self.running.engine.records();
        let unsent = self.tail.bytes_left().context("cannot read the records")?;
        Ok(Gauges {
            records: counts.as_ref().map_or(0, |counts| counts.kept()),
            dropped: counts.as_ref().map_or(0, |counts| counts.lost()),
            unsent_bytes: unsent + self.waiting_bytes as u64,
        })
    }
}

/// The server takes no longer text.
fn short(mut text: String) -> String {
    const MOST: usize = 4_096;
    if text.len() > MOST {
        text.truncate(text.floor_char_boundary(MOST));
        text.push('…');
    }
    text
}
