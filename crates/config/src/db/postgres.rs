//! PostgreSQL. A lost connection is replaced: outside a transaction the statement is repeated once on
//! a new connection, inside one the transaction fails and the next one gets a new connection.

mod errors;
mod link;
mod token;

use std::cell::Cell;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use postgres::{CancelToken, Config, NoTls};
use stdx::clock::{RealClock, SharedClock};
use stdx::sync::lock;

use super::{Cells, Connection, DbError, DbResult, Reader, Row, Value};
use errors::{fail, is_lost, with_source, without_password};
use link::Link;
use token::Outcome;

/// Time for one address to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time after which a server that acknowledges no packet counts as gone.
const SILENT_MAX: Duration = Duration::from_secs(15);

/// How long, and with which pause, the outcome of an interrupted COMMIT is asked for. Nothing else can
/// be written meanwhile.
const OUTCOME_MAX: Duration = Duration::from_secs(30);
const OUTCOME_PAUSE: Duration = Duration::from_millis(200);

/// Pause between two looks at the flag of [`Connection::stop_when`].
const LOOK_PAUSE: Duration = Duration::from_millis(200);

/// Blocks of rows that wait for the caller of [`Connection::each_until`].
const BLOCKS_AHEAD: usize = 2;

/// What cancels the statements of the connection at hand.
type Cancel = Arc<Mutex<Option<CancelToken>>>;

/// What the connection's thread owns.
struct Session {
    config: Config,
    /// Address without the password, for errors.
    url: String,
    /// `None` after the connection was lost.
    link: Option<Link>,
    transaction: Option<Transaction>,
    /// Names the row of tokens; `None` = it was not made yet.
    row: Option<String>,
    clock: SharedClock,
    cancel: Cancel,
}

/// A transaction between BEGIN and its end.
struct Transaction {
    /// The random text that it writes, which tells after a lost COMMIT whether it was committed.
    token: String,
    /// The first statement that failed. PostgreSQL answers COMMIT with success then, and rolls back.
    failed: Option<String>,
}

type Job = Box<dyn FnOnce(&mut Session) + Send>;

/// The client brings an asynchronous runtime of its own, which must not be entered from within
/// another one: so each connection has a thread that does its work.
struct Postgres {
    jobs: SyncSender<Job>,
    cancel: Cancel,
    stop: Option<Arc<AtomicBool>>,
}

pub(super) fn connect(url: &str) -> DbResult<Box<dyn Connection>> {
    let failed = |reason: String| DbError::Connect { url: without_password(url), reason };
    let mut config = Config::from_str(url).map_err(|error| failed(with_source(&error)))?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(SILENT_MAX).keepalives_idle(SILENT_MAX);
    }
    let (jobs, todo) = sync_channel::<Job>(1);
    let (opened, result) = sync_channel(1);
    let url = without_password(url);
    let mut session = Session {
        config,
        url: url.clone(),
        link: None,
        transaction: None,
        row: None,
        clock: RealClock::shared(),
        cancel: Cancel::default(),
    };
    let cancel = Arc::clone(&session.cancel);
    let work = move || {
        let connected = session.open();
        let works = connected.is_ok();
        drop(opened.send(connected));
        while works && let Ok(job) = todo.recv() {
            job(&mut session);
        }
    };
    let failed = |reason: String| DbError::Connect { url: url.clone(), reason };
    let thread = std::thread::Builder::new().name("postgres".into());
    thread.spawn(work).map_err(|error| failed(error.to_string()))?;
    result.recv().map_err(|_| failed("the connection's thread ended".into()))??;
    Ok(Box::new(Postgres { jobs, cancel, stop: None }))
}

