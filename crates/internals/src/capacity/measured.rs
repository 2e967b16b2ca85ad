//! Limits that `vedette bench capacity` found on this machine, kept beside the data.

use std::path::Path;

use anyhow::Context as _;
use model::measured::{FILE, Measured};

/// What was saved; `None` = nothing yet.
pub(crate) fn load(data: &Path) -> anyhow::Result<Option<Measured>> {
    let path = data.join(FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {path:?}")),
    };
    let damaged = || format!("{path:?} is damaged: run vedette bench capacity again");
    serde_json::from_str(&text).with_context(damaged).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_figures_are_read_and_damaged_ones_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(load(dir.path()).unwrap(), None);
        let found = Measured { at: 5, cores: 2, values_per_s: 1.5e6, ..Measured::default() };
        let text = serde_json::to_string_pretty(&found).unwrap();
        std::fs::write(dir.path().join(FILE), text).unwrap();
        assert_eq!(load(dir.path()).unwrap(), Some(found));
        std::fs::write(dir.path().join(FILE), "{}").unwrap();
        let error = format!("{:#}", load(dir.path()).unwrap_err());
        assert!(error.contains("bench capacity again"), "{error}");
    }
}
