//! Finished steps in a file, so that an interrupted search goes on where it was.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::step::Step;

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    /// Under what the steps were observed.
    conditions: Value,
    steps: Vec<Step>,
}

/// The finished steps of a search, and the file that has them.
#[derive(Debug)]
pub(super) struct Kept {
    path: Option<PathBuf>,
    content: Content,
}

impl Kept {
    /// The steps of the file; none without a file, or if it does not exist.
    ///
    /// # Errors
    /// If the file cannot be read, or has steps of other conditions.
    pub(super) fn open(path: Option<&Path>, conditions: &Value) -> anyhow::Result<Self> {
        // Numbers as the file has them.
        let conditions: Value = serde_json::from_str(&conditions.to_string())?;
        let empty = Content { conditions: conditions.clone(), steps: Vec::new() };
        let Some(path) = path else { return Ok(Self { path: None, content: empty }) };
        let content = match std::fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} has no steps of this command", path.display()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => empty,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        if content.conditions != conditions {
            bail!(
                "{} has steps with other options: {}, not {conditions}",
                path.display(),
                content.conditions
            );
        }
        Ok(Self { path: Some(path.to_owned()), content })
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.content.steps
    }

    /// Adds a step, and replaces the file as a whole.
    pub(super) fn push(&mut self, step: Step) -> anyhow::Result<()> {
        self.content.steps.push(step);
        let Some(path) = &self.path else { return Ok(()) };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let write = || -> anyhow::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(serde_json::to_string_pretty(&self.content)?.as_bytes())?;
            file.persist(path)?;
            Ok(())
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::readers::Reads;

    #[test]
    fn steps_are_those_of_the_same_conditions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("steps.json");
        let conditions = json!({ "interval_s": 50, "delay_s": 0.1 });
        let mut kept = Kept::open(Some(&path), &conditions).unwrap();
        let step = Step {
            hosts: 7,
            busy: Some(0.25),
            queue: vec![1.0, 2.0],
            reads: Some(Reads::default()),
            ..Step::default()
        };
        kept.push(step.clone()).unwrap();
        kept.push(Step::default()).unwrap();
        let again = Kept::open(Some(&path), &conditions).unwrap();
        assert_eq!(again.steps(), [step, Step::default()]);
        let other = Kept::open(Some(&path), &json!({ "interval_s": 60, "delay_s": 0.1 }));
        assert!(other.unwrap_err().to_string().contains("other options"));
        std::fs::write(&path, r#"{"bench":"limit"}"#).unwrap();
        assert!(Kept::open(Some(&path), &conditions).is_err());
        assert!(Kept::open(Some(dir.path()), &conditions).is_err());
        std::fs::remove_file(&path).unwrap();
        assert!(Kept::open(Some(&path), &conditions).unwrap().steps().is_empty());
    }
}
