//! Session tickets (RFC 8446, 4.6.1; RFC 5077): a client that comes back skips the certificates.
//!
//! All engines of a group have the same three secrets. One encrypts, all three decrypt, and the next one
//! is known everywhere before any engine uses it, so a change costs no client its session. Each virtual
//! service has keys of its own, which follow from the secrets and from what it demands of clients.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hmac;
use rustls::server::ProducesTickets;
use stdx::clock::SharedClock;

/// How long a secret encrypts. Tickets can be used at least this long, and twice as long at most. An engine
/// that the server does not reach uses the last shared secret twice as long.
pub const TICKET_ROTATION: Duration = Duration::from_secs(6 * 3_600);
/// Bytes of a secret.
const SECRET: usize = 32;
/// Bytes at the start of a ticket that name the key.
const ID: usize = 16;

/// Secrets from which the keys of tickets follow.
#[derive(Clone, PartialEq, Eq)]
pub struct TicketSecrets {
    previous: [u8; SECRET],
    current: [u8; SECRET],
    next: [u8; SECRET],
}

/// Shows no secret.
impl fmt::Debug for TicketSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TicketSecrets").finish_non_exhaustive()
    }
}

impl TicketSecrets {
    /// Bytes of all secrets.
    pub const BYTES: usize = 3 * SECRET;

    /// New ones.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; Self::BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self::from_array(&bytes))
    }

    /// The next one becomes the current one.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn rotated(&self) -> Result<Self, getrandom::Error> {
        let mut next = [0; SECRET];
        getrandom::fill(&mut next)?;
        Ok(Self { previous: self.current, current: self.next, next })
    }

    /// The previous, the current and the next one.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.previous, self.current, self.next].concat()
    }

    /// Reads [`to_bytes`](Self::to_bytes); `None`: another number of bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self::from_array(bytes.try_into().ok()?))
    }

    fn from_array(bytes: &[u8; Self::BYTES]) -> Self {
        let part = |n: usize| std::array::from_fn(|at| bytes[n * SECRET + at]);
        Self { previous: part(0), current: part(1), next: part(2) }
    }
}

/// Secrets for some time.
#[derive(Debug)]
struct Generation {
    secrets: TicketSecrets,
    /// Monotonic time at which the engine makes the next ones; `None`: never.
    until: Option<Duration>,
}

/// The secrets of an engine.
pub(crate) struct Tickets {
    /// `None`: the system had no random numbers; then there are no tickets.
    generation: ArcSwapOption<Generation>,
    /// `None`: nothing is served.
    clock: Option<SharedClock>,
}

impl fmt::Debug for Tickets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tickets").finish_non_exhaustive()
    }
}

impl Tickets {
    /// Secrets of this engine alone, which it changes itself.
    pub(crate) fn new(clock: Option<&SharedClock>) -> Self {
        let clock = clock.map(Arc::clone);
        let until = clock.as_ref().map(|clock| clock.monotonic() + TICKET_ROTATION);
        let secrets = TicketSecrets::random().ok();
        let generation = secrets.map(|secrets| Arc::new(Generation { secrets, until }));
        Self { generation: ArcSwapOption::new(generation), clock }
    }

    /// Secrets of all engines of a group, which the server changes. If it cannot be reached for so long that
    /// their time is over, the engine changes them itself.
    pub(crate) fn share(&self, secrets: TicketSecrets) {
        let until = self.clock.as_ref().map(|clock| clock.monotonic() + 2 * TICKET_ROTATION);
        self.generation.store(Some(Arc::new(Generation { secrets, until })));
    }

    fn generation(&self) -> Option<Arc<Generation>> {
        let now = self.clock.as_ref().map(|clock| clock.monotonic());
        let found = self.generation.load_full()?;
        let over = found.until.zip(now).is_some_and(|(until, now)| now >= until);
        if let (true, Ok(secrets)) = (over, found.secrets.rotated()) {
            let until = now.map(|now| now + TICKET_ROTATION);
            let next = Arc::new(Generation { secrets, until });
            // Another thread may have been faster.
            self.generation.compare_and_swap(&found, Some(next));
            return self.generation.load_full();
        }
        Some(found)
    }
}

/// The tickets of one virtual service.
#[derive(Debug)]
pub(crate) struct Ticketer {
    tickets: Arc<Tickets>,
    /// Digest of what a session depends on: a ticket works only where that is the same.
    context: [u8; 32],
    keys: ArcSwapOption<Keys>,
}

/// The keys that follow from a generation of secrets.
#[derive(Debug)]
struct Keys {
    of: Arc<Generation>,
    current: Key,
    others: [Key; 2],
}

#[derive(Debug)]
struct Key {
    id: [u8; ID],
    key: RandomizedNonceKey,
}

impl Key {
    fn derive(secret: &[u8; SECRET], context: &[u8; 32]) -> Option<Self> {
        let secret = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let derived = |label: &[u8]| hmac::sign(&secret, &[label, context].concat());
        let id = derived(b"vedette ticket id ");
        let key = derived(b"vedette ticket key ");
        Some(Self {
            id: id.as_ref().get(..ID)?.try_into().ok()?,
            key: RandomizedNonceKey::new(&AES_256_GCM, key.as_ref()).ok()?,
        })
    }
}

