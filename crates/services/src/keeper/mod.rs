//! The thread that keeps the status of services up to date.
//!
//! It follows new events and updates of problems in the database, like the escalator. What it holds in memory are the tree
//! and the open problems of services; after a start, or when the database has failed, it reads both and compares the
//! result with the stored statuses, so that nothing is missed and nothing is told twice.

mod bell;
mod held;
mod load;
mod matching;
#[cfg(test)]
mod tests;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use config::db::{DbResult, Reader};
use config::retry::Stop;
use config::{Config, table};
use stdx::clock::SharedClock;
use stdx::inbox::Taken;

pub use bell::Bell;
use bell::Mail;
use held::{Held, Problem};
use load::{OpenProblem, Position};
use matching::Matching;
use write::Moment;

use crate::tree::{Change, Tree};

/// Longest wait without a note.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Wait after a failed transaction.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// Changes of status in one transaction.
const CHANGES_MAX: usize = 1_000;
/// A suppression that ends by itself is over this long after its end: an extension is written by then.
const GRACE_S: i64 = 2;

/// Finds which of these problems are suppressed at a moment, and until when; [`i64::MAX`] = until an event. Problems from
/// the third parameter on are new.
pub type Suppressions =
    Box<dyn Fn(&mut dyn Reader, &[u64], Option<u64>, i64) -> DbResult<BTreeMap<u64, i64>> + Send>;

/// Whom it tells, and whom it asks.
pub struct Hooks {
    pub suppressions: Suppressions,
    /// There are new events of services. Must not block.
    pub written: Box<dyn Fn() + Send>,
}

/// Keeps the status of services.
pub struct Keeper {
    config: Arc<Config>,
    clock: SharedClock,
    bell: Bell,
    hooks: Hooks,
    /// `None` = to be read from the database.
    known: Option<Known>,
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").finish_non_exhaustive()
    }
}

/// What is in memory.
#[derive(Debug)]
struct Known {
    tree: Tree,
    matching: Matching,
    held: Held,
    position: Position,
    /// The configuration that the tree is of.
    revision: u64,
    /// Services that no longer exist, and of which rows may be stored.
    gone: Vec<u64>,
}

impl Keeper {
    /// Continues with what is stored. `bell` is rung by others.
    pub fn new(config: Arc<Config>, clock: SharedClock, bell: Bell, hooks: Hooks) -> Self {
        Self { config, clock, bell, hooks, known: None }
    }

    /// Works until [`Bell::end`]. Blocks: give it a thread of its own. While the database is down it retries each second.
    pub fn run(mut self, stop: &Stop) {
        let mut is_down = false;
        let mut taken = Taken::<Mail>::default();
        loop {
            match self.work(&taken.mail) {
                Ok(_) if taken.ended => return,
                Ok(wait) => {
                    is_down = false;
                    taken = self.bell.take(wait);
                }
                Err(error) => {
                    if !std::mem::replace(&mut is_down, true) {
                        tracing::error!(%error, "cannot write the status of services; retrying");
                    }
                    self.known = None;
                    if taken.ended || stop.is_over() {
                        return;
                    }
                    std::thread::sleep(RETRY_AFTER);
                    taken = self.bell.take(Duration::ZERO);
                }
            }
        }
    }

    /// Does all that there is to do; returns how long there is nothing else.
    fn work(&mut self, mail: &Mail) -> DbResult<Duration> {
        if mail.problems.all || mail.tagged.all {
            self.known = None;
        }
        if mail.configured {
            self.configure()?;
        }
        let now = Moment::of(&self.clock).clock();
        let mut touched: BTreeSet<u64> = mail.problems.some.clone();
        let mut tagged = mail.tagged.some.clone();
        loop {
            let mut known = match self.known.take() {
                Some(known) => known,
                None => self.load(now)?,
            };
            touched.retain(|event| known.held.has(*event));
            touched.append(&mut tagged);
            touched.extend(known.held.ended(now));
            let mut is_full = false;
            // Without problem tags no problem belongs to a service.
            if !known.matching.is_empty() {
                let news = self.config.read(|connection| known.position.news(connection))?;
                is_full = news.is_full;
                let fresh = news.fresh.first().copied();
                touched.extend(news.touched.iter().filter(|event| known.held.has(**event)));
                let all: BTreeSet<u64> =
                    news.fresh.into_iter().chain(std::mem::take(&mut touched)).collect();
                self.look_at(&mut known, &Vec::from_iter(all), fresh, now)?;
            }
            self.store(&mut known)?;
            let next = known.held.next_end();
            self.known = Some(known);
            if !is_full {
                let left = next.map(|end| u64::try_from(end.saturating_sub(now)).unwrap_or(0));
                return Ok(left
                    .map_or(WAIT_MAX, |left| Duration::from_secs(left.max(1)))
                    .min(WAIT_MAX));
            }
        }
    }

