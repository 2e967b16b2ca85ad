//! PostgreSQL. A lost connection is replaced: outside a transaction the statement is repeated once on
//! a new connection, inside one the transaction fails and the next one gets a new connection.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use postgres::types::{ToSql, Type};
use postgres::{Client, Config, NoTls, SimpleQueryMessage, Statement};

use super::{Connection, DbError, DbResult, Row, Value};

/// Statements kept prepared per connection; beyond, all are forgotten at once.
const STATEMENTS_MAX: usize = 256;

/// Time for one address to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Time after which a server that acknowledges no packet counts as gone.
const SILENT_MAX: Duration = Duration::from_secs(15);

/// How often, and with which pause, the outcome of an interrupted COMMIT is asked for.
const OUTCOME_TRIES: u32 = 25;
const OUTCOME_PAUSE: Duration = Duration::from_millis(200);

/// A connection and what was prepared on it.
struct Link {
    client: Client,
    prepared: HashMap<String, Statement>,
}

/// What the connection's thread owns.
struct Session {
    config: Config,
    /// Address without the password, for errors.
    url: String,
    /// `None` after the connection was lost.
    link: Option<Link>,
    transaction: Option<Transaction>,
}

/// A transaction between BEGIN and its end.
struct Transaction {
    /// PostgreSQL's id of it, which tells after a lost COMMIT whether it was committed.
    id: String,
    /// The first statement that failed. PostgreSQL answers COMMIT with success then, and rolls back.
    failed: Option<String>,
}

type Job = Box<dyn FnOnce(&mut Session) + Send>;

/// The client brings an asynchronous runtime of its own, which must not be entered from within
/// another one: so each connection has a thread that does its work.
struct Postgres {
    jobs: SyncSender<Job>,
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
    let mut session = Session { config, url: url.clone(), link: None, transaction: None };
    let work = move || {
        let connected = open(&session.config, &session.url).map(|link| session.link = Some(link));
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
    Ok(Box::new(Postgres { jobs }))
}

impl Postgres {
    fn ask<T: Send + 'static>(
        &self,
        sql: &str,
        work: impl FnOnce(&mut Session) -> DbResult<T> + Send + 'static,
    ) -> DbResult<T> {
        let (reply, result) = sync_channel(1);
        let gone = |_| DbError::unavailable(sql, "the connection's thread ended");
        let job: Job = Box::new(move |session| drop(reply.send(work(session))));
        self.jobs
            .send(job)
            .map_err(|_| DbError::unavailable(sql, "the connection's thread ended"))?;
        result.recv().map_err(gone)?
    }
}

impl Connection for Postgres {
    fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>> {
        let (text, params) = (sql.to_owned(), params.to_vec());
        self.ask(sql, move |session| session.run(&text, true, |link| link.query(&text, &params)))
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

fn open(config: &Config, url: &str) -> DbResult<Link> {
    match config.connect(NoTls) {
        Ok(client) => Ok(Link { client, prepared: HashMap::new() }),
        Err(error) => Err(DbError::Connect { url: url.to_owned(), reason: with_source(&error) }),
    }
}

impl Session {
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
            let link = match &mut self.link {
                Some(link) => link,
                None if self.transaction.is_some() => {
                    return Err(DbError::unavailable(sql, "the connection was lost"));
                }
                none => {
                    tracing::info!("connecting to the configuration database {}", self.url);
                    none.insert(open(&self.config, &self.url)?)
                }
            };
            let error = match work(link) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let closed = link.client.is_closed();
            let failed = fail(sql, &error, closed);
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
        let began = self.run("BEGIN", true, |link| {
            let begin = link.client.simple_query("BEGIN; SELECT txid_current()");
            if begin.is_err() {
                drop(link.client.batch_execute("ROLLBACK"));
            }
            begin
        })?;
        let id = began.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        self.transaction = Some(Transaction { id: id.unwrap_or_default(), failed: None });
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
            (Err(_), Some(transaction)) if self.link.is_none() => self.outcome(&transaction.id),
            (result, _) => result,
        }
    }

    /// Whether a transaction was committed whose connection was lost at its COMMIT.
    fn outcome(&mut self, id: &str) -> DbResult<()> {
        let sql = "SELECT txid_status(CAST(CAST(? AS TEXT) AS BIGINT)) AS status";
        let unknown = "the connection was lost at the commit, and it is not known whether the change was kept";
        for _ in 0..OUTCOME_TRIES {
            let asked = self.run(sql, true, |link| link.query(sql, &[Value::from(id)]));
            match asked.as_ref().map(|rows| rows.first().map_or("", |row| row.text("status"))) {
                Ok("committed") => return Ok(()),
                Ok("in progress") | Err(DbError::Connect { .. } | DbError::Unavailable { .. }) => {
                    std::thread::sleep(OUTCOME_PAUSE);
                }
                // Aborted, or unknown to the server that has taken over.
                _ => return Err(DbError::unavailable("COMMIT", "the connection was lost")),
            }
        }
        Err(DbError::unavailable("COMMIT", unknown))
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

/// `postgresql://user:password@host/db` without the password.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or("");
            format!("{scheme}://{user}@{host}")
        }
        None => url.to_owned(),
    }
}

