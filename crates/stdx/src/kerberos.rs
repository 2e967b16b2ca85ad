//! Tickets of Kerberos for services of other machines, by the machine's own library: a caller
//! is not blocked while the library queries the key distribution center.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};

use crate::clock::SharedClock;
use crate::sync::lock;
use crate::sys::gssapi::{Context, library};

pub use crate::sys::gssapi::Step;

/// Proofs that are made at one time. Nearly all of their time they wait for a center, which is
/// asked once for each service and some hours.
const AT_ONCE_MAX: usize = 64;
/// What takes longer is not tried again for a while: those behind it need not wait too. Then it
/// has a part of the places only.
const LONG: Duration = Duration::from_secs(1);
/// Places for services whose last failure took long.
const SLOW_AT_ONCE_MAX: usize = 16;
/// How long a failure that took long is the answer at once.
const ANSWERED: Duration = Duration::from_secs(30);
/// How long it is remembered.
const REMEMBERED: Duration = Duration::from_secs(3_600);
/// Services whose failures are remembered.
const REMEMBERED_MAX: usize = 10_000;

/// Why there is no proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TicketError {
    /// The machine has no library for it.
    #[error(
        "Kerberos is not installed on the machine of this server ({0}): install libgssapi-krb5-2 \
         (Debian, Ubuntu) or krb5-libs (Red Hat)"
    )]
    NoLibrary(String),
    /// The library got no ticket.
    #[error("no Kerberos ticket for {service}: {why}{}", advice(.why))]
    NoTicket {
        /// Such as `HTTP@host`.
        service: String,
        /// In the library's words.
        why: String,
    },
    /// The service did not take it.
    #[error("{service} rejects the Kerberos ticket: {why}{}", advice(.why))]
    Refused {
        /// Such as `HTTP@host`.
        service: String,
        /// In the library's words.
        why: String,
    },
    /// The system has no thread left.
    #[error("no Kerberos ticket: cannot start a thread: {0}")]
    NoThread(String),
}

/// What is to be done, by what the library's text has in it.
const ADVICE: &[(&str, &str)] = &[
    ("ot find mechanisms to negotiate", NO_CREDENTIALS),
    ("No Kerberos credentials available", NO_CREDENTIALS),
    ("No credentials cache found", NO_CREDENTIALS),
    (
        "annot contact any KDC",
        "the key distribution center does not answer: it is down, or [realms] in krb5.conf names \
         another machine",
    ),
    (
        "annot find KDC for",
        "[realms] in krb5.conf has to say which machine is the realm's key distribution center",
    ),
    (
        "Server not found in Kerberos database",
        "the realm knows no service of that name: the URL has to name the host as the service is \
         registered",
    ),
    (
        "Server HTTP/",
        "the realm knows no service of that name: the URL has to name the host as the service is \
         registered",
    ),
    ("Client '", "the realm does not know the name in the keytab: export the keytab again"),
    ("Decrypt integrity check failed", WRONG_KEYTAB),
    ("Password incorrect", WRONG_KEYTAB),
    ("reauthentication failed", WRONG_KEYTAB),
    ("no suitable keys", WRONG_KEYTAB),
    ("Clock skew", "the clocks of the machines differ by minutes: synchronize them"),
    ("icket expired", "get a new one with kinit, or give the server a keytab instead"),
    ("ermission denied", "the user as whom the server runs has to be able to read the file"),
    (
        "ticket isn't for us",
        "the web server has no key for this name of its host: its administrator has to add one, \
         or the URL has to name the host as in its keytab",
    ),
];
const NO_CREDENTIALS: &str = "give the server a keytab (KRB5_CLIENT_KTNAME) or a ticket \
                              (KRB5CCNAME) in its environment";
const WRONG_KEYTAB: &str = "the keytab has other keys than the realm: export it again";

fn advice(why: &str) -> String {
    let known = ADVICE.iter().find(|(part, _)| why.contains(part));
    known.map(|(_, todo)| format!(" ({todo})")).unwrap_or_default()
}

/// Our side of the talk with a service that proves who we are.
pub trait Talk: Send + std::fmt::Debug {
    /// The first word, or the next one after what was heard. May block. The error is a text.
    fn step(&mut self, heard: Option<&[u8]>) -> Result<Step, String>;
}

impl Talk for Context {
    fn step(&mut self, heard: Option<&[u8]>) -> Result<Step, String> {
        Self::step(self, heard)
    }
}

/// Begins to talk with a service such as `HTTP@host`.
pub type Open = fn(&str) -> Result<Box<dyn Talk>, TicketError>;

/// With what this process has: its cache of tickets, its keytab.
fn of_this_process(service: &str) -> Result<Box<dyn Talk>, TicketError> {
    let library = library().map_err(TicketError::NoLibrary)?;
    match Context::new(library, service) {
        Ok(context) => Ok(Box::new(context)),
        Err(why) => Err(TicketError::NoTicket { service: service.to_owned(), why }),
    }
}

/// A talk without a library, for tests: says `one`, and `three` to who says `two`.
#[derive(Debug)]
pub struct Counting;