    /// Reads everything.
    fn load(&self, now: i64) -> DbResult<Known> {
        let mut known = self.config.read(|connection| {
            // Before what they are about: what comes meanwhile is looked at again.
            let revision = load::revision(connection)?;
            let position = Position::newest(connection)?;
            let mut tree = Tree::default();
            for (id, service) in load::services(connection, None)? {
                tree.put(id, service);
            }
            for (id, parents) in load::parents(connection, None)? {
                tree.set_parents(id, &parents);
            }
            let mut matching = Matching::default();
            for (id, tags) in load::problem_tags(connection, None)? {
                matching.set(id, tags);
            }
            let mut gone = Vec::new();
            for (id, status) in load::statuses(connection)? {
                match tree.status(id) {
                    Some(_) => tree.remember(id, status),
                    None => gone.push(id),
                }
            }
            Ok::<_, config::db::DbError>(Known {
                tree,
                matching,
                held: Held::default(),
                position,
                revision,
                gone,
            })
        })?;
        let Known { matching, .. } = &known;
        let all: BTreeSet<u64> = matching.services_with_tags().collect();
        self.rescan(&mut known, &all, now)?;
        // What is stored and what is to be stored.
        let wanted = known.held.counted();
        let stored: BTreeSet<(u64, u64)> = self.config.read(load::links)?.into_iter().collect();
        let missing = wanted.difference(&stored).map(|pair| (*pair, true));
        let wrong = stored.difference(&wanted).map(|pair| (*pair, false));
        known.held.links = missing.chain(wrong).collect();
        tracing::debug!(services = known.tree.len(), "read the services");
        Ok(known)
    }

    /// Gives these services, which have no problems yet, all open problems that have their tags.
    fn rescan(&self, known: &mut Known, services: &BTreeSet<u64>, now: i64) -> DbResult<()> {
        if services.iter().all(|service| known.matching.of(*service).is_empty()) {
            return Ok(());
        }
        let mut last = 0;
        loop {
            let open = self.config.read(|connection| load::open_after(connection, last))?;
            let Some(newest) = open.last() else { return Ok(()) };
            last = newest.event;
            let found = open.iter().map(|problem| {
                let mut of = known.matching.services(&problem.tags);
                of.retain(|service| services.contains(service));
                (problem, of)
            });
            let found: Vec<_> = found.filter(|(_, of)| !of.is_empty()).collect();
            let ids: Vec<u64> = found.iter().map(|(problem, _)| problem.event).collect();
            let until = self.suppressed(&ids, None, now)?;
            for (problem, of) in found {
                let suppressed_until = until.get(&problem.event).copied();
                let more = Problem { severity: problem.severity, services: of, suppressed_until };
                known.held.add(&mut known.tree, problem.event, more);
            }
        }
    }

    fn suppressed(
        &self,
        events: &[u64],
        fresh: Option<u64>,
        now: i64,
    ) -> DbResult<BTreeMap<u64, i64>> {
        if events.is_empty() {
            return Ok(BTreeMap::new());
        }
        let found = self
            .config
            .read(|connection| (self.hooks.suppressions)(connection, events, fresh, now))?;
        Ok(found.into_iter().map(|(event, until)| (event, until.saturating_add(GRACE_S))).collect())
    }

    /// Brings services and problems up to date; those from `fresh` on are new.
    fn look_at(
        &self,
        known: &mut Known,
        events: &[u64],
        fresh: Option<u64>,
        now: i64,
    ) -> DbResult<()> {
        if events.is_empty() {
            return Ok(());
        }
        let open = self.config.read(|connection| load::open(connection, events))?;
        let of = |problem: OpenProblem| {
            let services = known.matching.services(&problem.tags);
            (problem.event, (problem.severity, services))
        };
        let mut open: BTreeMap<u64, _> = open.into_iter().map(of).collect();
        open.retain(|_, (_, services)| !services.is_empty());
        let ids: Vec<u64> = open.keys().copied().collect();
        let until = self.suppressed(&ids, fresh, now)?;
        for event in events {
            let problem = open.remove(event).map(|(severity, services)| Problem {
                severity,
                services,
                suppressed_until: until.get(event).copied(),
            });
            known.held.set(&mut known.tree, *event, problem);
        }
        Ok(())
    }

