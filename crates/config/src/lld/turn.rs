//! One value of a rule, step by step.

use model::ItemId;

use super::errors::Errors;
use super::host_index::{FoundHosts, HostIndex};
use super::index::Index;
use super::items::Keys;
use super::places::Place;
use super::rule::{self, Rule};
use super::window::{self, Found, Window};
use super::{Stage, Stop, Summary, Work, groups, hosts, lost};
use crate::Config;
use crate::audit::Author;
use crate::db::DbResult;

/// How many times the work begins because others change the rule meanwhile.
const ROUNDS_MAX: u32 = 3;

/// One value with all around it.
pub(super) struct Turn<'a> {
    config: &'a Config,
    pub(super) rule: ItemId,
    pub(super) text: &'a str,
    clock_s: u64,
    /// Of all rounds.
    pub(super) summary: Summary,
    /// Transactions that have changed what discovery reads.
    pub(super) written: u64,
    /// When a lost object is to be disabled or deleted next.
    pub(super) due_s: Option<u64>,
    errors: Errors,
}

impl<'a> Turn<'a> {
    pub(super) fn new(config: &'a Config, rule: ItemId, text: &'a str, clock_s: u64) -> Self {
        let (summary, errors) = (Summary::default(), Errors::default());
        Self { config, rule, text, clock_s, summary, written: 0, due_s: None, errors }
    }

    /// Works the value off. `false`: the next value has to continue, also if it is the same.
    pub(super) fn run(&mut self) -> DbResult<bool> {
        let mut complete = false;
        for _ in 0..ROUNDS_MAX {
            match self.round() {
                Ok(all) => {
                    complete = all;
                    break;
                }
                Err(Stop::OtherRule | Stop::Changes) => {}
                Err(Stop::Db(error)) => return Err(error),
            }
        }
        if self.summary.error.is_empty() {
            self.summary.error = std::mem::take(&mut self.errors).into_text();
        }
        Ok(complete)
    }

    fn round(&mut self) -> Result<bool, Stop> {
        (self.errors, self.due_s) = (Errors::default(), None);
        let snapshot = self.config.snapshot();
        self.summary.supported = false;
        let rule = match self.config.read(|c| rule::load(c, &snapshot, self.rule.0))? {
            Ok(Some(rule)) => rule,
            Ok(None) => return Ok(true),
            Err(text) => return Ok(self.refuse(text)),
        };
        let rows = match rule.rows(self.text, &mut self.errors) {
            Ok(rows) => rows,
            Err(text) => return Ok(self.refuse(text)),
        };
        self.summary.supported = true;
        let index = self.config.read(|connection| Index::load(connection, &rule, &rows))?;
        let (mut found, mut keys) = (Found::default(), Keys::default());
        for window in window::split(&rule, rows.len(), self.config.portion()) {
            let window = Window { index: &index, rows: window, found: &found };
            let mut work = self.step(&rule, &rows, |stage, work| window.discover(stage, work))?;
            found.extend(std::mem::take(&mut work.found));
            keys.extend(std::mem::take(&mut work.keys));
            self.take(work);
        }
        self.give_up(&rule, &index, &found)?;
        self.hosts(&rule, &rows)?;
        Ok(!keys.are_free_now())
    }

    fn refuse(&mut self, text: String) -> bool {
        self.summary.error = text;
        true
    }

    /// What no row gives, after everything that rows give was found.
    fn give_up(&mut self, rule: &Rule, index: &Index, found: &Found) -> Result<(), Stop> {
        let portion = self.config.portion();
        let items = (&lost::ITEMS, index.lost_items(found, portion));
        let triggers = (&lost::TRIGGERS, index.lost_triggers(found, portion));
        let graphs = (&lost::GRAPHS, index.lost_graphs(found, portion));
        for (kind, portions) in [items, triggers, graphs] {
            for ids in portions {
                let work = self.step(rule, &[], |stage, work| kind.give_up(stage, work, &ids))?;
                self.take(work);
            }
        }
        Ok(())
    }

    /// Hosts, window by window; then those that are lost, and the groups that no host needs any more.
    fn hosts(&mut self, rule: &Rule, rows: &[Place]) -> Result<(), Stop> {
        if rule.hosts.is_empty() {
            return Ok(());
        }
        let mut renamed = self.step(rule, rows, groups::rename)?;
        let (split, given_up) = renamed.new_groups.take();
        self.take(renamed);
        let (portion, mut found) = (self.config.portion(), FoundHosts::default());
        let index = self.config.read(|connection| HostIndex::load(connection, rule, rows))?;
        for places in index.windows(rule, portion) {
            let window = index.window(places, &found);
            let mut work = self.step(rule, rows, |stage, work| {
                work.new_groups.split.clone_from(&split);
                hosts::discover(stage, work, &window)
            })?;
            found.extend(std::mem::take(&mut work.found_hosts));
            self.take(work);
        }
        let lost = self.config.read(|connection| index.lost(connection, &found, portion))?;
        for ids in lost {
            let work = self.step(rule, rows, |stage, work| hosts::give_up(stage, work, &ids))?;
            self.take(work);
        }
        let work = self.step(rule, rows, |stage, work| {
            groups::discover(stage, work, &found.groups, &given_up)
        })?;
        self.take(work);
        Ok(())
    }

    /// Does a step: looks first, and does it in a transaction if there is something to change.
    fn step<'r>(
        &mut self,
        rule: &'r Rule,
        rows: &'r [Place],
        step: impl Fn(&mut Stage<'_, '_>, &mut Work<'r>) -> Result<(), Stop>,
    ) -> Result<Work<'r>, Stop> {
        let mut work = Work::new(rule, rows, self.clock_s);
        match self.config.read(|connection| step(&mut Stage::Look(connection), &mut work)) {
            Ok(()) => return Ok(work),
            Err(Stop::Changes) => {}
            Err(stop) => return Err(stop),
        }
        let mut work = Work::new(rule, rows, self.clock_s);
        let author = Author::system(self.clock_s);
        let concerns_discovery = self.config.write_as(author, |edit| {
            let now = rule::load(edit, &self.config.snapshot(), rule.id)?;
            if !matches!(&now, Ok(Some(now)) if now == rule) {
                return Err(Stop::OtherRule);
            }
            step(&mut Stage::Change(&mut *edit), &mut work)?;
            let deleted = edit.changes.deleted();
            work.summary.deleted.items = deleted.items.len();
            work.summary.deleted.triggers = deleted.triggers.len();
            Ok(edit.changes.concern_discovery())
        })?;
        self.written += u64::from(concerns_discovery);
        Ok(work)
    }

    /// Adds what a step came to.
    fn take(&mut self, work: Work<'_>) {
        self.summary.add(&work.summary);
        self.errors.extend(work.errors);
        self.due_s = self.due_s.into_iter().chain(work.due_s).min();
    }
}
