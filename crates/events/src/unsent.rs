//! Findings that could not be written before the server stopped: kept in a file for the next start.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use model::{ItemId, Timestamp, TriggerFinding, TriggerId};
use serde_json::{Value as Json, json};

/// The file, one finding a line; absent while there is none.
#[derive(Debug)]
pub struct Unsent {
    path: PathBuf,
}

impl Unsent {
    /// The file may be absent.
    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Adds findings, synced, and returns whether they are kept. It logs what it cannot write: the
    /// server is stopping, so a retry is not possible.
    #[must_use]
    pub(crate) fn add(&self, findings: &[TriggerFinding]) -> bool {
        let path = self.path.display();
        let result = self.append(findings);
        match &result {
            Ok(()) => tracing::warn!(
                findings = findings.len(),
                "the configuration database is down: kept events in {path} for the next start"
            ),
            Err(error) => tracing::error!(
                %error,
                findings = findings.len(),
                "neither the configuration database nor {path} can be written: the next start \
                 evaluates the triggers of these events again"
            ),
        }
        result.is_ok()
    }

    fn append(&self, findings: &[TriggerFinding]) -> std::io::Result<()> {
        // Never joined to a line that a full disk cut short.
        let text = format!("\n{}", lines(findings));
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        match self.path.parent() {
            Some(folder) => File::open(folder)?.sync_all(),
            None => Ok(()),
        }
    }

    /// The findings of the file, in order. A line that was cut short is skipped.
    pub(crate) fn read(&self) -> std::io::Result<Vec<TriggerFinding>> {
        let text = match std::fs::read(&self.path) {
            // A line may be cut within a character.
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut findings = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            match serde_json::from_str(line).ok().as_ref().and_then(decode) {
                Some(finding) => findings.push(finding),
                None => tracing::error!(
                    "skipping a damaged line of {}: {}",
                    self.path.display(),
                    line.chars().take(200).collect::<String>()
                ),
            }
        }
        Ok(findings)
    }

    /// All findings but these are in the database.
    pub(crate) fn keep_only(&self, findings: &[TriggerFinding]) -> std::io::Result<()> {
        if findings.is_empty() {
            return self.remove();
        }
        stdx::file::replace(&self.path, lines(findings).as_bytes())
    }

    fn remove(&self) -> std::io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn lines(findings: &[TriggerFinding]) -> String {
    findings.iter().filter_map(encode).map(|line| format!("{line}\n")).collect()
}

/// A mark is worth nothing to the next start.
fn encode(finding: &TriggerFinding) -> Option<Json> {
    Some(match finding {
        TriggerFinding::Problem { trigger, at, name, opdata, tags } => json!({
            "problem": trigger.0, "clock": at.clock, "ns": at.ns, "name": name, "opdata": opdata,
            "tags": tags,
        }),
        TriggerFinding::Recovery { trigger, at, name, tags } => json!({
            "recovery": trigger.0, "clock": at.clock, "ns": at.ns, "name": name, "tags": tags,
        }),
        TriggerFinding::State { trigger, at, error, tags } => json!({
            "state": trigger.0, "clock": at.clock, "ns": at.ns, "error": error, "tags": tags,
        }),
        TriggerFinding::ItemState { item, is_rule, at, error } => json!({
            "item": item.0, "rule": is_rule, "clock": at.clock, "ns": at.ns, "error": error,
        }),
        TriggerFinding::Mark(_) => return None,
    })
}

fn decode(json: &Json) -> Option<TriggerFinding> {
    let id = |name: &str| json.get(name).and_then(Json::as_u64).map(TriggerId);
    let text = |name: &str| json.get(name).and_then(Json::as_str).map(str::to_owned);
    let small = |name: &str| json.get(name)?.as_u64().and_then(|n| u32::try_from(n).ok());
    let at = || Some(Timestamp { clock: small("clock")?, ns: small("ns")? });
    let tags = || serde_json::from_value(json.get("tags")?.clone()).ok();
    Some(if let Some(trigger) = id("problem") {
        let (name, opdata) = (text("name")?, text("opdata")?);
        TriggerFinding::Problem { trigger, at: at()?, name, opdata, tags: tags()? }
    } else if let Some(trigger) = id("recovery") {
        TriggerFinding::Recovery { trigger, at: at()?, name: text("name")?, tags: tags()? }
    } else if let Some(item) = json.get("item").and_then(Json::as_u64) {
        let is_rule = json.get("rule")?.as_bool()?;
        TriggerFinding::ItemState { item: ItemId(item), is_rule, at: at()?, error: text("error")? }
    } else {
        // Files of earlier versions have neither a time nor tags.
        let (at, tags) = (at().unwrap_or_default(), tags().unwrap_or_default());
        TriggerFinding::State { trigger: id("state")?, at, error: text("error")?, tags }
    })
}
