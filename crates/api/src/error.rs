//! Errors as the API answers them: code, message, data. Clients compare the codes, and some texts.

use config::db::DbError;

/// "No permissions …" about an object named by id.
pub(crate) const NO_OBJECT: &str = "No permissions to referred object or it does not exist!";

/// An error answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{data}")]
pub struct ApiError {
    /// -32700, -32600 … as JSON-RPC and Zabbix number them.
    pub code: i32,
    /// What was wrong, where, and what to do.
    pub data: String,
}

/// Result of API methods.
pub(crate) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// The body is not JSON.
    pub(crate) fn parse() -> Self {
        Self::new(
            -32700,
            "Invalid JSON. An error occurred on the server while parsing the JSON text.",
        )
    }

    /// The envelope is wrong.
    pub(crate) fn request(data: impl Into<String>) -> Self {
        Self::new(-32600, data)
    }

    /// No such method.
    pub(crate) fn method(data: impl Into<String>) -> Self {
        Self::new(-32601, data)
    }

    /// A parameter is wrong.
    pub(crate) fn params(data: impl Into<String>) -> Self {
        Self::new(-32602, data)
    }

    /// A parameter at a path is wrong: `Invalid parameter "/1/name": cannot be empty.`
    pub(crate) fn at(path: &str, what: impl std::fmt::Display) -> Self {
        Self::params(format!(
            "Invalid parameter \"{}\": {what}.",
            if path.is_empty() { "/" } else { path }
        ))
    }

    /// Permissions, and what else is not the parameters' fault.
    pub(crate) fn application(data: impl Into<String>) -> Self {
        Self::new(-32500, data)
    }

    /// The object is not there, or not for this user.
    pub(crate) fn no_object() -> Self {
        Self::application(NO_OBJECT)
    }

    /// The error of an object that is not there, or not for this user.
    pub fn is_no_object(&self) -> bool {
        self.data == NO_OBJECT
    }

    /// The same, of a work in portions: `done` says what is kept.
    pub(crate) fn after(self, done: impl std::fmt::Display) -> Self {
        Self { data: format!("{} ({done}.)", self.data), ..self }
    }

    fn new(code: i32, data: impl Into<String>) -> Self {
        Self { code, data: data.into() }
    }

    /// The configuration database could not be asked: the same call may succeed later.
    pub(crate) fn is_of_database(&self) -> bool {
        self.code == -32603 || [DATABASE_LOCKED, DATABASE_READ_ONLY].contains(&self.data.as_str())
    }

    /// The fixed text that belongs to the code.
    pub fn message(&self) -> &'static str {
        match self.code {
            -32700 => "Parse error",
            -32600 => "Invalid request.",
            -32601 => "Method not found.",
            -32602 => "Invalid params.",
            -32603 => "Internal error.",
            _ => "Application error.",
        }
    }
}

impl From<DbError> for ApiError {
    fn from(error: DbError) -> Self {
        // The statement and the driver's words are for the log, not for strangers.
        tracing::error!(%error, "API call failed in the configuration database");
        match error {
            DbError::Constraint(_) => Self::application(
                "The change conflicts with another one. Read the object again and retry.",
            ),
            DbError::Statement { reason, .. } | DbError::Unavailable { reason, .. }
                if is_locked(&reason) =>
            {
                Self::application(DATABASE_LOCKED)
            }
            DbError::Statement { reason, .. } | DbError::Unavailable { reason, .. }
                if is_full(&reason) =>
            {
                Self::application(DATABASE_FULL)
            }
            DbError::ReadOnly { .. } => Self::application(DATABASE_READ_ONLY),
            DbError::Unsynced { .. } => Self::application(
                "The change was made, but the disk did not confirm it: it can be lost in a power cut. Do \
                 not repeat it. Check the server's disk and log.",
            ),
            DbError::OutcomeUnknown { .. } => Self::application(
                "The connection to the configuration database was lost at the commit: it is not known \
                 whether the change was made. Read the object before you repeat the change.",
            ),
            _ => Self::new(
                -32603,
                "Internal error: the configuration database refused. See the server's log.",
            ),
        }
    }
}

/// The statement waited for its whole timeout while another process held the database.
const DATABASE_LOCKED: &str = "The configuration database is locked by another process. Nothing was changed: try again. If the \
     error persists, end the other process, for example a backup or a database shell.";

/// The address leads to a standby, or to a server that was made read-only.
const DATABASE_READ_ONLY: &str = "The configuration database is read-only: it is a standby, or it was made read-only. Nothing was \
     changed. Connect Vedette to the primary, or promote the standby.";

/// A write found no space.
const DATABASE_FULL: &str = "The disk of the configuration database is full. Nothing was changed. Free space, then try again.";

/// Whether these are the words of SQLite (SQLITE_FULL) or PostgreSQL (53100, whose text names the system's
/// error) for a full disk.
fn is_full(reason: &str) -> bool {
    ["database or disk is full", "No space left on device"]
        .iter()
        .any(|words| reason.contains(words))
}

/// Whether these are the words of SQLite (SQLITE_BUSY, SQLITE_LOCKED) or PostgreSQL (55P03, 40P01) for
/// a lock that was not granted.
fn is_locked(reason: &str) -> bool {
    ["database is locked", "database table is locked", "lock timeout", "deadlock detected"]
        .iter()
        .any(|words| reason.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locked_database_is_named_and_can_be_retried() {
        let statement = |reason: &str| {
            let (sql, reason) = ("BEGIN IMMEDIATE".to_owned(), reason.to_owned());
            ApiError::from(DbError::Unavailable { sql, reason })
        };
        for reason in ["database is locked", "db error: canceling statement due to lock timeout"] {
            let error = statement(reason);
            assert_eq!(error.code, -32500, "{reason}");
            assert!(error.data.contains("locked by another process"), "{}", error.data);
        }
        assert_eq!(statement("disk I/O error").code, -32603);
    }

    #[test]
    fn a_full_disk_is_named() {
        for reason in [
            "database or disk is full",
            "db error: ERROR: could not extend file \"base/1/2\": No space left on device",
        ] {
            let (sql, reason) = ("INSERT".to_owned(), reason.to_owned());
            let error = ApiError::from(DbError::Unavailable { sql, reason });
            assert_eq!(error.code, -32500);
            assert!(error.data.contains("is full. Nothing was changed."), "{}", error.data);
        }
    }

    #[test]
    fn an_error_of_the_database_says_whether_the_change_was_made() {
        let reason = || "input/output error".to_owned();
        for (error, words) in [
            (DbError::ReadOnly { url: String::new() }, "Nothing was changed."),
            (DbError::Unsynced { reason: reason() }, "The change was made, but the disk"),
            (DbError::OutcomeUnknown { reason: reason() }, "not known whether the change was made"),
        ] {
            let error = ApiError::from(error);
            assert_eq!(error.code, -32500);
            assert!(error.data.contains(words), "{}", error.data);
        }
    }
}
