//! What tells after a COMMIT whose response was lost whether the transaction was committed: each
//! transaction writes a random token into the row of its session. The row is part of the data, so
//! the result also holds on a server that has taken over.

use postgres::error::SqlState;
use postgres::{Client, SimpleQueryMessage};

const TABLE_EXISTS: &str = "SELECT to_regclass('write_tokens') IS NOT NULL";

const CREATE: &str = "\
    CREATE TABLE IF NOT EXISTS write_tokens (session TEXT NOT NULL PRIMARY KEY, \
    token TEXT NOT NULL, written TIMESTAMPTZ NOT NULL DEFAULT now())";

/// Time that one query waits for a transaction that the server has not ended, as PostgreSQL writes it.
const WAIT: &str = "2s";

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was committed.
    Kept,
    /// It was rolled back.
    Undone,
    /// The server has not ended it yet.
    Open,
}

/// Makes the row of a new session, and deletes those of sessions that have not written for days.
pub(super) fn make_row(client: &mut Client, session: &str) -> Result<(), postgres::Error> {
    if !client.query_one(TABLE_EXISTS, &[])?.try_get::<_, bool>(0)? {
        client.batch_execute(CREATE)?;
    }
    client.batch_execute(&format!(
        "DELETE FROM write_tokens WHERE written < now() - INTERVAL '7 days'; {}",
        insert(session, "", "NOTHING")
    ))
}

/// Begins a transaction that writes `token`. Both texts are hexadecimal digits.
pub(super) fn begin(session: &str, token: &str) -> String {
    let insert = insert(session, token, "UPDATE SET token = EXCLUDED.token, written = now()");
    format!("BEGIN; {insert}")
}

fn insert(session: &str, token: &str, conflict: &str) -> String {
    format!(
        "INSERT INTO write_tokens (session, token) VALUES ('{session}', '{token}') \
         ON CONFLICT (session) DO {conflict}"
    )
}

/// How the transaction ended that wrote `token`. A transaction in progress holds the row, so that
/// the query waits for its end.
pub(super) fn outcome(
    client: &mut Client,
    session: &str,
    token: &str,
) -> Result<Outcome, postgres::Error> {
    let sql = format!(
        "BEGIN; SET LOCAL lock_timeout = '{WAIT}'; {}; \
         SELECT token FROM write_tokens WHERE session = '{session}' FOR UPDATE; COMMIT",
        insert(session, "", "NOTHING")
    );
    let found = match client.simple_query(&sql) {
        Ok(found) => found,
        Err(error) => {
            drop(client.batch_execute("ROLLBACK"));
            let waits = error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE);
            return if waits { Ok(Outcome::Open) } else { Err(error) };
        }
    };
    let kept = found.iter().any(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0) == Some(token),
        _ => false,
    });
    Ok(if kept { Outcome::Kept } else { Outcome::Undone })
}
