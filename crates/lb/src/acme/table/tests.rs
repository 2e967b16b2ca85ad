//! What is due, without an authority that can be reached.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use stdx::clock::SimClock;

use super::*;
use crate::acme::issued::tests::{between, pem, wanted};
use crate::acme::store::{Account, Check, Posting, Responder, Store};
use crate::acme::wanted::Wanted;

const NOW_S: u64 = 1_000_000_000;
const DAY: u64 = 86_400;

#[derive(Debug, Default)]
struct Parts {
    attempts: Attempts,
    fails: AtomicBool,
    /// The place of the certificate that is stored.
    place: OnceLock<Arc<Slot>>,
    /// Clients had that certificate before it was stored.
    late: AtomicBool,
}

impl Store for Parts {
    fn keep_certificate(&self, _: &Wanted, issued: &Issued, _: u64) -> anyhow::Result<()> {
        let used = self.place.get().and_then(|place| place.issued());
        self.late.fetch_or(used.is_some_and(|used| used.key.cert == issued.key.cert), Relaxed);
        if self.fails.load(Relaxed) { anyhow::bail!("full") } else { Ok(()) }
    }

    fn attempts(&self, _: &Wanted) -> anyhow::Result<Attempts> {
        if self.fails.load(Relaxed) { anyhow::bail!("locked") } else { Ok(self.attempts) }
    }

    fn keep_attempts(&self, _: &Wanted, _: &Attempts) -> anyhow::Result<()> {
        Ok(())
    }

    fn account(&self, _: &Authority) -> anyhow::Result<Option<Account>> {
        Ok(None)
    }

    fn keep_account(&self, _: &Account) -> anyhow::Result<()> {
        Ok(())
    }

    fn show(&self, _: &Wanted, _: &Standing) {}
}

impl Responder for Parts {
    fn ready(&self, _: &Wanted) -> Result<(), String> {
        Ok(())
    }

    fn post<'r>(&'r self, _: &'r Wanted, _: Vec<Check>) -> Posting<'r> {
        Box::pin(async { Ok(()) })
    }

    fn clear(&self) {}
}

/// A certificate of 90 days that a user asked for and that is stored since `from_s`.
fn slot(directory: &str, requested_s: u64, from_s: Option<u64>) -> Arc<Slot> {
    let mut wanted = Wanted { requested_s, ..wanted(directory) };
    Arc::make_mut(&mut wanted.authority).directory = directory.to_owned();
    let issued = from_s.map(|from_s| {
        let mut issued = Issued::new(directory, pem(&["a.example.com"])).unwrap();
        issued.validity = between(from_s, from_s + 90 * DAY);
        issued
    });
    Arc::new(Slot::new(wanted, issued))
}

fn job(slots: Vec<Arc<Slot>>, parts: &Arc<Parts>) -> Job {
    Job { slots, store: Arc::clone(parts) as _, responder: Arc::clone(parts) as _, again: false }
}

fn table(slots: Vec<Arc<Slot>>, parts: Parts, before: Option<Table>) -> Table {
    let clock: SharedClock = SimClock::at(Duration::from_secs(NOW_S));
    Table::new(&job(slots, &Arc::new(parts)), &clock, before)
}

fn attempts(change: impl FnOnce(&mut Attempts)) -> Parts {
    let mut attempts = Attempts::default();
    change(&mut attempts);
    Parts { attempts, ..Parts::default() }
}

fn down() -> Failure {
    Failure { text: "unreachable".to_owned(), retry_after_s: None, is_down: true }
}

#[test]
fn an_authority_that_is_down_delays_its_certificates_alone() {
    let slots = vec![slot("https://a/", 0, None), slot("https://b/", 0, None)];
    let mut table = table(slots, Parts::default(), None);
    assert_eq!(table.next(), Some((0, 0)));
    table.entries[0].attempts.begin(NOW_S, 0);
    table.failed(0, &down(), NOW_S);
    assert_eq!(table.next(), Some((1, 0)));
    let slots = vec![slot("https://a/", 0, None), slot("https://a/", 0, None)];
    let parts = attempts(|attempts| {
        attempts.begin(NOW_S - 10, 0);
        attempts.note_down();
    });
    let table = self::table(slots, parts, None);
    assert_eq!(table.next(), Some((0, NOW_S + 50)));
}

