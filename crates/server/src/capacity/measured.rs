//! Limits that `vedette bench capacity` found on this machine, kept beside the data.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// What was found. Generator and server shared the machine, so that a server that has it for
/// itself does better.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// Unix time.
    pub(crate) at: u64,
    /// Version of the program.
    pub(crate) version: String,
    /// Cores of the machine.
    pub(crate) cores: usize,
    /// Values/s from the trapper to durable history.
    pub(crate) values_per_s: f64,
    /// CPU seconds of the server per million of them.
    pub(crate) values_cpu_s: f64,
    /// Passive checks/s of agents that answer at once.
    pub(crate) checks_per_s: f64,
    /// CPU seconds of the server per million of them.
    pub(crate) checks_cpu_s: f64,
}

fn file(data: &Path) -> PathBuf {
    data.join("capacity.json")
}

impl Measured {
    /// What was saved; `None` = nothing yet.
    pub(crate) fn load(data: &Path) -> anyhow::Result<Option<Self>> {
        let path = file(data);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {path:?}")),
        };
        let damaged = || format!("{path:?} is damaged: run vedette bench capacity again");
        serde_json::from_str(&text).with_context(damaged).map(Some)
    }

    /// Keeps it for the server that runs on `data`, which reads it when it is next asked.
    pub(crate) fn save(&self, data: &Path) -> anyhow::Result<()> {
        let path = file(data);
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(&path, text).with_context(|| format!("cannot write {path:?}"))
    }

    /// For the API.
    pub(crate) fn json(&self) -> api::Json {
        serde_json::json!(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Measured::load(dir.path()).unwrap(), None);
        let found = Measured { at: 5, cores: 2, values_per_s: 1.5e6, ..Measured::default() };
        found.save(dir.path()).unwrap();
        assert_eq!(Measured::load(dir.path()).unwrap(), Some(found));
        std::fs::write(file(dir.path()), "{}").unwrap();
        let error = format!("{:#}", Measured::load(dir.path()).unwrap_err());
        assert!(error.contains("bench capacity again"), "{error}");
    }
}
