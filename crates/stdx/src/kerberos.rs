//! Tickets of Kerberos for services of other machines, by the machine's own library: nobody who
//! asks is blocked while it asks the key distribution center.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};

use crate::clock::SharedClock;
use crate::sys::gssapi::{Context, Step, library};

/// Proofs that are made at one time. Nearly all of their time they wait for a center, which is
/// asked once for each service and some hours.
const AT_ONCE_MAX: usize = 64;
/// What takes longer is not tried again for a while: those behind it need not wait too.
const LONG: Duration = Duration::from_secs(1);
/// How long a failure that took long is remembered.
const REMEMBERED: Duration = Duration::from_secs(30);
/// Services whose failures are remembered.
const REMEMBERED_MAX: usize = 1_000;

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
    #[error("{service} does not take the Kerberos ticket: {why}{}", advice(.why))]
    Refused {
        /// Such as `HTTP@host`.
        service: String,
        /// In the library's words.
        why: String,
    },
    /// The system has no thread left.
    #[error("no Kerberos ticket: the system starts no thread: {0}")]
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
    ("Client '", "the realm does not know the name in the keytab: export the keytab anew"),
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
const WRONG_KEYTAB: &str = "the keytab has other keys than the realm: export it anew";

fn advice(why: &str) -> String {
    let known = ADVICE.iter().find(|(part, _)| why.contains(part));
    known.map(|(_, todo)| format!(" ({todo})")).unwrap_or_default()
}

/// Gets tickets; clones share their places and what they remember.
#[derive(Clone)]
pub struct Tickets {
    clock: SharedClock,
    places: Arc<Semaphore>,
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
    context: Context,
    /// What the service is to be told.
    pub token: Vec<u8>,
    /// Whether its answer is awaited.
    pub more: bool,
}

impl Tickets {
    /// Loads nothing and starts no thread yet.
    pub fn new(clock: SharedClock) -> Self {
        Self { clock, places: Arc::new(Semaphore::new(AT_ONCE_MAX)), failed: Arc::default() }
    }

    /// The first step of a proof for a service such as `HTTP@host`: with a ticket of the
    /// process's cache, or one that the process's keytab gets.
    pub async fn begin(&self, service: &str) -> Result<Proof, TicketError> {
        if let Some(known) = self.remembered(service) {
            return Err(known);
        }
        let (service, tickets) = (service.to_owned(), self.clone());
        let first = move || {
            let begin = tickets.clock.monotonic();
            let proof = first_step(service.clone());
            if let Err(error) = &proof {
                tickets.remember(service, begin, error);
            }
            proof
        };
        self.aside(first).await
    }

    /// The next step, after what the service said.
    pub async fn go_on(&self, proof: Proof, heard: Vec<u8>) -> Result<Proof, TicketError> {
        self.aside(move || next_step(proof, &heard)).await
    }

    /// Runs `work` on a thread of its own. Who asked may go: the work ends by itself.
    async fn aside(
        &self,
        work: impl FnOnce() -> Result<Proof, TicketError> + Send + 'static,
    ) -> Result<Proof, TicketError> {
        let no_thread = |why: &dyn std::fmt::Display| TicketError::NoThread(why.to_string());
        let place = Arc::clone(&self.places).acquire_owned().await;
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

    fn remembered(&self, service: &str) -> Option<TicketError> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, error) = failed.get(service)?;
        let fresh = self.clock.monotonic().saturating_sub(*at) < REMEMBERED;
        fresh.then(|| error.clone())
    }

    fn remember(&self, service: String, begin: Duration, error: &TicketError) {
        let now = self.clock.monotonic();
        if now.saturating_sub(begin) < LONG {
            return;
        }
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.retain(|_, (at, _)| now.saturating_sub(*at) < REMEMBERED);
        if failed.len() < REMEMBERED_MAX {
            failed.insert(service, (now, error.clone()));
        }
    }
}

fn first_step(service: String) -> Result<Proof, TicketError> {
    let library = library().map_err(TicketError::NoLibrary)?;
    let made = Context::new(library, &service).and_then(|mut context| {
        let step = context.step(None)?;
        Ok((context, step))
    });
    match made {
        Ok((context, Step { token, more })) => Ok(Proof { service, context, token, more }),
        Err(why) => Err(TicketError::NoTicket { service, why }),
    }
}

fn next_step(mut proof: Proof, heard: &[u8]) -> Result<Proof, TicketError> {
    match proof.context.step(Some(heard)) {
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
                ["HTTP@web does not take the Kerberos ticket", "its keytab"],
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
        tickets.remember(String::from("HTTP@quick"), begin, &error);
        clock.advance(LONG);
        tickets.remember(String::from("HTTP@slow"), begin, &error);
        assert_eq!(tickets.remembered("HTTP@quick"), None);
        assert_eq!(tickets.remembered("HTTP@slow"), Some(error.clone()));
        for number in 0..REMEMBERED_MAX {
            tickets.remember(number.to_string(), begin, &error);
        }
        assert_eq!(tickets.failed.lock().unwrap().len(), REMEMBERED_MAX);
        clock.advance(REMEMBERED);
        assert_eq!(tickets.remembered("HTTP@slow"), None);
        tickets.remember(String::from("HTTP@later"), begin, &error);
        assert_eq!(tickets.failed.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn what_is_remembered_is_not_tried_again() {
        let clock = SimClock::at(Duration::from_secs(1_000));
        let tickets = Tickets::new(clock.clone());
        let error = no_ticket("Cannot contact any KDC for realm 'A'");
        clock.advance(LONG);
        tickets.remember(String::from("HTTP@web"), Duration::ZERO, &error);
        assert_eq!(tickets.begin("HTTP@web").await.unwrap_err(), error);
    }

    #[tokio::test]
    async fn who_goes_leaves_the_place_when_the_work_ends() {
        let tickets = Tickets::new(SimClock::at(Duration::ZERO));
        let (end, ended) = std::sync::mpsc::sync_channel::<()>(1);
        let work = move || {
            let _ = ended.recv();
            Err(no_ticket("late"))
        };
        let waited = tokio::time::timeout(Duration::from_millis(10), tickets.aside(work)).await;
        assert!(waited.is_err());
        assert_eq!(tickets.places.available_permits(), AT_ONCE_MAX - 1);
        end.send(()).unwrap();
        let all = u32::try_from(AT_ONCE_MAX).unwrap();
        let places = tickets.places.acquire_many(all).await.unwrap();
        assert_eq!(places.num_permits(), AT_ONCE_MAX);
    }
}
