//! Scripts that users run: their texts, and who runs them.

use std::sync::Arc;

use actions::Texts;
use actions::commands::{self, Occasion, Stored, TOO_LONG};
use actions::text::{PARAMETER_BYTES_MAX, Quoting};
use api::{Execution, ScriptRun};
use config::db::{DbResult, Reader};
use config::{Config, Snapshot};
use model::EventId;
use poll::{Answer, Commander};

/// Runs the scripts of users.
#[derive(Clone)]
pub(crate) struct Scripts {
    pub(crate) config: Arc<Config>,
    pub(crate) texts: Arc<dyn Texts>,
    pub(crate) commander: Commander,
}

/// A script with its texts.
struct Prepared {
    script: Stored,
    texts: Vec<String>,
    /// The command without secrets.
    shown: String,
}

const GONE: &str = "No permissions to referred object or it does not exist!";

impl Scripts {
    pub(crate) fn run(&self, execution: &Execution) -> ScriptRun {
        let snapshot = self.config.snapshot();
        let prepared = self.config.read(|c| self.prepare(c, &snapshot, execution));
        let failed = |why: String, command: String| ScriptRun {
            result: Err(why),
            command,
            log: Vec::new(),
            took_ms: None,
        };
        let prepared = match prepared {
            Ok(Some(prepared)) => prepared,
            Ok(None) => return failed(GONE.to_owned(), String::new()),
            Err(error) => {
                tracing::warn!(%error, "cannot read a script");
                return failed(
                    "Cannot read the script. See the server's log.".to_owned(),
                    String::new(),
                );
            }
        };
        let Prepared { script, texts, shown } = prepared;
        if texts.iter().any(|text| text.len() >= PARAMETER_BYTES_MAX) {
            return failed(TOO_LONG.to_owned(), shown);
        }
        let names = script.templates().into_iter().map(|(name, _)| name.to_owned());
        let texts = names.zip(texts).collect();
        let task = script.task(&snapshot, execution.host, texts, true);
        match task.and_then(|task| self.commander.run(&task)) {
            Ok(Answer { value, log, took_ms }) => {
                ScriptRun { result: Ok(value), command: shown, log, took_ms }
            }
            Err(why) => failed(why, shown),
        }
    }

    /// `None` = the script, the event or the user was deleted.
    fn prepare(
        &self,
        connection: &mut dyn Reader,
        snapshot: &Snapshot,
        execution: &Execution,
    ) -> DbResult<Option<Prepared>> {
        let mut scripts = commands::read(connection, &[execution.script])?;
        let Some(script) = scripts.remove(&execution.script) else { return Ok(None) };
        let quoting = script.quoting();
        let of_script = script.templates();
        let templates: Vec<(&str, Quoting)> =
            of_script.iter().map(|(_, template)| (*template, quoting)).collect();
        let texts = self.expand(connection, snapshot, execution, &templates, false)?;
        let command = [(script.command.as_str(), quoting)];
        let shown = self.expand(connection, snapshot, execution, &command, true)?;
        let (Some(texts), Some(mut shown)) = (texts, shown) else { return Ok(None) };
        let shown = shown.pop().unwrap_or_default();
        drop(of_script);
        Ok(Some(Prepared { script, texts, shown }))
    }

    /// Texts as the user sees them.
    pub(crate) fn shown(
        &self,
        execution: &Execution,
        templates: &[String],
    ) -> Result<Vec<String>, String> {
        let snapshot = self.config.snapshot();
        let templates: Vec<(&str, Quoting)> =
            templates.iter().map(|text| (text.as_str(), Quoting::None)).collect();
        let texts = self.config.read(|c| self.expand(c, &snapshot, execution, &templates, true));
        texts.map_err(|error| error.to_string())?.ok_or_else(|| GONE.to_owned())
    }

    fn expand(
        &self,
        connection: &mut dyn Reader,
        snapshot: &Snapshot,
        execution: &Execution,
        templates: &[(&str, Quoting)],
        shown: bool,
    ) -> DbResult<Option<Vec<String>>> {
        let Some(user) = commands::person(connection, execution.user)? else { return Ok(None) };
        let event = match execution.event {
            None => None,
            Some(event) => {
                let sql = "SELECT r_eventid FROM events WHERE eventid = ?";
                let rows = connection.query(sql, &[event.0.into()])?;
                let Some(row) = rows.first() else { return Ok(None) };
                let recovery = Some(EventId(row.id("r_eventid"))).filter(|id| id.0 != 0);
                Some((event, recovery))
            }
        };
        let input = execution.input.as_deref();
        let occasion = Occasion { host: execution.host, event, user: &user, input };
        occasion.expand(connection, &*self.texts, snapshot, templates, shown)
    }
}
