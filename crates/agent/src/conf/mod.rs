//! Configuration files in the form of `zabbix_agentd.conf`.
//!
//! `lines` reads files and what they include, `parameters` is the table of all parameters, `draft` what
//! they are collected in.

mod clusters;
mod draft;
mod lines;
mod parameters;

use std::path::{Path, PathBuf};

use crate::config::AgentConfig;
use draft::Draft;
pub use lines::Place;
pub use parameters::table;

/// What a configuration file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The agent. Without `Hostname`, it has no host name yet: the value of [`Settings::hostname_item`] is to be added.
    pub agent: AgentConfig,
    /// Key of an item whose value is the host name; `None` = the file has host names.
    pub hostname_item: Option<String>,
    /// Log level: error, info, debug or trace.
    pub log: &'static str,
    /// User to become if the agent is started by root; `None` = stay root.
    pub user: Option<String>,
    /// Parameters without effect, each with its place.
    pub warnings: Vec<String>,
}

/// A configuration file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// A line is wrong.
    #[error("{}, line {}: {what}", .place.file.display(), .place.number)]
    Line {
        /// The line.
        place: Place,
        /// What is wrong.
        what: String,
    },
    /// Parameters do not fit each other.
    #[error("{}: {what}", .path.display())]
    Whole {
        /// The main file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// Reads a configuration file.
///
/// # Errors
/// A file cannot be read, or has an unknown parameter, a wrong value, or a parameter that is not supported and
/// without which values would be missing.
pub fn load(path: &Path) -> Result<Settings, ConfError> {
    let mut draft = Draft::default();
    for line in lines::read(path)? {
        let wrong = |what: String| ConfError::Line { place: line.place.clone(), what };
        let parameter = parameters::find(&line.name)
            .ok_or_else(|| wrong(format!("unknown parameter \"{}\"", line.name)))?;
        parameter
            .apply(&mut draft, &line)
            .map_err(|what| wrong(format!("parameter {}: {what}", line.name)))?;
    }
    draft.finish().map_err(|what| ConfError::Whole { path: path.to_owned(), what })
}

#[cfg(test)]
mod tests;
