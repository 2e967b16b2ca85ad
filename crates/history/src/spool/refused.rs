//! Rows that a store refuses for themselves: kept in a file for people, a line each.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use model::{Sample, SampleValue};
use stdx::sync::lock;

use super::file_error;
use crate::Error;

/// Of a text so many characters are told; the embedded store has all of it.
const TEXT_MAX: usize = 1_000;

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
    pub(crate) fn keep(&self, rows: &[(Sample, String)]) -> Result<(), Error> {
        let mut text = String::new();
        for (sample, why) in rows {
            text += &line(sample, why);
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
fn line(sample: &Sample, why: &str) -> String {
    let cut = |text: &str| text.chars().take(TEXT_MAX).collect::<String>();
    let value = match &sample.value {
        SampleValue::Float(value) => value.to_string(),
        SampleValue::Unsigned(value) => value.to_string(),
        SampleValue::Text(text) => format!("{:?}", cut(text)),
        SampleValue::Log(log) => format!("{:?}", cut(&log.0)),
    };
    let mut line = String::new();
    let (item, at) = (sample.item.0, sample.at);
    // Writing to a String does not fail.
    let _ = writeln!(line, "{item}\t{}.{:09}\t{value}\t{:?}", at.clock, at.ns, cut(why));
    line
}
