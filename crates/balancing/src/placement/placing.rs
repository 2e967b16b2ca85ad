//! How VIPs are placed: owners stay, VIPs without enough of them get others.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Assigned, Assignment, Group, HaMode, Owner, Placement, Reason, Settings, Spread, State,
};

/// Work on one placement.
pub(super) struct Placing<'g> {
    group: &'g Group,
    now_s: u64,
    wanted: usize,
    /// VIPs of each engine that can have some.
    load: BTreeMap<u64, usize>,
    owners: BTreeMap<u64, Vec<Owner>>,
    short: BTreeMap<u64, Reason>,
}

impl<'g> Placing<'g> {
    pub(super) fn of(group: &'g Group, now_s: u64) -> Self {
        let load = group.engines.keys().map(|engine| (*engine, 0)).collect();
        let owners = group.vips.iter().map(|vip| (*vip, Vec::new())).collect();
        Self { group, now_s, wanted: group.wanted(), load, owners, short: BTreeMap::new() }
    }

    fn state(&self, engine: u64) -> State {
        self.group.engines.get(&engine).copied().unwrap_or(State::Down)
    }

    fn owns(&self, vip: u64, engine: u64) -> bool {
        self.owners.get(&vip).into_iter().flatten().any(|owner| owner.engine == engine)
    }

    fn load(&self, engine: u64) -> usize {
        self.load.get(&engine).copied().unwrap_or(0)
    }

    fn add(&mut self, vip: u64, owner: Owner) {
        self.owners.entry(vip).or_default().push(owner);
        *self.load.entry(owner.engine).or_default() += 1;
    }

    fn remove(&mut self, vip: u64, engine: u64) {
        self.owners.entry(vip).or_default().retain(|owner| owner.engine != engine);
        if let Some(load) = self.load.get_mut(&engine) {
            *load = load.saturating_sub(1);
        }
    }

    /// Owners before of those VIPs that are still in the group, in this state.
    fn before(&self, state: impl Fn(State) -> bool) -> Vec<(u64, Owner)> {
        let before = self.group.before.iter().filter(|(vip, _)| self.group.vips.contains(vip));
        let owners = before.flat_map(|(vip, one)| one.owners.iter().map(move |own| (*vip, *own)));
        owners
            .filter(|(_, owner)| {
                self.group.engines.contains_key(&owner.engine) && state(self.state(owner.engine))
            })
            .collect()
    }

    /// Owners stay as long as they live.
    pub(super) fn keep(&mut self) {
        for (vip, owner) in self.before(|state| matches!(state, State::Up | State::Waiting)) {
            if !self.owns(vip, owner.engine) {
                self.add(vip, owner);
            }
        }
    }

    /// Takes from VIPs with too many owners those with the most VIPs.
    pub(super) fn shed(&mut self) {
        for vip in &self.group.vips {
            while self.owners.get(vip).map_or(0, Vec::len) > self.wanted {
                let owners = self.owners.get(vip).into_iter().flatten();
                let rank = |engine: u64| self.surplus(engine);
                let Some(most) = owners.map(|owner| owner.engine).max_by_key(|one| rank(*one))
                else {
                    break;
                };
                self.remove(*vip, most);
            }
        }
    }

    /// The owner with the greatest loses a VIP that has too many.
    fn surplus(&self, engine: u64) -> (bool, bool, usize, u64) {
        let load = self.load(engine);
        let spread = match self.group.settings.spread {
            Spread::Distributed => load,
            Spread::Compact => usize::MAX - load,
        };
        (self.state(engine) == State::Waiting, load > self.limit(), spread, engine)
    }

    /// VIPs that one engine can have.
    fn limit(&self) -> usize {
        match self.group.settings.vips_per_engine {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        }
    }

    /// VIPs that the group can have beside the room that stays free. Room of failed engines is no longer free: it
    /// is what the spare engines stand in for.
    fn total(&self) -> usize {
        let Settings { ha_mode, spare_engines, vips_per_engine, .. } = self.group.settings;
        if ha_mode != HaMode::NPlusM || vips_per_engine == 0 {
            return usize::MAX;
        }
        let spare = usize::try_from(spare_engines).unwrap_or(usize::MAX);
        let engines = self.group.engines.len().saturating_sub(spare);
        engines.saturating_mul(self.limit())
    }

    fn placed(&self) -> usize {
        self.load.values().sum()
    }

    /// The engine that a VIP gets next, or why there is none.
    fn candidate(&self, vip: u64) -> Result<u64, Reason> {
        let up = || self.group.engines.iter().filter(|(_, state)| **state == State::Up);
        let others = up().map(|(engine, _)| *engine).filter(|engine| !self.owns(vip, *engine));
        let others: Vec<u64> = others.collect();
        if others.is_empty() {
            let alive = self.owners.get(&vip).map_or(0, Vec::len);
            return Err(match alive {
                0 => Reason::NoEngine,
                _ => Reason::FewEngines(up().count()),
            });
        }
        let with_room: Vec<u64> =
            others.into_iter().filter(|engine| self.load(*engine) < self.limit()).collect();
        if with_room.is_empty() {
            return Err(Reason::Full);
        }
        if self.placed() >= self.total() {
            return Err(Reason::Spare);
        }
        let chosen = match self.group.settings.spread {
            Spread::Distributed => {
                with_room.into_iter().min_by_key(|engine| (self.load(*engine), *engine))
            }
            Spread::Compact => with_room
                .into_iter()
                .min_by_key(|engine| (std::cmp::Reverse(self.load(*engine)), *engine)),
        };
        chosen.ok_or(Reason::NoEngine)
    }