impl Ticketer {
    pub(crate) fn new(tickets: &Arc<Tickets>, context: [u8; 32]) -> Self {
        Self { tickets: Arc::clone(tickets), context, keys: ArcSwapOption::empty() }
    }

    fn keys(&self) -> Option<Arc<Keys>> {
        let of = self.tickets.generation()?;
        if let Some(keys) = self.keys.load_full().filter(|keys| Arc::ptr_eq(&keys.of, &of)) {
            return Some(keys);
        }
        let TicketSecrets { previous, current, next } = &of.secrets;
        let key = |secret| Key::derive(secret, &self.context);
        let (current, others) = (key(current)?, [key(previous)?, key(next)?]);
        let keys = Arc::new(Keys { of, current, others });
        self.keys.store(Some(Arc::clone(&keys)));
        Some(keys)
    }
}

impl ProducesTickets for Ticketer {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        u32::try_from(TICKET_ROTATION.as_secs()).unwrap_or(u32::MAX)
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let keys = self.keys()?;
        let Key { id, key } = &keys.current;
        let mut sealed = plain.to_vec();
        let nonce = key.seal_in_place_append_tag(Aad::from(id), &mut sealed).ok()?;
        Some([&id[..], nonce.as_ref(), &sealed].concat())
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        let (id, rest) = ticket.split_at_checked(ID)?;
        let (nonce, sealed) = rest.split_at_checked(NONCE_LEN)?;
        let keys = self.keys()?;
        let mut all = std::iter::once(&keys.current).chain(&keys.others);
        let Key { id, key } = all.find(|key| key.id == id)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut opened = sealed.to_vec();
        let length = key.open_in_place(nonce, Aad::from(id), &mut opened).ok()?.len();
        opened.truncate(length);
        Some(opened)
    }
}

#[cfg(test)]
mod tests {
    use stdx::clock::SimClock;

    use super::*;

    fn shared(secrets: &TicketSecrets) -> Ticketer {
        let tickets = Tickets::new(None);
        tickets.share(secrets.clone());
        Ticketer::new(&Arc::new(tickets), [1; 32])
    }

    #[test]
    fn ticket_works_on_all_engines_of_a_group() {
        let old = TicketSecrets::random().unwrap();
        let new = old.rotated().unwrap();
        let (late, early) = (shared(&old), shared(&new));
        for (from, to) in [(&late, &late), (&late, &early), (&early, &late), (&early, &early)] {
            let ticket = from.encrypt(b"session").unwrap();
            assert_eq!(to.decrypt(&ticket).as_deref(), Some(&b"session"[..]));
        }
        let ticket = late.encrypt(b"session").unwrap();
        let newest = shared(&new.rotated().unwrap());
        assert_eq!(newest.decrypt(&ticket), None, "two changes later");
        let bytes = new.to_bytes();
        assert_eq!(TicketSecrets::from_bytes(&bytes), Some(new));
        assert_eq!(TicketSecrets::from_bytes(&bytes[1..]), None);
    }

    #[test]
    fn a_ticket_of_other_demands_and_a_changed_ticket_are_refused() {
        let secrets = TicketSecrets::random().unwrap();
        let ticketer = shared(&secrets);
        let ticket = ticketer.encrypt(b"session").unwrap();
        let other = Ticketer::new(&ticketer.tickets, [2; 32]);
        assert_eq!(other.decrypt(&ticket), None);
        for at in 0..ticket.len() {
            let mut changed = ticket.clone();
            changed[at] ^= 1;
            assert_eq!(ticketer.decrypt(&changed), None, "byte {at}");
            assert_eq!(ticketer.decrypt(&ticket[..at]), None, "{at} bytes");
        }
        let again = ticketer.encrypt(b"session").unwrap();
        assert_ne!(again, ticket, "equal sessions have different tickets");
    }

    #[test]
    fn shared_secrets_do_not_encrypt_for_ever_without_the_server() {
        let clock = SimClock::at(Duration::ZERO);
        let shared: SharedClock = clock.clone();
        let ticketer = Ticketer::new(&Arc::new(Tickets::new(Some(&shared))), [1; 32]);
        ticketer.tickets.share(TicketSecrets::random().unwrap());
        let ticket = ticketer.encrypt(b"session").unwrap();
        clock.advance(2 * TICKET_ROTATION);
        assert!(ticketer.decrypt(&ticket).is_some());
        assert_ne!(ticketer.encrypt(b"session").unwrap()[..ID], ticket[..ID]);
        ticketer.tickets.share(TicketSecrets::random().unwrap());
        assert!(ticketer.decrypt(&ticket).is_none(), "the server is back with newer ones");
    }

    #[test]
    fn an_engine_alone_changes_its_secrets_itself() {
        let clock = SimClock::at(Duration::ZERO);
        let shared: SharedClock = clock.clone();
        let ticketer = Ticketer::new(&Arc::new(Tickets::new(Some(&shared))), [1; 32]);
        let ticket = ticketer.encrypt(b"session").unwrap();
        clock.advance(TICKET_ROTATION);
        assert!(ticketer.decrypt(&ticket).is_some());
        assert_ne!(ticketer.encrypt(b"session").unwrap()[..ID], ticket[..ID]);
        clock.advance(TICKET_ROTATION);
        assert!(ticketer.decrypt(&ticket).is_none());
    }
}