impl Counting {
    pub fn open(_service: &str) -> Result<Box<dyn Talk>, TicketError> {
        Ok(Box::new(Self))
    }
}

impl Talk for Counting {
    fn step(&mut self, heard: Option<&[u8]>) -> Result<Step, String> {
        match heard {
            None => Ok(Step { token: b"one".to_vec(), more: true }),
            Some(b"two") => Ok(Step { token: b"three".to_vec(), more: false }),
            Some(_) => Err(String::from("Clock skew too great")),
        }
    }
}

/// Gets tickets; clones share their places and what they remember.
#[derive(Clone)]
pub struct Tickets {
    clock: SharedClock,
    open: Open,
    places: Arc<Semaphore>,
    slow_places: Arc<Semaphore>,
    failed: Arc<Mutex<Failed>>,
}

impl std::fmt::Debug for Tickets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tickets")
    }
}

/// Failures that took long, by service.
type Failed = BTreeMap<String, (Duration, TicketError)>;

/// A proof that a service has been told, and may answer.
#[derive(Debug)]
pub struct Proof {
    service: String,
    talk: Box<dyn Talk>,
    /// What the service is to be told.
    pub token: Vec<u8>,
    /// Whether its answer is awaited.
    pub more: bool,
}

impl Tickets {
    /// Loads nothing and starts no thread yet.
    pub fn new(clock: SharedClock) -> Self {
        Self::with(clock, of_this_process)
    }

    /// Tickets of elsewhere.
    pub fn with(clock: SharedClock, open: Open) -> Self {
        let places = Arc::new(Semaphore::new(AT_ONCE_MAX));
        let slow_places = Arc::new(Semaphore::new(SLOW_AT_ONCE_MAX));
        Self { clock, open, places, slow_places, failed: Arc::default() }
    }

    /// The first step of a proof for a service such as `HTTP@host`: with a ticket of the
    /// process's cache, or one that the process's keytab gets.
    pub async fn begin(&self, service: &str) -> Result<Proof, TicketError> {
        let places = match self.remembered(service) {
            Some((true, known)) => return Err(known),
            Some((false, _)) => &self.slow_places,
            None => &self.places,
        };
        let (service, tickets) = (service.to_owned(), self.clone());
        let first = move || {
            let begin = tickets.clock.monotonic();
            let proof = first_step(tickets.open, service.clone());
            tickets.remember(service, begin, proof.as_ref().err());
            proof
        };
        aside(places, first).await
    }

    /// The next step, after what the service said.
    pub async fn go_on(&self, proof: Proof, heard: Vec<u8>) -> Result<Proof, TicketError> {
        aside(&self.places, move || next_step(proof, &heard)).await
    }

    /// The last failure that took long, and whether it is fresh.
    fn remembered(&self, service: &str) -> Option<(bool, TicketError)> {
        let failed = lock(&self.failed);
        let (at, error) = failed.get(service)?;
        let age = self.clock.monotonic().saturating_sub(*at);
        (age < REMEMBERED).then(|| (age < ANSWERED, error.clone()))
    }

    /// What came of asking for a ticket.
    fn remember(&self, service: String, begin: Duration, error: Option<&TicketError>) {
        let now = self.clock.monotonic();
        let mut failed = lock(&self.failed);
        let Some(error) = error.filter(|_| now.saturating_sub(begin) >= LONG) else {
            failed.remove(&service);
            return;
        };
        if failed.len() >= REMEMBERED_MAX {
            failed.retain(|_, (at, _)| now.saturating_sub(*at) < REMEMBERED);
        }
        if failed.len() < REMEMBERED_MAX || failed.contains_key(&service) {
            failed.insert(service, (now, error.clone()));
        }
    }
}

/// Runs `work` on a thread of its own. Who asked may go: the work ends by itself.
async fn aside(
    places: &Arc<Semaphore>,
    work: impl FnOnce() -> Result<Proof, TicketError> + Send + 'static,
) -> Result<Proof, TicketError> {
    let no_thread = |why: &dyn std::fmt::Display| TicketError::NoThread(why.to_string());
    let place = Arc::clone(places).acquire_owned().await;
    let place = place.map_err(|error| no_thread(&error))?;
    let (reply, answer) = oneshot::channel();
    let thread = std::thread::Builder::new().name(String::from("kerberos"));
    let started = thread.spawn(move || {
        let done = work();
        drop(place);
        let _gone = reply.send(done);
    });
    started.map_err(|error| no_thread(&error))?;
    answer.await.unwrap_or_else(|error| Err(no_thread(&error)))
}

fn first_step(open: Open, service: String) -> Result<Proof, TicketError> {
    let mut talk = open(&service)?;
    match talk.step(None) {
        Ok(Step { token, more }) => Ok(Proof { service, talk, token, more }),
        Err(why) => Err(TicketError::NoTicket { service, why }),
    }
}