    /// Follows changes of the configuration.
    fn configure(&mut self) -> DbResult<()> {
        let Some(mut known) = self.known.take() else { return Ok(()) };
        let Some(changes) = self.config.changes_since(known.revision)? else { return Ok(()) };
        known.revision = changes.last().map_or(known.revision, |change| change.revision);
        let mut ids: BTreeSet<u64> = BTreeSet::new();
        let mut retagged: BTreeSet<u64> = BTreeSet::new();
        for change in &changes {
            let is = |table: &config::schema::Table| change.table == table.name;
            let of_tags = is(&table::SERVICE_PROBLEM_TAGS);
            if !(of_tags
                || is(&table::SERVICES)
                || is(&table::SERVICE_LINKS)
                || is(&table::SERVICE_STATUS_RULES))
            {
                continue;
            }
            // Too many to be listed: everything is read.
            let Some(subjects) = change.subjects.listed() else { return Ok(()) };
            let before = ids.len();
            ids.extend(subjects);
            if of_tags {
                let Some(subjects) = change.subjects.listed() else { return Ok(()) };
                retagged.extend(subjects);
            }
            tracing::debug!(
                table = change.table,
                services = ids.len() - before,
                "services were changed"
            );
        }
        if !ids.is_empty() {
            self.change(&mut known, &ids, &retagged)?;
        }
        self.known = Some(known);
        Ok(())
    }

    /// Reads these services again.
    fn change(
        &self,
        known: &mut Known,
        ids: &BTreeSet<u64>,
        retagged: &BTreeSet<u64>,
    ) -> DbResult<()> {
        let list = Vec::from_iter(ids.iter().copied());
        let (services, mut parents, mut tags) = self.config.read(|connection| {
            Ok::<_, config::db::DbError>((
                load::services(connection, Some(&list))?,
                load::parents(connection, Some(&list))?,
                load::problem_tags(connection, Some(&list))?,
            ))
        })?;
        for id in ids.iter().filter(|id| !services.contains_key(id)) {
            known.held.forget(&mut known.tree, *id);
            known.matching.set(*id, Vec::new());
            known.tree.remove(*id);
            known.gone.push(*id);
        }
        for (id, service) in &services {
            known.tree.put(*id, service.clone());
        }
        for id in services.keys() {
            known.tree.set_parents(*id, &parents.remove(id).unwrap_or_default());
        }
        let retagged: BTreeSet<u64> =
            retagged.iter().copied().filter(|id| services.contains_key(id)).collect();
        for id in &retagged {
            known.held.forget(&mut known.tree, *id);
            known.matching.set(*id, tags.remove(id).unwrap_or_default());
        }
        let now = Moment::of(&self.clock).clock();
        self.rescan(known, &retagged, now)
    }

    /// Writes what has changed.
    fn store(&self, known: &mut Known) -> DbResult<()> {
        let changes: Vec<Change> = known.tree.settle();
        let links = std::mem::take(&mut known.held.links);
        let gone = std::mem::take(&mut known.gone);
        if changes.is_empty() && links.is_empty() && gone.is_empty() {
            return Ok(());
        }
        let at = Moment::of(&self.clock);
        let (first, rest) = changes.split_at(changes.len().min(CHANGES_MAX));
        self.config.write_state(|state| {
            if !gone.is_empty() {
                write::forget(state, &gone)?;
            }
            write::links(state, &links)?;
            write::changes(state, first, at)
        })?;
        for some in rest.chunks(CHANGES_MAX) {
            self.config.write_state(|state| write::changes(state, some, at))?;
        }
        (self.hooks.written)();
        Ok(())
    }
}

/// Deletes the history of services before a moment, seconds since 1970, in short transactions.
pub fn expire(config: &Config, before: u64) -> DbResult<()> {
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    while config.write_state(|state| write::expire(state, before))? > 0 {}
    Ok(())
}
