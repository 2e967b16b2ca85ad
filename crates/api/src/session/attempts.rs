//! Failed sign-ins. They block the pair of source and account, so that a stranger cannot keep a user
//! out who signs in from elsewhere. Names that do not exist count like those that do.

use config::table;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use config::Edit;
use config::db::{DbResult, Value};
use stdx::seats::source;
use stdx::sync::lock;

use super::digest;
use crate::call::Gone;

/// Seconds after the last failure until an account is forgotten, if it is not blocked for longer.
const FORGET_S: u64 = 900;
/// Accounts kept for a source. Displacing one of them takes five failures of every other, which takes
/// longer than the block.
const ACCOUNTS_MAX: usize = 256;
/// Sources kept; beyond, the one that failed the longest time ago is forgotten.
const SOURCES_MAX: usize = 4_096;
/// Users with failures that are not in the database yet.
const NOTES_MAX: usize = 10_000;
/// How often a waiting sign-in checks whether its client is still connected.
const CHECK_EVERY: Duration = Duration::from_millis(200);

/// What blocks an account.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Failed sign-ins, from one source.
    pub(super) attempts: i64,
    /// Seconds for which the account is blocked for that source.
    pub(super) block_s: u64,
}

impl Limits {
    fn forget_s(self) -> u64 {
        self.block_s.max(FORGET_S)
    }
}

/// The table of failures.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    sources: Mutex<HashMap<IpAddr, Source>>,
    settled: Condvar,
    notes: Mutex<HashMap<u64, Note>>,
}

#[derive(Debug, Default)]
struct Source {
    /// By digest of their key.
    accounts: HashMap<String, Account>,
    /// Unix time of the last attempt.
    last: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Account {
    failed: i64,
    /// Attempts whose password is being checked now.
    running: i64,
    /// Unix time of the last failure.
    at: u64,
}

/// What the users table does not show yet.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Note {
    /// Signed in, or unblocked, before these failures.
    reset: bool,
    failed: i64,
    at: u64,
    ip: String,
}

/// One attempt; without a verdict it does not count.
#[derive(Debug)]
pub(crate) struct Attempt {
    shared: Arc<Shared>,
    source: IpAddr,
    account: String,
    verdict: Option<(bool, u64)>,
}

/// The key of the account of a user.
pub(super) fn of_user(userid: u64) -> String {
    format!("user {userid}")
}

/// The key of an account that no user has.
pub(super) fn of_name(name: &str) -> String {
    format!("name {}", folded(name))
}

/// A user name without differences that LDAP servers ignore: letter case and outer spaces.
pub(crate) fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

impl Attempts {
    /// Starts an attempt on the account with this key; `None` = the account is blocked for this source. Waits while as many
    /// attempts run as are left, so that parallel guesses are counted exactly.
    pub(super) fn begin(
        &self,
        peer: IpAddr,
        key: &str,
        now: u64,
        limits: Limits,
        gone: &Gone,
    ) -> Option<Attempt> {
        let (source, account) = (source(peer), digest(key));
        let mut sources = lock(&self.0.sources);
        loop {
            let entry = find(&mut sources, source, &account, now, limits);
            if entry.failed >= limits.attempts {
                return None;
            }
            if entry.failed + entry.running < limits.attempts {
                entry.running += 1;
                let shared = Arc::clone(&self.0);
                return Some(Attempt { shared, source, account, verdict: None });
            }
            if gone.is_gone() {
                return None;
            }
            sources = match self.0.settled.wait_timeout(sources, CHECK_EVERY) {
                Ok((guard, _)) => guard,
                Err(poisoned) => PoisonError::into_inner(poisoned).0,
            };
        }
    }

    /// Ends the block of a user, from everywhere.
    pub(crate) fn unblock(&self, userid: u64) {
        let account = digest(&of_user(userid));
        for source in lock(&self.0.sources).values_mut() {
            if let Some(entry) = source.accounts.get_mut(&account) {
                entry.failed = 0;
            }
        }
        lock(&self.0.notes).remove(&userid);
    }

    /// Notes a failure, or a sign-in, for the users table. Writing it at once would make an existing
    /// user's wrong password slower than an unknown user's.
    pub(crate) fn note(&self, userid: u64, good: bool, peer: IpAddr, now: u64) {
        let mut notes = lock(&self.0.notes);
        if notes.len() >= NOTES_MAX && !notes.contains_key(&userid) {
            return;
        }
        if good {
            notes.insert(userid, Note { reset: true, ..Note::default() });
        } else {
            let note = notes.entry(userid).or_default();
            note.failed += 1;
            note.at = now;
            note.ip = peer.to_string();
        }
    }

