//! What is known of rules and open problems from one transaction to the next.

use config::db::DbResult;
use config::{Snapshot, Statements};
use model::EventId;

use super::index::{ByTrigger, Index};
use super::rule::{self, Rule};

/// The enabled rules, and the open problems by their tags. Without rules there is no index.
#[derive(Debug, Default)]
pub(crate) struct Correlation {
    revision: Option<u64>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) index: Option<Index>,
}

impl Correlation {
    /// Reads what has changed, before the problems of a transaction are written.
    pub(crate) fn prepare(
        &mut self,
        edit: &mut Statements<'_>,
        snapshot: &Snapshot,
        open: &ByTrigger,
    ) -> DbResult<()> {
        if self.revision != Some(snapshot.revision) {
            self.rules = rule::read(edit)?;
            self.revision = Some(snapshot.revision);
        }
        if self.rules.is_empty() {
            self.index = None;
            return Ok(());
        }
        match &mut self.index {
            Some(index) => index.follow(edit),
            None => {
                self.index = Some(Index::read(edit, open)?);
                Ok(())
            }
        }
    }

    /// The problem has ended.
    pub(crate) fn forget(&mut self, event: EventId) {
        if let Some(index) = &mut self.index {
            index.remove(event);
        }
    }

    /// How often an open problem was compared with a rule.
    #[cfg(test)]
    pub(crate) fn comparisons(&self) -> u64 {
        self.index.as_ref().map_or(0, |index| index.comparisons.get())
    }
}
