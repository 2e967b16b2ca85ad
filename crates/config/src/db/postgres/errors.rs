//! What PostgreSQL's errors mean.

use super::super::DbError;

/// The error of a statement that changes something on a standby, or in a read-only transaction.
const READ_ONLY: &str = "25006";

/// `postgresql://user:password@host/db` without the password.
pub(super) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or("");
            format!("{scheme}://{user}@{host}")
        }
        None => url.to_owned(),
    }
}

pub(super) fn with_source(error: &postgres::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Whether the server ended the connection, or cannot be written to: after a failover the address
/// may lead to another server.
pub(super) fn is_lost(error: &postgres::Error) -> bool {
    let Some(code) = error.code() else { return false };
    let code = code.code();
    code.starts_with("08") || code.starts_with("57P") || code == READ_ONLY
}

/// `url`: the database's address without the password. `closed`: the connection has ended.
pub(super) fn fail(url: &str, sql: &str, error: &postgres::Error, closed: bool) -> DbError {
    let reason = with_source(error);
    match error.code().map(postgres::error::SqlState::code) {
        Some(READ_ONLY) => DbError::ReadOnly { url: url.to_owned() },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_show_the_password() {
        assert_eq!(
            without_password("postgresql://u:secret@127.0.0.1:5432/v"),
            "postgresql://u@127.0.0.1:5432/v"
        );
    }
}
