//! Certificates that the server orders for all engines, kept in its database. A new one is a change of the
//! configuration like any other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use config::Config;
use config::engines::orders::{self, Ordered, Progress};
use lb::acme::{Account, Attempts, Authority, Issued, Job, Orders, Slot, Standing, Store, Wanted};

use super::Shared;

/// Pause before the database is asked again after it failed.
const RETRY: Duration = Duration::from_secs(5);

/// Orders and renews until dropped.
pub(super) async fn keep(shared: &Arc<Shared>, dns_hook: Option<PathBuf>) {
    let config = Arc::clone(&shared.config);
    let noted = tokio::task::spawn_blocking(move || orders::note_interrupted(&config)).await;
    if let Ok(Err(error)) = noted {
        tracing::warn!(%error, "an order interrupted by the last shutdown may still be shown as in progress");
    }
    let mut work = Orders::new(&shared.clock);
    let mut changes = shared.groups.changes();
    let mut known: Vec<Wanted> = Vec::new();
    loop {
        let config = Arc::clone(&shared.config);
        changes.mark_unchanged();
        match tokio::task::spawn_blocking(move || orders::ordered(&config)).await {
            Ok(Ok(found)) => {
                let wanted: Vec<Wanted> =
                    found.iter().map(|one| wanted(one, dns_hook.as_ref())).collect();
                if wanted != known {
                    known.clone_from(&wanted);
                    if let Err(error) = work.replace(job(shared, &found, wanted)) {
                        tracing::error!(%error, "certificates cannot be ordered; restart the server");
                    }
                }
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot read pending certificate orders; retrying");
                tokio::time::sleep(RETRY).await;
                continue;
            }
            Err(_) => return,
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

fn wanted(ordered: &Ordered, dns_hook: Option<&PathBuf>) -> Wanted {
    let order = &ordered.order;
    Wanted {
        key: ordered.id.to_string(),
        name: ordered.name.clone(),
        names: order.names(),
        authority: Arc::new(Authority {
            directory: order.directory.clone(),
            ca: order.ca.clone(),
            contact: order.contact.clone(),
            terms_agreed: order.terms_agreed,
            dns_hook: dns_hook.cloned(),
        }),
        challenge: order.challenge,
        requested_s: ordered.requested_at,
    }
}

/// `None`: nothing is ordered.
fn job(shared: &Arc<Shared>, found: &[Ordered], wanted: Vec<Wanted>) -> Option<Job> {
    let slot = |(ordered, wanted): (&Ordered, Wanted)| {
        let issued = match &*ordered.pem {
            "" => None,
            pem => Issued::new(&wanted.authority.directory, pem.to_owned())
                .inspect_err(|problem| {
                    let name = &ordered.name;
                    tracing::error!("ordering certificate '{name}' again because the stored one is unusable: {problem}");
                })
                .ok(),
        };
        Arc::new(Slot::new(wanted, issued))
    };
    let slots: Vec<_> = found.iter().zip(wanted).map(slot).collect();
    (!slots.is_empty()).then(|| Job {
        slots,
        store: Arc::new(Database(Arc::clone(&shared.config))),
        responder: Arc::clone(&shared.checks) as _,
        again: false,
    })
}

/// The configuration database as the place of certificates.
struct Database(Arc<Config>);

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Database").finish_non_exhaustive()
    }
}

fn id(wanted: &Wanted) -> anyhow::Result<u64> {
    Ok(wanted.key.parse()?)
}

fn contact(contact: &[String]) -> String {
    serde_json::Value::from(contact).to_string()
}

impl Store for Database {
    fn keep_certificate(
        &self,
        wanted: &Wanted,
        issued: &Issued,
        requested_s: u64,
    ) -> anyhow::Result<()> {
        let (key, facts) = orders::read_pair(issued.pem()).map_err(anyhow::Error::msg)?;
        let arrived = orders::Arrived { private_key: &key, facts: &facts, requested_s };
        Ok(orders::keep_certificate(&self.0, id(wanted)?, &arrived)?)
    }

    fn attempts(&self, wanted: &Wanted) -> anyhow::Result<Attempts> {
        match &*orders::attempts(&self.0, id(wanted)?)? {
            "" => Ok(Attempts::default()),
            text => Ok(serde_json::from_str(text).unwrap_or_else(|error| {
                let name = &wanted.name;
                tracing::error!(
                    "certificate '{name}': its attempts are damaged and counted from zero: {error}"
                );
                Attempts::default()
            })),
        }
    }

    fn keep_attempts(&self, wanted: &Wanted, attempts: &Attempts) -> anyhow::Result<()> {
        let text = serde_json::to_string(attempts)?;
        Ok(orders::keep_attempts(&self.0, id(wanted)?, &text)?)
    }

    fn account(&self, authority: &Authority) -> anyhow::Result<Option<Account>> {
        let contact = contact(&authority.contact);
        let stored = orders::account(&self.0, &authority.directory, &contact)?;
        let read = |text: String| {
            let account = serde_json::from_str(&text);
            account.inspect_err(|error| tracing::error!(%error, "a stored account of ACME is damaged; a new one is created")).ok()
        };
        Ok(stored.and_then(read))
    }

    fn keep_account(&self, account: &Account) -> anyhow::Result<()> {
        let text = serde_json::to_string(account)?;
        let contact = contact(account.contact());
        Ok(orders::keep_account(&self.0, account.directory(), &contact, &text)?)
    }

    fn show(&self, wanted: &Wanted, standing: &Standing) {
        let progress = Progress {
            phase: standing.phase.word(),
            error: standing.error.clone(),
            next_attempt: standing.next_s,
        };
        let shown = id(wanted).and_then(|id| Ok(orders::show(&self.0, id, &progress)?));
        if let Err(error) = shown {
            let name = &wanted.name;
            tracing::warn!("certificate '{name}': its state cannot be shown: {error:#}");
        }
    }
}
