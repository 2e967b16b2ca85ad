//! PostgreSQL, for those who run one anyway.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use postgres::types::{ToSql, Type};
use postgres::{Client, NoTls, Statement};

use super::{Connection, DbError, DbResult, Row, Value};

/// Statements kept prepared per connection; beyond, all are forgotten at once.
const STATEMENTS_MAX: usize = 256;

/// A connection and what was prepared on it.
struct Session {
    client: Client,
    prepared: HashMap<String, Statement>,
}

type Job = Box<dyn FnOnce(&mut Session) + Send>;

/// The client brings an asynchronous runtime of its own, which must not be entered from within
/// another one: so each connection has a thread that does its work.
struct Postgres {
    jobs: SyncSender<Job>,
}

pub(super) fn connect(url: &str) -> DbResult<Box<dyn Connection>> {
    let (jobs, todo) = sync_channel::<Job>(1);
    let (opened, result) = sync_channel(1);
    let address = url.to_owned();
    let work = move || {
        let client = match Client::connect(&address, NoTls) {
            Ok(client) => client,
            Err(error) => {
                drop(opened.send(Err(DbError::Connect {
                    url: without_password(&address),
                    reason: with_source(&error),
                })));
                return;
            }
        };
        drop(opened.send(Ok(())));
        let mut session = Session { client, prepared: HashMap::new() };
        while let Ok(job) = todo.recv() {
            job(&mut session);
        }
    };
    let connect = |reason: String| DbError::Connect { url: without_password(url), reason };
    let thread = std::thread::Builder::new().name("postgres".into());
    thread.spawn(work).map_err(|error| connect(error.to_string()))?;
    result.recv().map_err(|_| connect("the connection's thread ended".into()))??;
    Ok(Box::new(Postgres { jobs }))
}

impl Postgres {
    fn ask<T: Send + 'static>(
        &self,
        sql: &str,
        work: impl FnOnce(&mut Session) -> DbResult<T> + Send + 'static,
    ) -> DbResult<T> {
        let (reply, result) = sync_channel(1);
        let gone = |_| DbError::statement(sql, "the connection's thread ended");
        let job: Job = Box::new(move |session| drop(reply.send(work(session))));
        self.jobs.send(job).map_err(|_| DbError::statement(sql, "the connection is closed"))?;
        result.recv().map_err(gone)?
    }
}

impl Connection for Postgres {
    fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>> {
        let (text, params) = (sql.to_owned(), params.to_vec());
        self.ask(sql, move |session| session.query(&text, &params))
    }

    fn execute(&mut self, sql: &str, params: &[Value]) -> DbResult<u64> {
        let (text, params) = (sql.to_owned(), params.to_vec());
        self.ask(sql, move |session| session.execute(&text, &params))
    }

    fn batch(&mut self, sql: &str) -> DbResult<()> {
        let text = sql.to_owned();
        self.ask(sql, move |session| session.batch(&text))
    }

    fn dialect(&self, sql: &str) -> String {
        // Keys are INTEGER for SQLite's sake; here that would be 32 bits.
        sql.replace(" INTEGER NOT NULL", " BIGINT NOT NULL")
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

fn fail(sql: &str, error: &postgres::Error) -> DbError {
    // Class 23: integrity constraint violation.
    if error.code().is_some_and(|code| code.code().starts_with("23")) {
        return DbError::Constraint(with_source(error));
    }
    DbError::statement(sql, with_source(error))
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

impl Session {
    fn prepare(&mut self, sql: &str) -> DbResult<Statement> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&numbered(sql)).map_err(|e| fail(sql, &e))?;
        if self.prepared.len() >= STATEMENTS_MAX {
            self.prepared.clear();
        }
        self.prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
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
                _ => Box::new(value.to_string()),
            }
        })
        .collect()
}

impl Session {
    fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>> {
        let statement = self.prepare(sql)?;
        let columns: Arc<[Box<str>]> =
            statement.columns().iter().map(|c| Box::from(c.name())).collect();
        let params = bound(&statement, params);
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| &**p).collect();
        let rows = self.client.query(&statement, &params).map_err(|e| fail(sql, &e))?;
        rows.iter()
            .map(|row| {
                let values = (0..columns.len())
                    .map(|at| from_postgres(row, at))
                    .collect::<Result<_, _>>()
                    .map_err(|e| fail(sql, &e))?;
                Ok(Row { columns: Arc::clone(&columns), values })
            })
            .collect()
    }

    fn execute(&mut self, sql: &str, params: &[Value]) -> DbResult<u64> {
        let statement = self.prepare(sql)?;
        let params = bound(&statement, params);
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| &**p).collect();
        self.client.execute(&statement, &params).map_err(|e| fail(sql, &e))
    }

    fn batch(&mut self, sql: &str) -> DbResult<()> {
        self.client.batch_execute(sql).map_err(|e| fail(sql, &e))
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
