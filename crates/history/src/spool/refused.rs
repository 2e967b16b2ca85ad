//! Rows that a store refuses for themselves: kept in a file for people, a line each.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use stdx::sync::lock;

use super::file_error;
use super::row::Row;
use crate::Error;

/// Of a reason so many characters are kept: some stores repeat the row in it.
const WHY_MAX: usize = 1_000;

/// The file; lanes share it.
#[derive(Debug)]
pub(crate) struct Refused {
    path: PathBuf,
    bytes_max: u64,
    writing: Mutex<()>,
}

impl Refused {
    pub(crate) fn new(path: &Path, bytes_max: u64) -> Self {
        Self { path: path.to_owned(), bytes_max, writing: Mutex::new(()) }
    }

    /// Appends rows, each with why it was refused, and waits for the disk.
    pub(crate) fn keep<R: Row>(&self, rows: &[(R, String)]) -> Result<(), Error> {
        let mut text = String::new();
        for (row, why) in rows {
            text += &line(row, why);
        }
        let _writing = lock(&self.writing);
        let write = || {
            let mut file =
                std::fs::OpenOptions::new().create(true).append(true).open(&self.path)?;
            if file.metadata()?.len() + text.len() as u64 > self.bytes_max {
                return Err(std::io::Error::other(
                    "the file of rows that the history store refuses is full; look at it, and \
                     move it away",
                ));
            }
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|error| file_error("write", &self.path, &error))
    }
}

/// Item, moment, value and reason, with tabs between.
fn line(row: &impl Row, why: &str) -> String {
    let (item, (at, value)) = (row.item().0, row.to_text());
    let mut line = String::new();
    let why: String = why.chars().take(WHY_MAX).collect();
    // Writing to a String does not fail.
    let _ = writeln!(line, "{item}\t{}.{:09}\t{value}\t{why:?}", at.clock, at.ns);
    line
}
