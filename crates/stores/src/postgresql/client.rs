//! A connection, used from one thread at a time, each call with an end.

use std::future::Future;
use std::iter;
use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, TryStreamExt};
use openssl::ssl::{SslConnector, SslMethod, SslVerifyMode};
use postgres_openssl::MakeTlsConnector;
use tokio::runtime::Runtime;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Row};

use crate::sql::address::{Address, Tls};
use crate::sql::odd_answer;
use crate::sql::session::Health;
use history::{Error, Fault};

/// Timeout after which a server that accepts no connection is unavailable.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Longest that a question or a part of a batch takes: readers of history wait for it.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// Longest that deleting items takes.
const DELETE_WITHIN: Duration = Duration::from_secs(600);
/// What each session begins with. A session that lost us in the middle of a batch must not hold
/// its locks for long, and the server ends a statement before we give it up.
const FIRST: &str = "SET idle_in_transaction_session_timeout = '60s'; SET lock_timeout = '15s'; \
                     SET statement_timeout = '18s'; SET client_min_messages = warning";
/// The same for a deletion.
const DELETE_FIRST: &str = "SET LOCAL statement_timeout = '590s'";

/// What is told of a statement that the server ended.
const TOO_LONG: &str = "; Vedette lets a statement take 18 seconds and a deletion 590: ask for a \
                        shorter time, or see what keeps the server busy";

/// What we knew is gone.
const STALE_CODES: [SqlState; 3] =
    [SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_OBJECT, SqlState::CHECK_VIOLATION];

/// Why a statement failed.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// What the server says of the kind of failure; `None` = it said nothing.
    pub(crate) code: Option<SqlState>,
    pub(crate) error: Error,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        refusal.error
    }
}

/// A connection.
pub(crate) struct Client {
    client: tokio_postgres::Client,
    /// Only taken when dropped.
    runtime: Option<Runtime>,
    location: String,
    health: Health,
    /// Temporary tables that were made.
    pub(crate) stages: Vec<&'static str>,
}