    /// Whether there are failures of the user that the table does not show yet.
    pub(super) fn has_note(&self, userid: u64) -> bool {
        lock(&self.0.notes).contains_key(&userid)
    }

    /// Has what is noted written. What `write` refuses stays for the next time.
    pub(super) fn settle(
        &self,
        write: impl FnOnce(&HashMap<u64, Note>) -> DbResult<()>,
    ) -> DbResult<()> {
        let noted = std::mem::take(&mut *lock(&self.0.notes));
        if noted.is_empty() {
            return Ok(());
        }
        write(&noted).inspect_err(|_| {
            let mut notes = lock(&self.0.notes);
            for (user, old) in noted {
                match notes.get_mut(&user) {
                    Some(new) if !new.reset => {
                        new.failed += old.failed;
                        new.reset = old.reset;
                    }
                    Some(_) => {}
                    None => drop(notes.insert(user, old)),
                }
            }
        })
    }
}

pub(super) fn write(edit: &mut Edit<'_>, noted: &HashMap<u64, Note>) -> DbResult<()> {
    noted.iter().try_for_each(|(user, note)| {
        let sql = "SELECT attempt_failed FROM users WHERE userid = ?";
        let rows = edit.query(sql, &[(*user).into()])?;
        let Some(before) = rows.first().map(|row| row.int("attempt_failed")) else { return Ok(()) };
        let before = if note.reset { 0 } else { before };
        let mut row = vec![("attempt_failed", Value::from(before + note.failed))];
        if note.failed > 0 {
            row.push(("attempt_clock", note.at.into()));
            row.push(("attempt_ip", note.ip.as_str().into()));
        }
        edit.update(&table::USERS, *user, &row)
    })
}

/// The entry of an account, as it stands `now`; made where it is missing.
fn find<'s>(
    sources: &'s mut HashMap<IpAddr, Source>,
    ip: IpAddr,
    account: &str,
    now: u64,
    limits: Limits,
) -> &'s mut Account {
    if sources.len() >= SOURCES_MAX && !sources.contains_key(&ip) {
        let idle = |source: &Source| source.accounts.values().all(|entry| entry.running == 0);
        sources.retain(|_, source| now < source.last + limits.forget_s() || !idle(source));
        let oldest = sources.iter().filter(|(_, source)| idle(source));
        let oldest = oldest.min_by_key(|(_, source)| source.last).map(|(ip, _)| *ip);
        if let Some(oldest) = oldest.filter(|_| sources.len() >= SOURCES_MAX) {
            sources.remove(&oldest);
        }
    }
    let source = sources.entry(ip).or_default();
    source.last = now;
    let accounts = &mut source.accounts;
    if accounts.len() >= ACCOUNTS_MAX && !accounts.contains_key(account) {
        accounts.retain(|_, entry| entry.running > 0 || now < entry.at + limits.forget_s());
        let least = accounts.iter().filter(|(_, entry)| entry.running == 0);
        let least = least.min_by_key(|(_, entry)| (entry.failed, entry.at));
        let least = least.map(|(account, _)| account.clone());
        if let Some(least) = least.filter(|_| accounts.len() >= ACCOUNTS_MAX) {
            accounts.remove(&least);
        }
    }
    let entry = accounts.entry(account.to_owned()).or_default();
    if now >= entry.at + limits.forget_s() {
        entry.failed = 0;
    } else if now >= entry.at + limits.block_s {
        // After the block one more attempt, then it begins again.
        entry.failed = entry.failed.min(limits.attempts - 1);
    }
    entry
}

