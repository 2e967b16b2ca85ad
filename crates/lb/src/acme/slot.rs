//! Automatic certificates as the threads see them.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use rustls::sign::CertifiedKey;

use super::challenge::Challenges;
use super::issued::Issued;
use super::wanted::{Authority, Wanted};
use crate::config::Acme;

/// The place of one certificate: empty until there is one.
#[derive(Debug)]
pub struct Slot {
    pub(crate) wanted: Wanted,
    issued: ArcSwapOption<Issued>,
}

impl Slot {
    /// The place of a certificate, with an existing one.
    #[must_use]
    pub fn new(wanted: Wanted, issued: Option<Issued>) -> Self {
        Self { wanted, issued: ArcSwapOption::new(issued.map(Arc::new)) }
    }

    /// The newest certificate with its key.
    pub(crate) fn get(&self) -> Option<Arc<CertifiedKey>> {
        self.issued.load().as_ref().map(|issued| Arc::clone(&issued.key))
    }

    /// The newest certificate with what it says.
    pub(super) fn issued(&self) -> Option<Arc<Issued>> {
        self.issued.load_full()
    }

    /// Handshakes from now on use this one.
    pub(super) fn set(&self, issued: Arc<Issued>) {
        self.issued.store(Some(issued));
    }

    /// Handshakes from now on use this one, if it is newer than the one in use: what a store has may be
    /// older, because its disk was full.
    pub(super) fn offer(&self, issued: Arc<Issued>) {
        let newer = |old: &Arc<Issued>| issued.validity.from_s > old.validity.from_s;
        if self.issued.load().as_ref().is_none_or(newer) {
            self.set(issued);
        }
    }
}

/// All automatic certificates of a configuration.
#[derive(Debug, Default)]
pub(crate) struct Automatic {
    pub(crate) slots: Vec<Arc<Slot>>,
    pub(crate) challenges: Arc<Challenges>,
}

impl Automatic {
    /// Those of a configuration. A certificate that `before` has stays in use, also while one for other
    /// host names is ordered.
    pub(crate) fn compile(config: Option<&Acme>, before: Option<&Self>) -> Self {
        let slot = |wanted: Wanted| {
            let old = before.and_then(|before| before.slot(&wanted.name));
            match old {
                Some(old) if old.wanted == wanted => Arc::clone(old),
                old => {
                    let issued = ArcSwapOption::new(old.and_then(|old| old.issued()));
                    Arc::new(Slot { wanted, issued })
                }
            }
        };
        let challenges = before.map(|before| Arc::clone(&before.challenges)).unwrap_or_default();
        Self { slots: config.into_iter().flat_map(wanted).map(slot).collect(), challenges }
    }

    fn slot(&self, name: &str) -> Option<&Arc<Slot>> {
        self.slots.iter().find(|slot| slot.wanted.name == name)
    }
}

/// What a file orders.
fn wanted(config: &Acme) -> Vec<Wanted> {
    let authority = Arc::new(Authority {
        directory: config.directory.clone(),
        ca: config.ca.clone(),
        contact: config.contact.clone(),
        terms_agreed: config.terms_agreed,
        dns_hook: config.dns_hook.clone(),
    });
    let one = |certificate: &crate::config::AcmeCertificate| Wanted {
        key: certificate.name.clone(),
        name: certificate.name.clone(),
        names: certificate.names(),
        authority: Arc::clone(&authority),
        challenge: certificate.challenge,
        requested_s: 0,
    };
    config.certificates.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::{Arc, Issued, Slot};
    use crate::acme::issued::tests::{between, pem, wanted};

    #[test]
    fn a_stored_certificate_takes_the_place_of_an_older_one_alone() {
        let slot = Slot::new(wanted("www"), None);
        let issued = |from_s| {
            let mut issued = Issued::new("https://ca/dir", pem(&["a.example.com"])).unwrap();
            issued.validity = between(from_s, from_s + 100);
            Arc::new(issued)
        };
        let from_s = || slot.issued().map(|issued| issued.validity.from_s);
        assert_eq!(from_s(), None);
        slot.offer(issued(50));
        assert_eq!(from_s(), Some(50));
        slot.set(issued(70));
        slot.offer(issued(50));
        assert_eq!(from_s(), Some(70), "the disk has an older one");
        slot.offer(issued(80));
        assert_eq!(from_s(), Some(80));
    }
}