impl Drop for Client {
    fn drop(&mut self) {
        // The dropping task may belong to another runtime, which must not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Client {
    /// Connects; makes the database if it is missing and we may.
    pub(crate) fn open(address: &Address) -> Result<Self, Error> {
        match Self::connect_to(address, &address.database) {
            Err(refusal) if refusal.code == Some(SqlState::UNDEFINED_DATABASE) => {
                let mut server = Self::connect_to(address, "postgres")?;
                // Another of our connections may be making it.
                let made = server.run(&format!("CREATE DATABASE \"{}\"", address.database));
                match Self::connect_to(address, &address.database) {
                    Ok(client) => Ok(client),
                    Err(refusal) => Err(made.err().unwrap_or(refusal).error),
                }
            }
            other => Ok(other?),
        }
    }

    fn connect_to(address: &Address, database: &str) -> Result<Self, Refusal> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|cause| refusal(Error::config(format!("cannot start a runtime: {cause}"))))?;
        let mut config = Config::new();
        config
            .host(&address.host)
            .port(address.port)
            .user(&address.user)
            .password(&address.password)
            .dbname(database)
            .application_name("vedette")
            .connect_timeout(CONNECT_WITHIN)
            .ssl_mode(if address.tls == Tls::Off { SslMode::Disable } else { SslMode::Require });
        let tls = connector(address.tls).map_err(refusal)?;
        let location = address.location();
        let opened = runtime.block_on(async {
            let (client, connection) = tokio::time::timeout(CONNECT_WITHIN, config.connect(tls))
                .await
                .map_err(|_| None::<tokio_postgres::Error>)??;
            // It ends with the client, or when the server goes away, which the client tells.
            tokio::spawn(async move { drop(connection.await) });
            Ok::<_, Option<tokio_postgres::Error>>(client)
        });
        let client = match opened {
            Ok(client) => client,
            Err(cause) => {
                runtime.shutdown_background();
                return Err(failed(&location, cause.as_ref()));
            }
        };
        let runtime = Some(runtime);
        let mut session =
            Self { client, runtime, location, health: Health::default(), stages: Vec::new() };
        session.run(FIRST)?;
        Ok(session)
    }

    /// What has become of it.
    pub(crate) fn health(&self) -> Health {
        Health { ended: self.client.is_closed(), ..self.health }
    }

    /// What was answered cannot be read.
    pub(crate) fn odd_answer(&self, what: &str) -> Error {
        odd_answer(&self.location, what)
    }

    /// Rows of a question.
    pub(crate) fn query(&mut self, sql: &str) -> Result<Vec<Row>, Refusal> {
        self.read(sql, |row| row)
    }

    /// What `read` makes of each row of a question.
    pub(crate) fn read<T>(
        &mut self,
        sql: &str,
        read: impl Fn(Row) -> T,
    ) -> Result<Vec<T>, Refusal> {
        let client = &self.client;
        let asking = async move {
            let rows = client.query_raw(sql, iter::empty::<&(dyn ToSql + Sync)>()).await?;
            rows.map_ok(read).try_collect().await
        };
        let ended = within(self.runtime.as_ref(), ANSWER_WITHIN, asking);
        self.checked(ended)
    }

    /// Runs statements that bring no rows.
    pub(crate) fn run(&mut self, sql: &str) -> Result<(), Refusal> {
        let ended = within(self.runtime.as_ref(), ANSWER_WITHIN, self.client.batch_execute(sql));
        self.checked(ended)
    }

    /// Runs statements that put rows into tables.
    pub(crate) fn put(&mut self, sql: &str) -> Result<(), Refusal> {
        let ended = within(self.runtime.as_ref(), ANSWER_WITHIN, self.client.batch_execute(sql));
        self.of_rows(ended)
    }

    /// Deletes rows.
    pub(crate) fn delete_rows(&mut self, sql: &str, items: &[i64]) -> Result<(), Refusal> {
        let params: &[&(dyn ToSql + Sync)] = &[&items];
        self.transaction(|session| {
            session.run(DELETE_FIRST)?;
            let deleting = session.client.execute(sql, params);
            let ended = within(session.runtime.as_ref(), DELETE_WITHIN, deleting);
            session.checked(ended).map(drop)
        })
    }

    /// Runs a `COPY … FROM STDIN` with its data.
    pub(crate) fn copy(&mut self, sql: &str, data: Bytes) -> Result<(), Refusal> {
        let client = &self.client;
        let copying = async move {
            let mut sink = pin!(client.copy_in::<str, Bytes>(sql).await?);
            // What was wrong is told at the end.
            drop(sink.send(data).await);
            sink.finish().await
        };
        let ended = within(self.runtime.as_ref(), ANSWER_WITHIN, copying);
        self.of_rows(ended).map(drop)
    }

    /// Everything that `work` does, or nothing.
    pub(crate) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.run("BEGIN")?;
        match work(self).and_then(|done| self.run("COMMIT").map(|()| done)) {
            Ok(done) => Ok(done),
            Err(refusal) => {
                // A temporary table made in this transaction goes with it.
                self.stages.clear();
                self.health.broken |= self.health().is_good() && self.run("ROLLBACK").is_err();
                Err(refusal)
            }
        }
    }

    fn checked<T>(&mut self, ended: Ended<T>) -> Result<T, Refusal> {
        let no_row = |Refusal { code, error }| Refusal { code, error: error.of_no_row() };
        self.of_rows(ended).map_err(no_row)
    }

    /// Only what brought rows may blame them.
    fn of_rows<T>(&mut self, ended: Ended<T>) -> Result<T, Refusal> {
        ended.map_err(|cause| {
            let refusal = failed(&self.location, cause.as_ref());
            self.health.broken |= refusal.code.is_none();
            let is_stale = refusal.code.as_ref().is_some_and(|code| STALE_CODES.contains(code));
            self.health.stale |= refusal.error.retry && is_stale;
            refusal
        })
    }
}