impl Postgres {
    fn ask<T: Send + 'static>(
        &self,
        sql: &str,
        work: impl FnOnce(&mut Session) -> DbResult<T> + Send + 'static,
    ) -> DbResult<T> {
        let result = self.begin_work(sql, work)?;
        self.next(&result).unwrap_or_else(|| Err(ended(sql)))
    }

    /// Gives `work` to the connection's thread; its result comes later.
    fn begin_work<T: Send + 'static>(
        &self,
        sql: &str,
        work: impl FnOnce(&mut Session) -> T + Send + 'static,
    ) -> DbResult<Receiver<T>> {
        let (reply, result) = sync_channel(1);
        let job: Job = Box::new(move |session| drop(reply.send(work(session))));
        self.jobs.send(job).map_err(|_| ended(sql))?;
        Ok(result)
    }

    /// The next thing that the connection's thread sends; `None` = it sends nothing more. Cancels the
    /// statement at hand once the flag of [`Connection::stop_when`] is set.
    fn next<T>(&self, received: &Receiver<T>) -> Option<T> {
        let Some(stop) = &self.stop else { return received.recv().ok() };
        let mut canceled = false;
        let next = loop {
            match received.recv_timeout(LOOK_PAUSE) {
                Ok(next) => break Some(next),
                Err(RecvTimeoutError::Disconnected) => break None,
                // Again each time: the statement may not have begun.
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                    canceled = true;
                    self.cancel();
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        if canceled {
            // A request that arrives late would cancel another statement.
            drop(self.jobs.send(Box::new(Session::close)));
        }
        next
    }

    /// Asks the server to cancel the statement at hand.
    fn cancel(&self) {
        let Some(token) = lock(&self.cancel).clone() else { return };
        // The client's runtime must not be entered from within another one.
        let cancel = move || token.cancel_query(NoTls);
        let thread = std::thread::Builder::new().name("postgres-cancel".into()).spawn(cancel);
        match thread.map(std::thread::JoinHandle::join) {
            Ok(Ok(Ok(()))) => {}
            failed => tracing::debug!(?failed, "a statement was not canceled"),
        }
    }
}

fn ended(sql: &str) -> DbError {
    DbError::unavailable(sql, "the connection's thread ended")
}

impl Reader for Postgres {
    fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>> {
        let (text, params) = (sql.to_owned(), params.to_vec());
        self.ask(sql, move |session| session.run(&text, true, |link| link.query(&text, &params)))
    }

    fn each_until(
        &mut self,
        sql: &str,
        params: &[Value],
        row: &mut dyn FnMut(&dyn Cells) -> ControlFlow<()>,
    ) -> DbResult<()> {
        let (text, params) = (sql.to_owned(), params.to_vec());
        let (send, blocks) = sync_channel::<Vec<Row>>(BLOCKS_AHEAD);
        let result = self.begin_work(sql, move |session| session.each(&text, &params, &send))?;
        while let Some(block) = self.next(&blocks) {
            if block.iter().try_for_each(|found| row(found)).is_break() {
                break;
            }
        }
        drop(blocks);
        self.next(&result).unwrap_or_else(|| Err(ended(sql)))
    }
}

impl Connection for Postgres {
    fn stop_when(&mut self, flag: Option<Arc<AtomicBool>>) {
        self.stop = flag;
    }

    fn execute(&mut self, sql: &str, params: &[Value]) -> DbResult<u64> {
        let (text, params) = (sql.to_owned(), params.to_vec());
        self.ask(sql, move |session| {
            let changed = session.run(&text, false, |link| link.execute(&text, &params))?;
            if let Some(transaction) = &mut session.transaction
                && text.starts_with("ROLLBACK TO")
            {
                transaction.failed = None;
            }
            Ok(changed)
        })
    }

    fn batch(&mut self, sql: &str) -> DbResult<()> {
        let text = sql.to_owned();
        self.ask(sql, move |session| {
            session.run(&text, false, |link| link.client.batch_execute(&text))
        })
    }

    fn begin(&mut self) -> DbResult<()> {
        self.ask("BEGIN", Session::begin)
    }

    fn commit(&mut self) -> DbResult<()> {
        self.ask("COMMIT", Session::commit)
    }

    fn rollback(&mut self) {
        drop(self.ask("ROLLBACK", |session| {
            session.rollback();
            Ok(())
        }));
    }

    fn dialect(&self, sql: &str) -> String {
        // Keys are INTEGER for SQLite's sake; here that would be 32 bits.
        sql.replace(" INTEGER NOT NULL", " BIGINT NOT NULL")
    }
}

impl Session {
    fn open(&mut self) -> DbResult<()> {
        let link = link::open(&self.config, &self.url)?;
        *lock(&self.cancel) = Some(link.client.cancel_token());
        self.link = Some(link);
        Ok(())
    }

    /// Ends the connection; the next statement gets a new one. A transaction is lost with it.
    fn close(&mut self) {
        self.link = None;
    }

    /// Sends the rows of a SELECT in blocks, until nobody takes them.
    fn each(&mut self, sql: &str, params: &[Value], to: &SyncSender<Vec<Row>>) -> DbResult<()> {
        // Rows that were sent are not sent again on a new connection.
        let sent = Cell::new(false);
        let complete = self.run(sql, true, |link| {
            let again = sent.get();
            if !again {
                link.each(sql, params, |block| {
                    sent.set(true);
                    to.send(block).is_ok()
                })?;
            }
            Ok(!again)
        })?;
        if complete { Ok(()) } else { Err(DbError::unavailable(sql, "the connection was lost")) }
    }

    /// Runs `work` on the connection, on a new one if the last was lost. `repeatable`: what is lost
    /// with its connection outside a transaction is done once more.
    fn run<T>(
        &mut self,
        sql: &str,
        repeatable: bool,
        work: impl Fn(&mut Link) -> Result<T, postgres::Error>,
    ) -> DbResult<T> {
        let mut repeat = repeatable && self.transaction.is_none();
        loop {
            if self.link.is_none() {
                if self.transaction.is_some() {
                    return Err(DbError::unavailable(sql, "the connection was lost"));
                }
                tracing::info!("connecting to the configuration database {}", self.url);
                self.open()?;
            }
            let Some(link) = &mut self.link else { continue };
            let error = match work(link) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let closed = link.client.is_closed();
            let failed = fail(&self.url, sql, &error, closed);
            if closed || is_lost(&error) {
                tracing::warn!(error = %failed, "lost a connection to the configuration database");
                self.link = None;
                if std::mem::take(&mut repeat) {
                    continue;
                }
            }
            if let Some(transaction) = &mut self.transaction {
                transaction.failed.get_or_insert_with(|| failed.to_string());
            }
            return Err(failed);
        }
    }

    fn begin(&mut self) -> DbResult<()> {
        self.rollback();
        let session = match &self.row {
            Some(session) => session.clone(),
            None => {
                let session = crate::objects::new_uuid()?;
                self.run("(tokens)", true, |link| token::make_row(&mut link.client, &session))?;
                self.row.insert(session).clone()
            }
        };
        let token = crate::objects::new_uuid()?;
        let begin = token::begin(&session, &token);
        self.run(&begin, true, |link| {
            let begun = link.client.batch_execute(&begin);
            if begun.is_err() {
                drop(link.client.batch_execute("ROLLBACK"));
            }
            begun
        })?;
        self.transaction = Some(Transaction { token, failed: None });
        Ok(())
    }

    fn commit(&mut self) -> DbResult<()> {
        if let Some(failed) = self.transaction.as_ref().and_then(|t| t.failed.clone()) {
            self.rollback();
            return Err(DbError::statement(
                "COMMIT",
                format!("an earlier statement failed: {failed}"),
            ));
        }
        let result = self.run("COMMIT", false, |link| link.client.batch_execute("COMMIT"));
        let transaction = self.transaction.take();
        match (result, transaction) {
            (Err(_), Some(transaction)) if self.link.is_none() => self.outcome(&transaction.token),
            (result, _) => result,
        }
    }

    /// Whether a transaction was committed whose connection was lost at its COMMIT.
    fn outcome(&mut self, token: &str) -> DbResult<()> {
        let end = self.clock.monotonic() + OUTCOME_MAX;
        let session = self.row.clone().unwrap_or_default();
        loop {
            let asked = self.run("(outcome of a commit)", true, |link| {
                token::outcome(&mut link.client, &session, token)
            });
            let reason = match asked {
                Ok(Outcome::Kept) => return Ok(()),
                Ok(Outcome::Undone) => {
                    return Err(DbError::unavailable("COMMIT", "the connection was lost"));
                }
                Ok(Outcome::Open) => "the server has not ended the transaction".to_owned(),
                Err(error) => error.to_string(),
            };
            if self.clock.monotonic() >= end {
                return Err(DbError::OutcomeUnknown { reason });
            }
            std::thread::sleep(OUTCOME_PAUSE);
        }
    }

    fn rollback(&mut self) {
        if self.transaction.take().is_some()
            && let Some(link) = &mut self.link
            && link.client.batch_execute("ROLLBACK").is_err()
        {
            self.link = None;
        }
    }
}
