//! Requests over HTTP, and the meaning of responses for the caller.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use stdx::clock::SharedClock;
use ureq::http::Request;

use super::super::http::{Answer, Http};
use super::super::{TOO_LONG, as_name};
use super::address::Address;
use super::odd_answer;
use history::Error;

/// The first release all of whose builds can be told not to gather inserts in memory.
const GATHERS: u32 = 22;

/// Codes that blame the data that were sent: cannot parse (6, 26, 27, 33, 38, 41, 72), type
/// mismatch (53), too large a string (131), NULL (349), incorrect data (117), against a constraint
/// (469).
const ROW_CODES: [u32; 12] = [6, 26, 27, 33, 38, 41, 53, 72, 117, 131, 349, 469];
/// The server ends a question before we give it up, after so many seconds.
const SECONDS_MAX: u64 = 18;
/// Users who may not say so: they change nothing (164), or this is set for them (452).
const FIXED_CODES: [u32; 2] = [164, 452];
/// A question took longer than it may (159), or would have (160).
const TOO_LONG_CODES: [u32; 2] = [159, 160];
/// So long after the first server was asked the next is asked in its place: with all that it may take
/// then, readers of history get the error within half a minute.
const NEXT_WITHIN: Duration = Duration::from_secs(8);

/// A database, on one server or on all of a cluster.
pub(crate) struct Client {
    http: Http,
    pub(crate) address: Address,
    clock: SharedClock,
    /// The server that is asked first: it answered last, or others did not.
    server: AtomicUsize,
    /// Of each server, once it is known.
    releases: Vec<OnceLock<u32>>,
    /// May we say how long a question takes?
    limits: AtomicBool,
}

impl Client {
    pub(crate) fn new(address: Address, clock: SharedClock) -> Self {
        let releases = address.servers.iter().map(|_| OnceLock::new()).collect();
        let (http, server) = (Http::new("ClickHouse"), AtomicUsize::new(0));
        let limits = AtomicBool::new(true);
        Self { http, address, clock, server, releases, limits }
    }

    /// Address and database, without secrets.
    pub(crate) fn location(&self) -> &str {
        &self.address.location
    }

    /// The same for names of files.
    pub(crate) fn place(&self) -> String {
        as_name(self.location().split_once("://").map_or("", |(_, place)| place))
    }

    /// The numbers of all servers.
    pub(crate) fn servers(&self) -> std::ops::Range<usize> {
        0..self.address.servers.len()
    }

    /// Asks any server a question; gives its answer.
    pub(crate) fn ask(&self, sql: &str) -> Result<Vec<u8>, Error> {
        self.ask_within(SECONDS_MAX, sql)
    }

    /// When a search with several questions has to end.
    pub(crate) fn deadline(&self) -> Duration {
        self.clock.monotonic() + Duration::from_secs(SECONDS_MAX)
    }

    /// Asks any server one of the questions of a search.
    pub(crate) fn ask_until(&self, deadline: Duration, sql: &str) -> Result<Vec<u8>, Error> {
        let left = deadline.saturating_sub(self.clock.monotonic());
        match left.as_secs() + u64::from(left.subsec_nanos() > 0) {
            0 => {
                let place = self.location();
                Err(Error::storage_away(format!("ClickHouse at {place} is slow{TOO_LONG}")))
            }
            seconds => self.ask_within(seconds, sql),
        }
    }

    fn ask_within(&self, seconds: u64, sql: &str) -> Result<Vec<u8>, Error> {
        self.any(|server| {
            if self.limits.load(Ordering::Relaxed) {
                let limited = format!("{}&max_execution_time={seconds}", self.in_database());
                let answer = self.send(server, &limited, sql.as_bytes())?;
                if answer.status == 200 || !says(&answer.body, &FIXED_CODES) {
                    return self.answered(answer);
                }
                self.limits.store(false, Ordering::Relaxed);
            }
            self.ask_at(server, sql)
        })
    }