/// `None` = nothing was heard in time.
type Ended<T> = Result<T, Option<tokio_postgres::Error>>;

fn within<T>(
    runtime: Option<&Runtime>,
    limit: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Ended<T> {
    let runtime = runtime.expect("BUG: a session that was dropped is used");
    match runtime.block_on(async { tokio::time::timeout(limit, work).await }) {
        Ok(ended) => ended.map_err(Some),
        Err(_) => Err(None),
    }
}

fn connector(tls: Tls) -> Result<MakeTlsConnector, Error> {
    let odd = |cause| Error::config(format!("TLS cannot be set up: {cause}"));
    let mut builder = SslConnector::builder(SslMethod::tls()).map_err(odd)?;
    if tls == Tls::Unchecked {
        builder.set_verify(SslVerifyMode::NONE);
    }
    let mut connector = MakeTlsConnector::new(builder.build());
    connector.set_callback(move |config, _| {
        config.set_verify_hostname(tls == Tls::Checked);
        Ok(())
    });
    Ok(connector)
}

fn refusal(error: Error) -> Refusal {
    Refusal { code: None, error }
}

fn failed(location: &str, cause: Option<&tokio_postgres::Error>) -> Refusal {
    let Some(cause) = cause else {
        return refusal(Error::storage_away(format!(
            "PostgreSQL at {location} does not answer in time; is it overloaded or stopped?"
        )));
    };
    let Some(said) = cause.as_db_error() else {
        let why = std::error::Error::source(cause).map(|why| format!(": {why}"));
        return refusal(Error::storage_away(format!(
            "PostgreSQL at {location} is not reached ({cause}{}); is it up?",
            why.unwrap_or_default()
        )));
    };
    refused(location, said.code(), said.message(), said.constraint())
}

/// What the server's words mean.
fn refused(location: &str, code: &SqlState, said: &str, constraint: Option<&str>) -> Refusal {
    // A user's constraint has a name; a partition bound has none.
    let is_checked = *code == SqlState::CHECK_VIOLATION && constraint.is_some();
    // Data exceptions, and what is too large for it; not its resources, rights or locks.
    let is_row = is_checked || code.code().starts_with("22") || code.code().starts_with("54");
    let advice = if *code == SqlState::QUERY_CANCELED { TOO_LONG } else { "" };
    let error = Error {
        fault: if is_row { Fault::Us } else { Fault::Storage },
        retry: !is_row,
        message: format!(
            "PostgreSQL at {location} refuses ({}): {}{advice}",
            code.code(),
            said.chars().take(300).collect::<String>()
        ),
    };
    Refusal { code: Some(code.clone()), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_whose_fault_they_are() {
        for (code, constraint, is_row, is_slow) in [
            (SqlState::NUMERIC_VALUE_OUT_OF_RANGE, None, true, false),
            (SqlState::PROGRAM_LIMIT_EXCEEDED, None, true, false),
            (SqlState::CHECK_VIOLATION, Some("no_items"), true, false),
            (SqlState::CHECK_VIOLATION, None, false, false),
            (SqlState::DISK_FULL, None, false, false),
            (SqlState::LOCK_NOT_AVAILABLE, None, false, false),
            (SqlState::QUERY_CANCELED, None, false, true),
        ] {
            let said = "x".repeat(1000);
            let Refusal { code: told, error } = refused("h", &code, &said, constraint);
            assert_eq!((error.retry, error.fault == Fault::Us), (!is_row, is_row), "{error}");
            assert_eq!(error.message.contains("18 seconds"), is_slow, "{error}");
            assert!(told == Some(code) && error.message.len() < 600, "{error}");
        }
    }
}
