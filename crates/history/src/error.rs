//! What history can answer instead of data.

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The store or its disk: away, full, damaged.
    Storage,
    /// The configuration: wrong address, directory in use, no permission.
    Config,
    /// The server itself: a bug, or a call that makes no sense.
    Us,
}

/// Why history could not do what was asked. The message says what to do.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Whose fault it is.
    pub fault: Fault,
    /// Is it worth trying the same again later?
    pub retry: bool,
    /// What happened and what the operator can do.
    pub message: String,
}

impl Error {
    /// The store cannot do it now; trying later makes sense.
    pub fn storage_away(message: impl Into<String>) -> Self {
        Self { fault: Fault::Storage, retry: true, message: message.into() }
    }

    /// Nothing helps but other parameters, another release, or more rights.
    pub fn config(message: impl Into<String>) -> Self {
        Self { fault: Fault::Config, retry: false, message: message.into() }
    }

    /// A row that the store cannot hold; it does not block others.
    pub fn row(message: impl Into<String>) -> Self {
        Self { fault: Fault::Us, retry: false, message: message.into() }
    }

    /// The same of a call that brought no rows: none is to blame for it, and the store may be mended.
    pub fn of_no_row(self) -> Self {
        match self.fault {
            Fault::Us => Self { fault: Fault::Storage, retry: true, ..self },
            _ => self,
        }
    }

    /// The server is shutting down or a part of it is gone.
    pub fn closed() -> Self {
        Self { fault: Fault::Us, retry: false, message: "the server is shutting down".to_owned() }
    }
}

impl From<tsdb::Error> for Error {
    fn from(error: tsdb::Error) -> Self {
        use tsdb::Error as E;
        // What the disk refuses now it may take later, and the engine tries.
        let retry = matches!(error, E::Io { .. } | E::Refused { .. } | E::SpoolFull { .. });
        let fault = match &error {
            E::Io { .. }
            | E::Refused { .. }
            | E::SpoolFull { .. }
            | E::Poisoned { .. }
            | E::Damaged { .. }
            | E::Unreadable { .. } => Fault::Storage,
            E::Newer { .. } | E::Locked { .. } | E::Thread { .. } => Fault::Config,
            E::TooLarge { .. } => Fault::Us,
        };
        Self { fault, retry, message: error.to_string() }
    }
}