    /// Runs a statement on one server; gives what it answers.
    pub(crate) fn ask_at(&self, server: usize, sql: &str) -> Result<Vec<u8>, Error> {
        self.ask_in(server, &self.in_database(), sql)
    }

    fn ask_in(&self, server: usize, parameters: &str, sql: &str) -> Result<Vec<u8>, Error> {
        self.answered(self.send(server, parameters, sql.as_bytes())?)
    }

    fn answered(&self, answer: Answer) -> Result<Vec<u8>, Error> {
        let Answer { status, body, .. } = answer;
        if status == 200 { Ok(body) } else { Err(self.refused(status, &body, false)) }
    }

    /// Runs an insert with its rows. It has ended when they are on all servers that they belong to.
    pub(crate) fn insert(&self, sql: &str, rows: &[u8]) -> Result<(), Error> {
        let parameters = format!("{}&query={}", self.in_database(), encoded(sql));
        self.any(|server| {
            // Confirmed when they are in the table, each batch by itself. Older releases refuse a
            // setting that they do not know.
            let alone = if self.release(server)? < GATHERS { "" } else { "&async_insert=0" };
            let answer = self.send(server, &format!("{parameters}{alone}"), rows)?;
            let Answer { status, body, .. } = answer;
            if status == 200 { Ok(()) } else { Err(self.refused(status, &body, true)) }
        })
    }

    /// Creates the database if it is missing. An existing one needs no permission to create it.
    pub(crate) fn make_database(&self, server: usize) -> Result<(), Error> {
        let name = &self.address.database;
        let sql = format!("SELECT count() FROM system.databases WHERE name = '{name}'");
        if self.ask_in(server, "", &sql)?.trim_ascii() != b"0" {
            return Ok(());
        }
        self.ask_in(server, "", &format!("CREATE DATABASE IF NOT EXISTS `{name}`")).map(drop)
    }

    /// The first number of a server's version.
    pub(crate) fn release(&self, server: usize) -> Result<u32, Error> {
        if let Some(known) = self.releases[server].get() {
            return Ok(*known);
        }
        let version = self.ask_at(server, "SELECT version()")?;
        let version = String::from_utf8_lossy(&version);
        let release = version.trim().split('.').next().and_then(|number| number.parse().ok());
        let release = release.ok_or_else(|| odd_answer("its version"))?;
        Ok(*self.releases[server].get_or_init(|| release))
    }

    fn in_database(&self) -> String {
        format!("&database={}", self.address.database)
    }

    /// Asks the server that answered last, then the others. Who was waited for long leaves no time
    /// for these: the next call begins with another.
    fn any<T>(&self, ask: impl Fn(usize) -> Result<T, Error>) -> Result<T, Error> {
        let servers = self.address.servers.len();
        let first = self.server.load(Ordering::Relaxed);
        let begin = self.clock.monotonic();
        let mut answer = ask(first);
        for next in 1..servers {
            if !answer.as_ref().is_err_and(|error| error.retry) {
                break;
            }
            let server = (first + next) % servers;
            self.server.store(server, Ordering::Relaxed);
            if self.clock.monotonic() - begin > NEXT_WITHIN {
                break;
            }
            answer = ask(server);
        }
        answer
    }

    fn send(&self, server: usize, parameters: &str, body: &[u8]) -> Result<Answer, Error> {
        // Without waiting, an error in the middle of the answer looks like data.
        let mut url = format!("{}?wait_end_of_query=1{parameters}", self.address.servers[server]);
        if self.address.cluster.is_some() {
            // Not confirmed before the servers that it belongs to have it.
            url += "&insert_distributed_sync=1";
        }
        let request = Request::post(&url)
            .header("X-ClickHouse-User", &self.address.user)
            .header("X-ClickHouse-Key", &self.address.password)
            .body(body)
            .map_err(|_| Error::config("user or password of ClickHouse are odd"))?;
        self.http.send(request, self.location())
    }

