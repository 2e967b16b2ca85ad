//! Low-level discovery: rows of a rule become items, triggers, graphs and hosts.
//!
//! A rule's value is worked off in steps: windows of rows with all their items, triggers and graphs, then what
//! is lost, then windows of hosts, and those that are lost. Each compares what should be with what is, at first only reading. At the first
//! difference it stops, and the same comparison in a transaction makes the changes. Rules run every
//! minute and mostly find what they found before, so the usual case writes nothing, and while
//! neither the value nor any configuration changed it does not even read.
//!
//! Windows and what is lost have as many objects as hosts inherit in one transaction, and other changes
//! of the configuration get in between two of them, whatever the size of the value. A transaction reads
//! again what it compares, so it is right on its own: objects by the ids of an [index](index) that was
//! read before, and the rule. If others have changed the rule meanwhile, the work begins again.

mod errors;
mod graphs;
mod groups;
mod host_index;
mod host_interfaces;
mod host_shape;
mod host_write;
mod hosts;
mod index;
mod item_check;
mod items;
mod lost;
mod memory;
mod overrides;
mod places;
mod rule;
mod slot;
mod substitute;
#[cfg(test)]
mod tests;
mod triggers;
mod turn;
mod window;
pub mod worker;

use model::LldValue;

use crate::db::{DbError, DbResult, Reader};
use crate::{Config, Edit};

use errors::Errors;
pub(crate) use host_shape::prototypes as host_prototypes;
pub(crate) use memory::Memory;
use rule::Rule;
pub(crate) use rule::{TriggerPrototype, graph_prototypes, item_prototypes, trigger_prototypes};
use turn::Turn;

/// Longest value of a discovery rule, bytes.
pub const VALUE_BYTES_MAX: usize = 64 << 20;

/// Objects (rows times prototypes) of one rule.
pub const OBJECTS_MAX: usize = 500_000;

/// How many objects of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of items.
    pub items: usize,
    /// Number of triggers.
    pub triggers: usize,
    /// Number of graphs.
    pub graphs: usize,
    /// Number of hosts.
    pub hosts: usize,
}

impl Counts {
    /// Of all kinds.
    pub const fn total(&self) -> usize {
        self.items + self.triggers + self.graphs + self.hosts
    }

    fn add(&mut self, more: Self) {
        self.items += more.items;
        self.triggers += more.triggers;
        self.graphs += more.graphs;
        self.hosts += more.hosts;
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
    /// Deleted, with what hung on them.
    pub deleted: Counts,
    /// `false`: the value could not be worked off at all, the rule is not supported.
    pub supported: bool,
    /// For the rule's error, one sentence a line; empty = all is well.
    pub error: String,
}

impl Summary {
    fn refused(error: impl ToString) -> Self {
        Self { error: error.to_string(), ..Self::default() }
    }

    /// Adds the counts of a step.
    fn add(&mut self, more: &Self) {
        self.created.add(more.created);
        self.updated.add(more.updated);
        self.lost.add(more.lost);
        self.deleted.add(more.deleted);
    }

    /// Anything was written.
    pub fn changed(&self) -> bool {
        [self.created, self.updated, self.lost, self.deleted].iter().any(|n| n.total() > 0)
    }
}

/// Applies one value of a discovery rule. `clock_s`: now, seconds since 1970. What cannot be
/// made is listed in [`Summary::error`], everything else is made; `Err` is the database's failure
/// alone. What was made before it stays, and the rule's next value continues.
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
    let mut turn = Turn::new(config, value.rule, text, clock_s);
    if turn.run()? {
        // A write of somebody else in between shows as another generation: looked at again then.
        memory.keep(&config.snapshot(), &turn, generation + turn.written);
    }
    Ok(turn.summary)
}

/// Looking, or changing in a transaction.
enum Stage<'a, 'e> {
    Look(&'a mut dyn Reader),
    Change(&'a mut Edit<'e>),
}

impl<'e> Stage<'_, 'e> {
    fn connection(&mut self) -> &mut dyn Reader {
        match self {
            Self::Look(connection) => &mut **connection,
            Self::Change(edit) => &mut **edit,
        }
    }

    fn edit(&mut self) -> Option<&mut Edit<'e>> {
        match self {
            Self::Look(_) => None,
            Self::Change(edit) => Some(edit),
        }
    }
}

/// Why a step ended early.
#[derive(Debug)]
enum Stop {
    /// There is something to change, but this step only looks.
    Changes,
    /// The rule or its prototypes are not what they were when the work began.
    OtherRule,
    /// The database's failure.
    Db(DbError),
}

impl From<DbError> for Stop {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}

/// A step, and what it came to.
struct Work<'a> {
    rule: &'a Rule,
    rows: &'a [places::Place],
    clock_s: u64,
    summary: Summary,
    errors: Errors,
    new_groups: groups::NewGroups,
    /// When a lost object is to be disabled or deleted next.
    due_s: Option<u64>,
    found: window::Found,
    found_hosts: host_index::FoundHosts,
    keys: items::Keys,
}

impl<'a> Work<'a> {
    fn new(rule: &'a Rule, rows: &'a [places::Place], clock_s: u64) -> Self {
        Self {
            rule,
            rows,
            clock_s,
            summary: Summary::default(),
            errors: Errors::default(),
            new_groups: groups::NewGroups::default(),
            due_s: None,
            found: window::Found::default(),
            found_hosts: host_index::FoundHosts::default(),
            keys: items::Keys::default(),
        }
    }
}
