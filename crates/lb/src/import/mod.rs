//! Configurations of other load balancers, converted into ours.
//!
//! What has no equal here is not guessed: it is left out and named in the report with its line, so
//! that the administrator decides.

mod haproxy;
mod names;
mod nginx;
mod report;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use report::{Effect, Finding, Place, Report};

use crate::config::Config;

/// A load balancer whose configuration can be imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// `haproxy.cfg`, up to version 3.
    Haproxy,
    /// `nginx.conf` with the files that it includes: `upstream`, `server` and `location`.
    Nginx,
}

/// A converted configuration.
#[derive(Debug)]
pub struct Imported {
    /// What could be converted.
    pub config: Config,
    /// What could not be, or acts differently.
    pub report: Report,
}

/// One directive of a foreign configuration.
#[derive(Debug, Clone, Default)]
struct Directive {
    place: Place,
    /// Its name and parameters, without quotes.
    words: Vec<String>,
}

impl Directive {
    fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Parameters after the name.
    fn parameters(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The parameter at a position, from 0; empty if there is none.
    fn parameter(&self, at: usize) -> &str {
        self.parameters().get(at).map_or("", String::as_str)
    }
}

/// Reads a file, and those that it includes.
///
/// # Errors
/// The file cannot be read, its syntax is damaged, or it has nothing that listens.
pub fn import(origin: Origin, file: &Path) -> anyhow::Result<Imported> {
    let imported = match origin {
        Origin::Haproxy => haproxy::import(file)?,
        Origin::Nginx => nginx::import(file)?,
    };
    if imported.config.virtual_services.is_empty() {
        let kind = match origin {
            Origin::Haproxy => "no 'frontend' or 'listen' with a 'bind' that could be converted",
            Origin::Nginx => "no 'server' with a 'listen' that could be converted",
        };
        anyhow::bail!("{}: {kind}\n{}", file.display(), imported.report);
    }
    Ok(imported)
}
