//! What the drivers over relational databases share: everything but the words of each database.
//!
//! [`driver`] is the driver, over a [`session::Session`] that a database implements.
//!
//! A table holds one kind of value of one retention class, in partitions of whole days, so that
//! dropping what is old is dropping partitions. A row's key is its item and its moment. The
//! moment is one number, nanoseconds since 1970: it takes the space of seconds and nanoseconds
//! apart, and an index compares one column less.

pub(crate) mod address;
pub(crate) mod driver;
pub(crate) mod rows;
pub(crate) mod session;
pub(crate) mod tables;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Error, Fault};

/// The parameters name something that cannot be.
pub(crate) fn config_error(message: impl Into<String>) -> Error {
    Error { fault: Fault::Config, retry: false, message: message.into() }
}

/// A row that the store cannot hold; it does not block others.
pub(crate) fn row_error(message: impl Into<String>) -> Error {
    Error { fault: Fault::Us, retry: false, message: message.into() }
}

/// The tables are those of a release that we do not know.
pub(crate) fn newer_error(location: &str, found: i64, known: i64) -> Error {
    config_error(format!(
        "the tables in {location} have version {found}, this release knows {known}: run the \
         newer release"
    ))
}

/// The store sent what cannot be what was asked for.
pub(crate) fn odd_answer(location: &str, what: &str) -> Error {
    let message =
        format!("{location} answered what cannot be read ({what}); are these our tables?");
    Error { fault: Fault::Storage, retry: true, message }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