impl Attempt {
    /// The password was checked.
    pub(crate) fn end(mut self, good: bool, now: u64) {
        self.verdict = Some((good, now));
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let mut sources = lock(&self.shared.sources);
        let Some(source) = sources.get_mut(&self.source) else { return };
        if let Some(entry) = source.accounts.get_mut(&self.account) {
            entry.running -= 1;
            match self.verdict {
                Some((true, _)) => entry.failed = 0,
                Some((false, now)) => {
                    entry.failed += 1;
                    entry.at = now;
                }
                None => {}
            }
            if entry.failed == 0 && entry.running == 0 {
                source.accounts.remove(&self.account);
            }
        }
        if source.accounts.is_empty() {
            sources.remove(&self.source);
        }
        drop(sources);
        self.shared.settled.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const LIMITS: Limits = Limits { attempts: 5, block_s: 30 };

    fn ip(last: u16) -> IpAddr {
        let [high, low] = last.to_be_bytes();
        IpAddr::from([10, 0, high, low])
    }

    /// Whether the attempt was let through.
    fn guess(attempts: &Attempts, from: u16, name: &str, now: u64, good: bool) -> bool {
        let attempt = attempts.begin(ip(from), name, now, LIMITS, &Gone::default());
        attempt.map(|attempt| attempt.end(good, now)).is_some()
    }

    #[test]
    fn failures_block_the_pair_of_source_and_account() {
        let attempts = Attempts::default();
        let wrong = |from, name, now| guess(&attempts, from, name, now, false);
        assert_eq!((0..9).filter(|_| wrong(1, "Admin", 1000)).count(), 5);
        assert!(!guess(&attempts, 1, "Admin", 1029, true), "blocked for 30 s");
        assert!(wrong(2, "Admin", 1000) && wrong(1, "other", 1000), "other pairs are not");
        assert!(wrong(1, "Admin", 1030), "one attempt after the block");
        assert!(!wrong(1, "Admin", 1059), "which begins again");
        assert!(guess(&attempts, 1, "Admin", 1060, true));
        assert_eq!(
            (0..9).filter(|_| wrong(1, "Admin", 1061)).count(),
            5,
            "a sign-in starts afresh"
        );
        assert_eq!((0..9).filter(|_| wrong(1, "Admin", 1061 + FORGET_S)).count(), 5);
        let seventh = of_user(7);
        assert_eq!((0..9).filter(|_| wrong(1, &seventh, 1062 + FORGET_S)).count(), 5);
        attempts.unblock(7);
        assert!(wrong(1, &seventh, 1062 + FORGET_S));
    }

    #[test]
    fn parallel_guesses_are_counted_exactly() {
        let attempts = Attempts::default();
        let tried = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..60 {
                scope.spawn(|| {
                    let gone = Gone::default();
                    if let Some(attempt) = attempts.begin(ip(1), "Admin", 1000, LIMITS, &gone) {
                        tried.fetch_add(1, Ordering::SeqCst);
                        std::thread::yield_now();
                        attempt.end(false, 1000);
                    }
                });
            }
        });
        assert_eq!(tried.into_inner(), 5);
    }

    #[test]
    fn parallel_sign_ins_with_the_right_password_all_succeed() {
        let attempts = Attempts::default();
        let let_in = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..60 {
                scope.spawn(|| {
                    let good = guess(&attempts, 1, "Admin", 1000, true);
                    let_in.fetch_add(usize::from(good), Ordering::SeqCst);
                });
            }
        });
        assert_eq!(let_in.into_inner(), 60);
        assert!(lock(&attempts.0.sources).is_empty());
    }

    #[test]
    fn attempt_without_verdict_does_not_count() {
        let attempts = Attempts::default();
        let gone = Gone::default();
        let running: Vec<_> =
            (0..5).map(|_| attempts.begin(ip(1), "Admin", 1000, LIMITS, &gone).unwrap()).collect();
        gone.leave();
        assert!(attempts.begin(ip(1), "Admin", 1000, LIMITS, &gone).is_none());
        drop(running);
        assert!(attempts.begin(ip(1), "Admin", 1000, LIMITS, &gone).is_some());
    }

    #[test]
    fn memory_is_bounded_and_spraying_names_does_not_end_a_block() {
        let attempts = Attempts::default();
        (0..5).for_each(|_| assert!(guess(&attempts, 1, "Admin", 1000, false)));
        for n in 0..2 * ACCOUNTS_MAX {
            assert!(guess(&attempts, 1, &format!("n{n}"), 1001, false));
        }
        assert!(!guess(&attempts, 1, "Admin", 1001, false));
        for n in 0..2 * SOURCES_MAX as u64 {
            let from = u16::try_from(n + 2).unwrap();
            guess(&attempts, from, "Admin", 1002 + n / 100, false);
        }
        let sources = lock(&attempts.0.sources);
        assert_eq!(sources.len(), SOURCES_MAX);
        assert!(sources.values().all(|source| source.accounts.len() <= ACCOUNTS_MAX));
    }
}