    /// What an answer that is no success means. Only rows that were sent may be to blame.
    fn refused(&self, status: u16, body: &[u8], of_rows: bool) -> Error {
        let text = String::from_utf8_lossy(body);
        let is_row = of_rows && says(body, &ROW_CODES);
        let mut error = self.http.refused(status, &text, self.location(), is_row);
        if !of_rows && says(body, &TOO_LONG_CODES) {
            error.message += TOO_LONG;
        }
        error
    }
}

/// Has the server one of these numbers for what went wrong?
fn says(body: &[u8], codes: &[u32]) -> bool {
    let text = String::from_utf8_lossy(body);
    let code = text
        .split_once("Code: ")
        .and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    code.is_some_and(|code| codes.contains(&code))
}

/// Everything but letters and digits as `%xx`.
fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Arc;

    use stdx::clock::SimClock;

    use super::*;
    use crate::script::Script;
    use history::Fault;

    fn client(url: &str, clock: &Arc<SimClock>) -> Client {
        Client::new(Address::parse(url).unwrap(), Arc::<SimClock>::clone(clock))
    }

    #[test]
    fn a_long_wait_is_not_followed_by_another() {
        let clock = SimClock::at(Duration::ZERO);
        let client = client("http://a,b,c/x?cluster=y", &clock);
        let asked = |each_takes: u64| {
            let asked = RefCell::new(Vec::new());
            let answer = client.any(|server| {
                asked.borrow_mut().push(server);
                clock.advance(Duration::from_secs(each_takes));
                Err::<(), _>(Error::storage_away("gone"))
            });
            assert!(answer.is_err());
            asked.into_inner()
        };
        assert_eq!(asked(3), [0, 1, 2]);
        assert_eq!([asked(20), asked(20), asked(20)], [[2], [0], [1]]);
        assert_eq!(client.any(Ok::<_, Error>).unwrap(), 2);
    }

    #[test]
    fn a_search_has_one_deadline_for_all_its_questions() {
        let clock = SimClock::at(Duration::ZERO);
        let client = Script::bodies(&["a", "b"], || client("http://h/x", &clock));
        let deadline = client.deadline();
        assert_eq!(client.ask_until(deadline, "SELECT 1").unwrap(), b"a");
        clock.advance(Duration::from_millis(17_500));
        assert_eq!(client.ask_until(deadline, "SELECT 2").unwrap(), b"b");
        clock.advance(Duration::from_millis(500));
        let error = client.ask_until(deadline, "SELECT 3").unwrap_err();
        assert!(error.retry && error.message.contains("is slow; Vedette lets"), "{error}");
    }

    #[test]
    fn errors_say_whose_fault_they_are() {
        let client = client("http://h/x", &SimClock::at(Duration::ZERO));
        for (body, retry) in [
            ("Code: 27, e.displayText() = DB::Exception: Cannot parse", false),
            ("Code: 33. DB::Exception: Cannot read all data", false),
            ("Code: 469. DB::Exception: Constraint `c` is violated at row 1", false),
            ("Code: 252. DB::Exception: Too many parts", true),
            ("Code: 516. DB::Exception: Authentication failed", true),
            ("<html>Bad gateway", true),
        ] {
            let error = client.refused(500, body.as_bytes(), true);
            assert_eq!((error.retry, error.fault == Fault::Us), (retry, !retry), "{body}");
            assert!(client.refused(500, body.as_bytes(), false).retry, "{body}");
        }
        let slow = client.refused(500, b"Code: 159. DB::Exception: Timeout exceeded", false);
        assert!(slow.retry && slow.fault == Fault::Storage, "{slow}");
        assert!(slow.message.ends_with("what keeps the server busy"), "{slow}");
        assert_eq!(encoded("a b=1(2)"), "a%20b%3D1%282%29");
    }
}
