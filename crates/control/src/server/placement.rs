//! Which engines own which VIPs: decides when engines or the configuration change, stores the decision, and tells
//! the engines.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use balancing::placement::{Assigned, Assignment, Owner, Placement, State};
use config::Config;
use config::db::DbResult;
use config::engines::{self, Placed};
use proxying::engine_link::VIPS_MAX;
use stdx::clock::SharedClock;
use stdx::sync::lock;
use tokio::sync::watch;

use crate::analytics::{Board, Owned, Placements};

/// How often the states of engines are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Pause after an error of the database.
const RETRY: Duration = Duration::from_secs(1);

/// What the engines of a group own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Shares {
    generation: u64,
    engines: HashMap<u64, BTreeSet<IpAddr>>,
}

/// The newest decision, by group.
type Decided = HashMap<u64, Shares>;

/// What an engine says that it owns.
#[derive(Debug, Clone)]
struct Claim {
    generation: u64,
    vips: BTreeSet<IpAddr>,
}

/// Decides about all groups.
pub(crate) struct Placer {
    config: Arc<Config>,
    clock: SharedClock,
    board: Arc<Board>,
    decided: watch::Sender<Decided>,
    /// The last claim of each engine.
    claims: Mutex<HashMap<u64, Claim>>,
}

impl Placer {
    pub(crate) fn new(config: Arc<Config>, clock: SharedClock, board: Arc<Board>) -> Self {
        let decided = watch::Sender::new(Decided::new());
        Self { config, clock, board, decided, claims: Mutex::default() }
    }

    /// Decisions, now and later.
    pub(crate) fn decisions(&self) -> watch::Receiver<Decided> {
        self.decided.subscribe()
    }

    /// An engine says what it owns.
    pub(crate) fn claim(&self, engine: u64, generation: u64, vips: BTreeSet<IpAddr>) {
        lock(&self.claims).insert(engine, Claim { generation, vips });
    }