fn next_step(mut proof: Proof, heard: &[u8]) -> Result<Proof, TicketError> {
    match proof.talk.step(Some(heard)) {
        Ok(Step { token, more }) => Ok(Proof { token, more, ..proof }),
        Err(why) => Err(TicketError::Refused { service: proof.service, why }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SimClock;

    fn no_ticket(why: &str) -> TicketError {
        TicketError::NoTicket { service: String::from("HTTP@web"), why: why.to_owned() }
    }

    #[test]
    fn texts_say_what_to_do() {
        for (error, parts) in [
            (
                no_ticket("No Kerberos credentials available (default cache: FILE:/tmp/x)"),
                ["no Kerberos ticket for HTTP@web: No Kerberos", "KRB5_CLIENT_KTNAME"],
            ),
            (no_ticket("Cannot contact any KDC for realm 'A'"), ["contact any KDC", "krb5.conf"]),
            (no_ticket("Server HTTP/web@A not found in Kerberos database"), ["web@A", "the URL"]),
            (no_ticket("Client 'm@A' not found in Kerberos database"), ["m@A", "keytab"]),
            (no_ticket("Clock skew too great"), ["skew too great (", "synchronize"]),
            (
                TicketError::Refused {
                    service: String::from("HTTP@web"),
                    why: String::from("The ticket isn't for us"),
                },
                ["HTTP@web rejects the Kerberos ticket", "its keytab"],
            ),
            (TicketError::NoLibrary(String::from("x.so")), ["(x.so)", "install libgssapi"]),
        ] {
            let text = error.to_string();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
        assert_eq!(no_ticket("?").to_string(), "no Kerberos ticket for HTTP@web: ?");
    }

    #[test]
    fn only_what_took_long_is_remembered_for_a_while() {
        let clock = SimClock::at(Duration::from_secs(1_000));
        let tickets = Tickets::new(clock.clone());
        let error = no_ticket("Cannot contact any KDC for realm 'A'");
        let begin = tickets.clock.monotonic();
        let remember = |service: &str, error| tickets.remember(service.to_owned(), begin, error);
        remember("HTTP@quick", Some(&error));
        clock.advance(LONG);
        remember("HTTP@slow", Some(&error));
        remember("HTTP@mended", Some(&error));
        remember("HTTP@mended", None);
        assert_eq!(tickets.remembered("HTTP@quick"), None);
        assert_eq!(tickets.remembered("HTTP@mended"), None);
        assert_eq!(tickets.remembered("HTTP@slow"), Some((true, error.clone())));
        for number in 0..REMEMBERED_MAX {
            remember(&number.to_string(), Some(&error));
        }
        assert_eq!(tickets.failed.lock().unwrap().len(), REMEMBERED_MAX);
        clock.advance(ANSWERED);
        assert_eq!(tickets.remembered("HTTP@slow"), Some((false, error.clone())));
        clock.advance(REMEMBERED - ANSWERED);
        assert_eq!(tickets.remembered("HTTP@slow"), None);
        remember("HTTP@later", Some(&error));
        assert_eq!(tickets.failed.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn what_is_remembered_is_not_tried_again_at_once() {
        let clock = SimClock::at(Duration::from_secs(1_000));
        let tickets = Tickets::with(clock.clone(), Counting::open);
        let error = no_ticket("Cannot contact any KDC for realm 'A'");
        tickets.remember(String::from("HTTP@web"), Duration::ZERO, Some(&error));
        assert_eq!(tickets.begin("HTTP@web").await.unwrap_err(), error);
        clock.advance(ANSWERED);
        // The places of the others do not count.
        let _others = tickets.places.acquire_many(AT_ONCE_MAX as u32).await.unwrap();
        let proof = tickets.begin("HTTP@web").await.unwrap();
        assert_eq!((&proof.token[..], proof.more), (&b"one"[..], true));
        assert_eq!(tickets.remembered("HTTP@web"), None);
    }

    #[tokio::test]
    async fn a_service_may_answer_and_refuse() {
        let tickets = Tickets::with(SimClock::at(Duration::ZERO), Counting::open);
        let proof = tickets.begin("HTTP@web").await.unwrap();
        let proof = tickets.go_on(proof, b"two".to_vec()).await.unwrap();
        assert_eq!((&proof.token[..], proof.more), (&b"three"[..], false));
        let error = tickets.go_on(proof, b"four".to_vec()).await.unwrap_err();
        let (service, why) = (String::from("HTTP@web"), String::from("Clock skew too great"));
        assert_eq!(error, TicketError::Refused { service, why });
    }

    #[tokio::test]
    async fn a_cancelled_caller_keeps_its_place_until_the_work_ends() {
        let places = Arc::new(Semaphore::new(1));
        let (end, ended) = std::sync::mpsc::sync_channel::<()>(1);
        let work = move || {
            let _ = ended.recv();
            Err(no_ticket("late"))
        };
        let waited = tokio::time::timeout(Duration::from_millis(10), aside(&places, work)).await;
        assert!(waited.is_err());
        assert_eq!(places.available_permits(), 0);
        end.send(()).unwrap();
        drop(places.acquire().await.unwrap());
    }
}
