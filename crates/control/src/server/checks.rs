//! What the checks of a certificate authority must find, on all engines: the authority reaches any of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use balancing::Challenge;
use config::Config;
use config::engines::orders;
use lb::acme::{Check, Posting, Responder, Wanted};
use proxying::engine_link::SMALL_MAX;
use stdx::sync::lock;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

/// Longest time until all connected engines that may be reached have taken the checks.
const TAKEN_MAX: Duration = Duration::from_secs(15);

/// The newest checks.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    /// Greater than those before.
    pub(crate) number: u64,
    /// JSON of a list of [`Check`].
    pub(crate) text: Arc<str>,
}

/// Hands checks to all engines.
pub(crate) struct Checks {
    config: Arc<Config>,
    sheet: watch::Sender<Sheet>,
    /// By number of the seat.
    engines: Mutex<HashMap<u64, Seated>>,
    seats: AtomicU64,
    changed: Notify,
}

/// A connected engine.
struct Seated {
    group: u64,
    /// Number of the checks that it lets pass.
    answers: u64,
}

/// The seat of a connected engine; free when dropped.
pub(crate) struct Seat {
    checks: Arc<Checks>,
    number: u64,
}

impl std::fmt::Debug for Checks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checks").field("sheet", &self.sheet).finish_non_exhaustive()
    }
}

impl Checks {
    pub(crate) fn new(config: Arc<Config>) -> Self {
        let sheet = watch::Sender::new(Sheet { number: 0, text: "[]".into() });
        let (engines, seats) = (Mutex::default(), AtomicU64::new(0));
        Self { config, sheet, engines, seats, changed: Notify::new() }
    }

    /// The newest checks, now and later.
    pub(crate) fn sheets(&self) -> watch::Receiver<Sheet> {
        self.sheet.subscribe()
    }

    /// An engine of this group has connected.
    pub(crate) fn enter(self: &Arc<Self>, group: u64) -> Seat {
        let number = self.seats.fetch_add(1, Relaxed);
        lock(&self.engines).insert(number, Seated { group, answers: 0 });
        Seat { checks: Arc::clone(self), number }
    }

    /// Replaces the checks; returns their number.
    fn put(&self, text: &str) -> u64 {
        let mut number = 0;
        self.sheet.send_modify(|sheet| {
            *sheet = Sheet { number: sheet.number + 1, text: text.into() };
            number = sheet.number;
        });
        number
    }

    /// How many engines of these groups let these checks pass, and how many do not yet.
    fn answering(&self, groups: &[u64], number: u64) -> Answering {
        let engines = lock(&self.engines);
        let mut answering = Answering { ready: 0, late: 0 };
        for engine in engines.values().filter(|engine| groups.contains(&engine.group)) {
            let counted =
                if engine.answers >= number { &mut answering.ready } else { &mut answering.late };
            *counted += 1;
        }
        answering
    }

    /// The groups whose engines the authority may reach.
    fn groups(&self, wanted: &Wanted) -> Result<Vec<u64>, String> {
        let id = wanted.key.parse().map_err(|_| "BUG: no id of a certificate".to_owned())?;
        let groups = orders::checked_by(&self.config, id, wanted.challenge);
        groups.map_err(|error| error.to_string())
    }
}

/// Numbers of engines.
struct Answering {
    ready: usize,
    late: usize,
}

impl Seat {
    fn change(&self, change: impl FnOnce(&mut Seated)) {
        if let Some(seated) = lock(&self.checks.engines).get_mut(&self.number) {
            change(seated);
        }
        self.checks.changed.notify_waiters();
    }

    /// The engine lets the checks with this number pass.
    pub(crate) fn answers(&self, number: u64) {
        self.change(|seated| seated.answers = number);
    }

    /// The engine belongs to this group now.
    pub(crate) fn belongs_to(&self, group: u64) {
        self.change(|seated| seated.group = group);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.checks.engines).remove(&self.number);
        self.checks.changed.notify_waiters();
    }
}

impl Responder for Checks {
    fn ready(&self, wanted: &Wanted) -> Result<(), String> {
        if wanted.challenge == Challenge::Dns01 {
            return match wanted.authority.dns_hook {
                Some(_) => Ok(()),
                None => {
                    Err("'dns-01' needs a program that sets and removes TXT records; start the \
                             server with --acme-dns-hook PROGRAM"
                        .to_owned())
                }
            };
        }
        let groups = self.groups(wanted)?;
        if groups.is_empty() {
            let missing = match wanted.challenge {
                Challenge::Http01 => {
                    "'http-01' needs an enabled virtual service of type http without TLS on port \
                     80, in the group of the services that use the certificate; create one"
                }
                _ => {
                    "'tls-alpn-01' needs an enabled virtual service with this certificate; \
                      create one"
                }
            };
            return Err(missing.to_owned());
        }
        if lock(&self.engines).values().any(|engine| groups.contains(&engine.group)) {
            Ok(())
        } else {
            Err("no engine that could pass the checks of the authority is connected".to_owned())
        }
    }

    fn post<'r>(&'r self, wanted: &'r Wanted, checks: Vec<Check>) -> Posting<'r> {
        Box::pin(async move {
            if checks.is_empty() {
                return Ok(());
            }
            let text = serde_json::to_string(&checks).map_err(|error| error.to_string())?;
            if text.len() > SMALL_MAX {
                return Err(format!(
                    "the checks of the authority have {} bytes, engines take {SMALL_MAX}; order \
                     fewer names at once",
                    text.len()
                ));
            }
            let groups = self.groups(wanted)?;
            let number = self.put(&text);
            let all = async {
                loop {
                    // Before the look, so that no change between is missed.
                    let changed = self.changed.notified();
                    if self.answering(&groups, number).late == 0 {
                        break;
                    }
                    changed.await;
                }
            };
            let _late = timeout(TAKEN_MAX, all).await;
            let Answering { ready, late } = self.answering(&groups, number);
            if ready == 0 {
                return Err("no engine has taken the checks of the authority".to_owned());
            }
            if late > 0 {
                tracing::warn!(
                    late,
                    "engines do not respond; validation by the certificate authority will fail on them"
                );
            }
            Ok(())
        })
    }

    fn clear(&self) {
        if &*self.sheet.borrow().text != "[]" {
            self.put("[]");
        }
    }
}