fn with_source(error: &postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Whether the server ended the connection, or cannot be written to: after a failover the address
/// may lead to another server.
fn is_lost(error: &postgres::Error) -> bool {
    let Some(code) = error.code() else { return false };
    let code = code.code();
    code.starts_with("08") || code.starts_with("57P") || code == "25006"
}

fn fail(sql: &str, error: &postgres::Error, closed: bool) -> DbError {
    let reason = with_source(error);
    match error.code().map(postgres::error::SqlState::code) {
        // Integrity constraint violation.
        Some(code) if code.starts_with("23") => DbError::Constraint(reason),
        // Cardinality, data exception, program limit exceeded: the values are at fault.
        Some(code) if ["21", "22", "54"].iter().any(|class| code.starts_with(class)) => {
            DbError::statement(sql, reason)
        }
        None if !closed => DbError::statement(sql, reason),
        _ => DbError::unavailable(sql, reason),
    }
}

/// `?` becomes `$1`, `$2` … outside of quoted texts.
fn numbered(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 16);
    let (mut n, mut quoted) = (0, false);
    for c in sql.chars() {
        match c {
            '\'' => quoted = !quoted,
            '?' if !quoted => {
                n += 1;
                out.push('$');
                out.push_str(&n.to_string());
                continue;
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

impl Link {
    fn prepare(&mut self, sql: &str) -> Result<Statement, postgres::Error> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&numbered(sql))?;
        if self.prepared.len() >= STATEMENTS_MAX {
            self.prepared.clear();
        }
        self.prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// PostgreSQL's texts cannot hold U+0000; the sign for it takes its place, as in history.
fn storable(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{2400}") } else { text }
}

/// Parameters in the type that the statement expects.
fn bound(statement: &Statement, params: &[Value]) -> Vec<Box<dyn ToSql + Sync>> {
    let types = statement.params().iter().chain(std::iter::repeat(&Type::TEXT));
    params
        .iter()
        .zip(types)
        .map(|(value, kind)| -> Box<dyn ToSql + Sync> {
            match *kind {
                Type::INT8 => Box::new(value.as_int()),
                Type::INT4 => Box::new(i32::try_from(value.as_int()).unwrap_or(i32::MAX)),
                _ => Box::new(storable(value.to_string())),
            }
        })
        .collect()
}

impl Link {
    fn query(&mut self, sql: &str, params: &[Value]) -> Result<Vec<Row>, postgres::Error> {
        let statement = self.prepare(sql)?;
        let columns: Arc<[Box<str>]> =
            statement.columns().iter().map(|c| Box::from(c.name())).collect();
        let params = bound(&statement, params);
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| &**p).collect();
        let rows = self.client.query(&statement, &params)?;
        rows.iter()
            .map(|row| {
                let values = (0..columns.len())
                    .map(|at| from_postgres(row, at))
                    .collect::<Result<_, _>>()?;
                Ok(Row { columns: Arc::clone(&columns), values })
            })
            .collect()
    }

    fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64, postgres::Error> {
        let statement = self.prepare(sql)?;
        let params = bound(&statement, params);
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| &**p).collect();
        self.client.execute(&statement, &params)
    }
}

fn from_postgres(row: &postgres::Row, at: usize) -> Result<Value, postgres::Error> {
    Ok(match *row.columns()[at].type_() {
        Type::INT8 => Value::Int(row.try_get::<_, Option<i64>>(at)?.unwrap_or(0)),
        Type::INT4 => Value::Int(row.try_get::<_, Option<i32>>(at)?.map_or(0, i64::from)),
        Type::BOOL => Value::Int(row.try_get::<_, Option<bool>>(at)?.map_or(0, i64::from)),
        _ => Value::Text(row.try_get::<_, Option<String>>(at)?.unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_numbered_outside_of_texts() {
        assert_eq!(
            numbered("SELECT a FROM t WHERE a = ? AND b LIKE '%?%' AND c IN (?, ?)"),
            "SELECT a FROM t WHERE a = $1 AND b LIKE '%?%' AND c IN ($2, $3)"
        );
    }

    #[test]
    fn errors_do_not_show_the_password() {
        assert_eq!(
            without_password("postgresql://u:secret@127.0.0.1:5432/v"),
            "postgresql://u@127.0.0.1:5432/v"
        );
    }
}