#[test]
fn certificates_of_an_authority_that_is_down_take_turns() {
    let mut slots = vec![slot("https://a/", 0, None), slot("https://a/", 0, None)];
    Arc::get_mut(&mut slots[1]).unwrap().wanted.key = "other".to_owned();
    let mut table = table(slots, Parts::default(), None);
    table.entries[0].attempts.begin(NOW_S, 0);
    table.failed(0, &down(), NOW_S);
    assert_eq!(table.next(), Some((1, NOW_S + 60)));
}

#[test]
fn a_request_stays_until_a_certificate_arrives() {
    let slots = || vec![slot("https://a/", NOW_S - 100, Some(NOW_S - 20 * DAY))];
    let due = |parts| table(slots(), parts, None).next();
    assert_eq!(due(Parts::default()), Some((0, 0)));
    let failed = attempts(|attempts| attempts.begin(NOW_S - 50, 0));
    assert_eq!(due(failed), Some((0, NOW_S + 10)), "after the pause");
    let renewed =
        table(slots(), Parts { attempts: Attempts::issued(NOW_S - 50), ..Parts::default() }, None);
    assert!(renewed.entries[0].order_s(&renewed.held) > NOW_S + 30 * DAY);
}

#[test]
fn lost_attempts_lead_to_no_order_of_a_newer_certificate() {
    let slots = vec![slot("https://a/", NOW_S - 30 * DAY, Some(NOW_S - 20 * DAY))];
    let table = table(slots, Parts::default(), None);
    assert_eq!(table.entries[0].order_s(&table.held), NOW_S + 40 * DAY);
}

#[tokio::test]
async fn attempts_that_cannot_be_read_now_delay_the_order() {
    let failing = Arc::new(Parts { fails: true.into(), ..Parts::default() });
    let clock = SimClock::at(Duration::from_secs(NOW_S));
    let shared: SharedClock = clock.clone();
    let mut table = Table::new(&job(vec![slot("https://a/", 0, None)], &failing), &shared, None);
    assert_eq!(table.next(), Some((0, NOW_S + READ_AGAIN_S)));
    clock.advance(Duration::from_secs(READ_AGAIN_S));
    table.work().await;
    assert_eq!(table.next(), Some((0, NOW_S + 2 * READ_AGAIN_S)));
    failing.fails.store(false, Relaxed);
    clock.advance(Duration::from_secs(READ_AGAIN_S));
    table.work().await;
    assert_eq!((table.next(), table.entries[0].attempts.failures), (Some((0, 0)), 0));
}

#[test]
fn other_authority_begins_without_suggested_times() {
    let (a, b) = (slot("https://a/", 0, Some(NOW_S)), slot("https://b/", 0, Some(NOW_S)));
    let key = |slot: Arc<Slot>| {
        let mut slot = slot;
        Arc::get_mut(&mut slot).unwrap().wanted.key = "www".to_owned();
        slot
    };
    let (a, b) = (key(a), key(b));
    let newer = key(slot("https://a/", 0, Some(NOW_S + 1)));
    for (next, kept) in [(&a, true), (&b, false), (&newer, false)] {
        let mut before = table(vec![Arc::clone(&a)], Parts::default(), None);
        before.entries[0].suggested_s = Some(NOW_S + 7);
        before.entries[0].attempts.failures = 3;
        let now = table(vec![Arc::clone(next)], Parts::default(), Some(before));
        assert_eq!(now.entries[0].suggested_s.is_some(), kept);
        let elsewhere = Arc::ptr_eq(next, &b);
        assert_eq!(now.entries[0].attempts.failures == 0, elsewhere);
    }
}

#[test]
fn clients_get_a_certificate_after_it_is_stored() {
    for (fails, again_s) in [(false, None), (true, Some(NOW_S + KEEP_AGAIN_S))] {
        let place = slot("https://a/dir", 0, None);
        let parts = Arc::new(Parts { place: Arc::clone(&place).into(), ..Parts::default() });
        let clock: SharedClock = SimClock::at(Duration::from_secs(NOW_S));
        let mut table = Table::new(&job(vec![Arc::clone(&place)], &parts), &clock, None);
        parts.fails.store(fails, Relaxed);
        let issued = Issued::new("https://a/dir", pem(&["a.example.com"])).unwrap();
        let certificate = issued.key.cert.clone();
        table.issued(0, issued, NOW_S);
        assert!(!parts.late.load(Relaxed));
        assert_eq!(place.issued().unwrap().key.cert, certificate, "also if the disk is full");
        assert_eq!(table.entries[0].keep_s, again_s);
    }
}
