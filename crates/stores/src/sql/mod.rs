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
#[cfg(test)]
mod tests;

use history::Error;

/// The store sent what cannot be what was asked for.
pub(crate) fn odd_answer(location: &str, what: &str) -> Error {
    super::odd_answer(location, what, "are these our tables")
}