    /// Decides until dropped. `changes`: those of the configuration.
    pub(crate) async fn keep(self: &Arc<Self>, mut changes: watch::Receiver<u64>) {
        let mut work = Work::default();
        let mut stale = true;
        loop {
            stale |= changes.has_changed().unwrap_or(false);
            changes.mark_unchanged();
            let (placer, read) = (Arc::clone(self), stale);
            let looked = tokio::task::spawn_blocking(move || {
                let result = placer.look(&mut work, read);
                (work, result)
            });
            // After a panic, or an error, everything is read again.
            let (after, result) = looked.await.unwrap_or_else(|_| (Work::default(), Ok(false)));
            work = after;
            match result {
                Ok(read) => stale = !read,
                Err(error) => {
                    tracing::warn!(%error, "cannot read or store the placement of VIPs; retrying");
                    tokio::time::sleep(RETRY).await;
                }
            }
            tokio::select! {
                _ = changes.changed() => stale = true,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }
}

/// Shares of a group that engines learn of.
fn shares(placed: &Placed, assignment: &Assignment, generation: u64) -> Shares {
    let mut engines: HashMap<u64, BTreeSet<IpAddr>> =
        placed.group.engines.keys().map(|engine| (*engine, BTreeSet::new())).collect();
    for (vip, assigned) in assignment {
        let addresses = placed.vips.get(vip).map(|vip| &vip.addresses);
        for owner in &assigned.owners {
            engines.entry(owner.engine).or_default().extend(addresses.into_iter().flatten());
        }
    }
    Shares { generation, engines }
}

impl Shares {
    /// The number and the VIPs of an engine.
    pub(crate) fn of(&self, engine: u64) -> (u64, BTreeSet<IpAddr>) {
        (self.generation, self.engines.get(&engine).cloned().unwrap_or_default())
    }
}

/// What an engine was told of the placement.
#[derive(Default)]
pub(crate) struct Told {
    /// It is of a release that follows placements.
    follows: bool,
    last: Option<(u64, BTreeSet<IpAddr>)>,
}

impl Told {
    pub(crate) const fn follow(&mut self) {
        self.follows = true;
    }

    /// What the engine is to be told now. It counts as told.
    ///
    /// # Errors
    /// It is too long.
    pub(crate) fn due(
        &mut self,
        placer: &Placer,
        group: u64,
        engine: u64,
    ) -> Result<Option<(u64, String)>, String> {
        let shares = placer.decided.borrow().get(&group).map(|shares| shares.of(engine));
        let Some(share) = shares.filter(|share| self.follows && self.last.as_ref() != Some(share))
        else {
            return Ok(None);
        };
        let vips = serde_json::to_string(&share.1).map_err(|error| error.to_string())?;
        if vips.len() > VIPS_MAX {
            return Err(
                "the engine owns more VIPs than a message can have; set \"vips_per_engine\""
                    .to_owned(),
            );
        }
        let generation = share.0;
        self.last = Some(share);
        Ok(Some((generation, vips)))
    }
}

/// What is known of the groups between two looks.
#[derive(Default)]
struct Work {
    groups: BTreeMap<u64, Known>,
    /// Engines whose first claim was looked at.
    heard: HashSet<u64>,
}

struct Known {
    placed: Placed,
    /// Number of the assignment that the database had at the start.
    first: u64,
    /// The newest decision for these states, if any.
    decision: Option<(BTreeMap<u64, State>, Placement)>,
    is_stored: bool,
    moves: usize,
}

impl Placer {
    fn seen(&self) -> impl Fn(u64, u32) -> State {
        let board = Arc::clone(&self.board);
        move |engine, hold_s| board.state(engine, Duration::from_secs(hold_s.into()))
    }

    /// `true`: the configuration was read if that was wanted.
    fn look(&self, work: &mut Work, read: bool) -> DbResult<bool> {
        let seen = self.seen();
        if read {
            let groups =
                self.config.read(|connection| engines::placed_groups(connection, &seen))?;
            work.learn(groups);
        }
        let now_s = self.clock.unix_s();
        let mut changed = read;
        let claims = lock(&self.claims);
        for known in work.groups.values_mut() {
            changed |= known.hear(&claims, &mut work.heard, now_s);
        }
        drop(claims);
        for known in work.groups.values_mut() {
            known.placed.see(&seen);
            changed |= known.decide(now_s);
        }
        if changed {
            self.publish(work);
        }
        // A decision counts also while the disk refuses it: engines must not wait for that.
        for known in work.groups.values_mut().filter(|known| !known.is_stored) {
            let Placed { id, generation, group, .. } = &known.placed;
            engines::keep_placement(&self.config, *id, *generation, &group.before)?;
            known.is_stored = true;
        }
        Ok(true)
    }

    fn publish(&self, work: &Work) {
        let mut decided = Decided::new();
        let mut placements = Placements::default();
        for known in work.groups.values() {
            let Some((_, placement)) = &known.decision else { continue };
            let placed = &known.placed;
            decided.insert(placed.id, shares(placed, &placement.assignment, placed.generation));
            let without = placement.assignment.values().filter(|one| known.is_unserved(one));
            let without = without.count();
            for engine in placed.group.engines.keys() {
                let own = placement.assignment.values().filter(|one| one.is_owned_by(*engine));
                let figures = Owned { vips: own.count(), without, moves: known.moves };
                placements.owned.insert(*engine, figures);
            }
            placements.assignments.insert(placed.id, placement.assignment.clone());
        }
        self.board.place(placements);
        self.decided.send_if_modified(|before| {
            let differs = *before != decided;
            *before = decided;
            differs
        });
    }
}

impl Work {
    /// Takes the configuration over. Decisions of this process are newer than those in the database.
    fn learn(&mut self, groups: Vec<Placed>) {
        let mut before = std::mem::take(&mut self.groups);
        for mut placed in groups {
            let known = match before.remove(&placed.id) {
                Some(old) => {
                    placed.group.before = old.placed.group.before;
                    placed.generation = old.placed.generation;
                    Known { placed, decision: None, ..old }
                }
                None => Known {
                    first: placed.generation,
                    placed,
                    decision: None,
                    is_stored: true,
                    moves: 0,
                },
            };
            self.groups.insert(known.placed.id, known);
        }
    }
}

impl Known {
    /// An engine that knows a newer assignment than the database had at the start knows better: the database is older
    /// than the last decision. Engines accept no older decision, also not that of another group. `true`: engines are
    /// to be told something.
    fn hear(&mut self, claims: &HashMap<u64, Claim>, heard: &mut HashSet<u64>, now_s: u64) -> bool {
        let mut changed = false;
        let Placed { group, vips, generation, .. } = &mut self.placed;
        for engine in group.engines.keys() {
            let Some(claim) = claims.get(engine) else { continue };
            if claim.generation > *generation {
                *generation = claim.generation.saturating_add(1);
                self.is_stored = false;
                changed = true;
            }
            if !heard.insert(*engine) || claim.generation <= self.first {
                continue;
            }
            for (vip, known) in vips.iter() {
                let assigned = group.before.entry(*vip).or_default();
                match (known.addresses.is_subset(&claim.vips), assigned.is_owned_by(*engine)) {
                    (true, false) => assigned.owners.push(Owner { engine: *engine, since: now_s }),
                    (false, true) => assigned.owners.retain(|owner| owner.engine != *engine),
                    _ => {}
                }
            }
            self.decision = None;
        }
        changed
    }

    /// Whether no engine that lives owns a VIP.
    fn is_unserved(&self, assigned: &Assigned) -> bool {
        let state = |owner: &Owner| self.placed.group.engines.get(&owner.engine);
        !assigned.owners.iter().any(|owner| state(owner).is_some_and(|one| *one != State::Down))
    }

    /// Places the VIPs, unless nothing has changed. `true`: something has.
    fn decide(&mut self, now_s: u64) -> bool {
        let states = &self.placed.group.engines;
        if self.decision.as_ref().is_some_and(|(before, _)| before == states) {
            return false;
        }
        let placement = self.placed.group.place(now_s);
        let moved = self.report(&placement);
        if placement.assignment != self.placed.group.before {
            self.placed.generation += 1;
            self.moves += moved;
            self.placed.group.before = placement.assignment.clone();
            self.is_stored = false;
        }
        self.decision = Some((self.placed.group.engines.clone(), placement));
        true
    }

    /// Logs what moves; returns how many VIPs left an engine.
    fn report(&self, placement: &Placement) -> usize {
        let mut moved = 0;
        for (vip, after) in &placement.assignment {
            let empty = Assigned::default();
            let before = self.placed.group.before.get(vip).unwrap_or(&empty).engines();
            let after = after.engines();
            if before == after {
                continue;
            }
            moved += usize::from(before.difference(&after).next().is_some());
            let (group, name) =
                (&self.placed.name, self.placed.vips.get(vip).map(|vip| &*vip.name));
            let reason = placement.short.get(vip).map(ToString::to_string).unwrap_or_default();
            tracing::info!(group, vip = name, from = ?before, to = ?after, reason, "a VIP is placed");
        }
        moved
    }
}