    /// Gives each VIP its first engine, then the second, and so on. `true`: some VIP got one.
    pub(super) fn fill(&mut self) -> bool {
        let before = self.placed();
        for level in 0..self.wanted.min(self.group.engines.len() + 1) {
            for vip in &self.group.vips {
                if self.owners.get(vip).map_or(0, Vec::len) != level {
                    continue;
                }
                match self.candidate(*vip) {
                    Ok(engine) => self.add(*vip, Owner { engine, since: self.now_s }),
                    Err(reason) => {
                        self.short.insert(*vip, reason);
                    }
                }
            }
        }
        self.placed() > before
    }

    /// VIPs without any owner stay with the one that drains. If all engines have failed, they keep theirs: no message
    /// can change what they announce, and nothing moves when they return.
    pub(super) fn fall_back(&mut self) {
        let failed = self.group.engines.values().all(|state| *state == State::Down);
        let mut given = BTreeSet::new();
        for (vip, owner) in self.before(|state| failed || state == State::Draining) {
            if given.contains(&vip) || self.owners.get(&vip).is_some_and(Vec::is_empty) {
                given.insert(vip);
                self.add(vip, owner);
                self.short.entry(vip).or_insert(Reason::NoEngine);
            }
        }
    }

    /// VIPs return to the engines from which they had to leave. `true`: some did.
    pub(super) fn go_home(&mut self) -> bool {
        let mut returned = false;
        for (vip, assigned) in &self.group.before {
            for home in &assigned.home {
                let fits = self.state(*home) == State::Up
                    && self.load(*home) < self.limit()
                    && !self.owns(*vip, *home);
                let guest = self.owners.get(vip).into_iter().flatten().map(|owner| owner.engine);
                let guest = guest.filter(|engine| !assigned.home.contains(engine)).max();
                if fits && let Some(guest) = guest {
                    self.remove(*vip, guest);
                    self.add(*vip, Owner { engine: *home, since: self.now_s });
                    returned = true;
                }
            }
        }
        returned
    }

    /// Moves VIPs from the engines with the most to those with the fewest, while no engine is missing: VIPs that are
    /// not at home would return.
    pub(super) fn even_out(&mut self) {
        if self.group.engines.values().any(|state| *state != State::Up) {
            return;
        }
        let ups: Vec<u64> = self.group.engines.keys().copied().collect();
        // Each step brings two engines nearer to each other.
        while let Some((from, to)) = self.uneven(&ups) {
            let vips = self.owners.iter();
            let movable = vips.filter(|(vip, _)| self.owns(**vip, from) && !self.owns(**vip, to));
            let Some(vip) = movable.map(|(vip, _)| *vip).next() else { break };
            self.remove(vip, from);
            self.add(vip, Owner { engine: to, since: self.now_s });
        }
    }

    /// The engines with the most and the fewest VIPs, if a move makes that better.
    fn uneven(&self, ups: &[u64]) -> Option<(u64, u64)> {
        let most = *ups.iter().max_by_key(|engine| (self.load(**engine), **engine))?;
        let fewest = |engine: &&u64| (self.load(**engine), **engine);
        let (to, better) = match self.group.settings.spread {
            Spread::Distributed => {
                let to = *ups.iter().min_by_key(fewest)?;
                (to, self.load(most) > self.load(to) + 1)
            }
            Spread::Compact => {
                let with_room = ups.iter().filter(|engine| self.load(**engine) < self.limit());
                (*with_room.min_by_key(fewest)?, self.load(most) > self.limit())
            }
        };
        better.then_some((most, to))
    }

    /// The engines to which a VIP returns.
    fn home(&self, vip: u64, owners: &[Owner]) -> BTreeSet<u64> {
        let now = owners.iter().map(|owner| owner.engine).collect();
        let known = self.group.before.get(&vip).map(|before| &before.home);
        let home = known.filter(|home| {
            let exist = home.iter().all(|engine| self.group.engines.contains_key(engine));
            exist && !home.is_empty() && home.len() == self.wanted
        });
        match home {
            Some(home) if self.group.settings.rebalance && !self.all_homes_up(home) => home.clone(),
            _ => now,
        }
    }

    fn all_homes_up(&self, home: &BTreeSet<u64>) -> bool {
        home.iter().all(|engine| self.state(*engine) == State::Up)
    }

    pub(super) fn finish(mut self) -> Placement {
        let mut assignment = Assignment::new();
        let owners = std::mem::take(&mut self.owners);
        for (vip, mut owners) in owners {
            owners.sort_by_key(|owner| owner.engine);
            let alive = owners.iter().filter(|owner| self.state(owner.engine) != State::Down);
            if alive.count() >= self.wanted {
                self.short.remove(&vip);
            }
            assignment.insert(vip, Assigned { home: self.home(vip, &owners), owners });
        }
        let short = self.short;
        Placement { assignment, short, wanted: self.wanted }
    }
}
