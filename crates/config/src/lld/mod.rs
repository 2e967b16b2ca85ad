//! Low-level discovery: rows of a rule become items, triggers and hosts.
//!
//! A rule's value is worked off in stages (items level by level, triggers, hosts, what is lost),
//! each a comparison of what should be with what is. The first pass only reads; at the first
//! difference it stops, and a second pass in one transaction makes the changes. Rules run every
//! minute and mostly find what they found before, so the usual case writes nothing, and while
//! neither the value nor any configuration changed it does not even read.

mod errors;
mod groups;
mod host_interfaces;
mod host_shape;
mod host_write;
mod hosts;
mod item_check;
mod items;
mod lost;
mod memory;
mod overrides;
mod places;
mod rule;
mod substitute;
#[cfg(test)]
mod tests;
mod triggers;
pub mod worker;

use model::{ItemId, LldValue};

use crate::db::{Connection, DbError, DbResult};
use crate::objects::Deleted;
use crate::{Config, Edit, Snapshot};

use errors::Errors;
pub(crate) use host_shape::prototypes as host_prototypes;
pub(crate) use memory::Memory;
use rule::Rule;
pub(crate) use rule::{TriggerPrototype, item_prototypes, trigger_prototypes};

/// Longest value of a discovery rule, bytes.
pub const VALUE_BYTES_MAX: usize = 64 << 20;

/// Objects (rows times prototypes) of one rule.
pub const OBJECTS_MAX: usize = 500_000;

/// How many objects of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Items.
    pub items: usize,
    /// Triggers.
    pub triggers: usize,
    /// Hosts.
    pub hosts: usize,
}

impl Counts {
    /// Of all kinds.
    pub const fn total(&self) -> usize {
        self.items + self.triggers + self.hosts
    }
}

/// What one value of a discovery rule led to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Made.
    pub created: Counts,
    /// Changed, found again ones included.
    pub updated: Counts,
    /// Not discovered any more since this value; kept for their lifetime.
    pub lost: Counts,
    /// Deleted, with what hung on them. Their history and problems are the caller's business.
    pub deleted: Deleted,
    /// Hosts among the deleted.
    pub deleted_hosts: Vec<u64>,
    /// `false`: the value could not be worked off at all, the rule is not supported.
    pub supported: bool,
    /// For the rule's error, one sentence a line; empty = all is well.
    pub error: String,
}

impl Summary {
    fn refused(error: impl ToString) -> Self {
        Self { error: error.to_string(), ..Self::default() }
    }

    /// Anything was written.
    pub fn changed(&self) -> bool {
        let gone = self.deleted.items.len() + self.deleted.triggers.len();
        self.created.total() + self.updated.total() + self.lost.total() + gone > 0
            || !self.deleted_hosts.is_empty()
    }
}

/// Applies one value of a discovery rule. `clock_s`: now, seconds since 1970. What cannot be
/// made is told in [`Summary::error`], everything else is made; `Err` is the database's failure
/// alone, then nothing was changed.
pub fn process(config: &Config, value: &LldValue, clock_s: u64) -> DbResult<Summary> {
    let text = match &value.rows {
        Ok(text) => text,
        Err(reason) => return Ok(Summary::refused(reason)),
    };
    if text.len() > VALUE_BYTES_MAX {
        return Ok(Summary::refused(format!(
            "The discovery value has {} bytes, at most {VALUE_BYTES_MAX} are worked off: let \
             preprocessing cut it down.",
            text.len()
        )));
    }
    let memory = config.lld();
    let generation = memory.generation();
    if let Some(known) = memory.known(value.rule, text, generation, clock_s) {
        return Ok(known);
    }
    let snapshot = config.snapshot();
    let turn = Turn { snapshot: &snapshot, rule: value.rule, text, clock_s };
    let mut pass = config.read(|connection| turn.pass(&mut Stage::Look(connection)))?;
    let mut written = 0;
    if pass.incomplete {
        pass = config.write(|edit| turn.pass(&mut Stage::Change(edit)))?;
        // A write of somebody else in between shows as another generation: looked at again then.
        written = u64::from(pass.summary.changed());
    }
    memory.keep(&snapshot, &turn, generation + written, &pass);
    Ok(pass.summary)
}

/// One value with all around it.
struct Turn<'a> {
    snapshot: &'a Snapshot,
    rule: ItemId,
    text: &'a str,
    clock_s: u64,
}

/// What a pass came to.
#[derive(Default)]
struct Pass {
    summary: Summary,
    /// Something is to be changed, and this pass could only look.
    incomplete: bool,
    /// When a lost object is to be disabled or deleted next.
    due_s: Option<u64>,
}

/// Looking, or changing in a transaction.
enum Stage<'a, 'e> {
    Look(&'a mut dyn Connection),
    Change(&'a mut Edit<'e>),
}

impl<'e> Stage<'_, 'e> {
    fn connection(&mut self) -> &mut dyn Connection {
        match self {
            Self::Look(connection) => &mut **connection,
            Self::Change(edit) => edit.connection(),
        }
    }

    fn edit(&mut self) -> Option<&mut Edit<'e>> {
        match self {
            Self::Look(_) => None,
            Self::Change(edit) => Some(edit),
        }
    }
}

/// Why a pass ended early.
enum Stop {
    /// There is something to change, but this pass only looks.
    Changes,
    /// The database's failure.
    Db(DbError),
}

impl From<DbError> for Stop {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}

impl Turn<'_> {
    fn pass(&self, stage: &mut Stage<'_, '_>) -> DbResult<Pass> {
        let rule = match rule::load(stage.connection(), self.snapshot, self.rule.0)? {
            Ok(Some(rule)) => rule,
            Ok(None) => return Ok(Pass::default()),
            Err(text) => return Ok(Pass { summary: Summary::refused(text), ..Pass::default() }),
        };
        match self.stages(stage, &rule) {
            Ok(pass) => Ok(pass),
            Err(Stop::Changes) => Ok(Pass { incomplete: true, ..Pass::default() }),
            Err(Stop::Db(error)) => Err(error),
        }
    }

    fn stages(&self, stage: &mut Stage<'_, '_>, rule: &Rule) -> Result<Pass, Stop> {
        let mut pass = Pass::default();
        let mut errors = Errors::default();
        let rows = match rule.rows(self.text, &mut errors) {
            Ok(rows) => rows,
            Err(text) => {
                pass.summary = Summary::refused(text);
                return Ok(pass);
            }
        };
        let mut work = Work {
            rule,
            rows: &rows,
            clock_s: self.clock_s,
            summary: Summary { supported: true, ..Summary::default() },
            errors,
            new_groups: groups::NewGroups::default(),
            due_s: None,
        };
        let found = items::discover(stage, &mut work)?;
        triggers::discover(stage, &mut work, &found)?;
        hosts::discover(stage, &mut work)?;
        pass.summary = work.summary;
        pass.summary.error = work.errors.into_text();
        pass.due_s = work.due_s;
        Ok(pass)
    }
}

/// State of a pass.
struct Work<'a> {
    rule: &'a Rule,
    rows: &'a [places::Place],
    clock_s: u64,
    summary: Summary,
    errors: Errors,
    new_groups: groups::NewGroups,
    due_s: Option<u64>,
}
