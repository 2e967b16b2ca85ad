//! Which engines of a group own which VIPs: a pure function of the group's settings, its VIPs, its engines and
//! the assignment before. Equal inputs give equal results, and a VIP moves only if something forces it to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use placing::Placing;

mod placing;
#[cfg(test)]
mod tests;

/// How engines of a group stand in for each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HaMode {
    /// A VIP has several engines at once.
    #[default]
    ActiveActive,
    /// Room of some engines stays free for the VIPs of failed ones.
    NPlusM,
    /// A VIP has one engine; another one takes over.
    ActiveStandby,
}

/// Which engine a VIP gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Spread {
    /// The one with the fewest VIPs.
    #[default]
    Distributed,
    /// The one with the most VIPs that has room.
    Compact,
}

/// The settings of a group. The default is that each engine owns each VIP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How engines stand in for each other.
    pub ha_mode: HaMode,
    /// Which engine a VIP gets.
    pub spread: Spread,
    /// Engines of each VIP; 0: all.
    pub engines_per_vip: u32,
    /// With [`HaMode::NPlusM`]: engines whose room stays free.
    pub spare_engines: u32,
    /// VIPs that an engine gets at most; 0: no limit.
    pub vips_per_engine: u32,
    /// Whether VIPs return to engines that return, and spread to new ones.
    pub rebalance: bool,
    /// Seconds after which an engine without connection has failed.
    pub failover_after_s: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ha_mode: HaMode::default(),
            spread: Spread::default(),
            engines_per_vip: 0,
            spare_engines: 0,
            vips_per_engine: 0,
            rebalance: false,
            failover_after_s: 3,
        }
    }
}

/// How far an engine can serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It gets VIPs.
    Up,
    /// It lost its connection a moment ago, or the server has just started: it keeps its VIPs and gets no others.
    Waiting,
    /// It gives its VIPs away, as far as others can take them.
    Draining,
    /// It has failed.
    Down,
}

impl State {
    /// The word for it in the API.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Waiting => "waiting",
            Self::Draining => "draining",
            Self::Down => "down",
        }
    }
}

/// An engine that owns a VIP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub struct Owner {
    /// Id of the engine.
    pub engine: u64,
    /// Since when, in Unix seconds.
    pub since: u64,
}

/// The engines of a VIP.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Assigned {
    /// Those that own it now.
    pub owners: Vec<Owner>,
    /// Those to which it returns if the group rebalances.
    #[serde(default)]
    pub home: BTreeSet<u64>,
}

impl Assigned {
    /// Whether an engine owns it.
    #[must_use]
    pub fn is_owned_by(&self, engine: u64) -> bool {
        self.owners.iter().any(|owner| owner.engine == engine)
    }

    /// Ids of its owners.
    #[must_use]
    pub fn engines(&self) -> BTreeSet<u64> {
        self.owners.iter().map(|owner| owner.engine).collect()
    }
}

/// All VIPs of a group by id.
pub type Assignment = BTreeMap<u64, Assigned>;

/// Why a VIP has fewer engines than wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No engine of the group is up.
    NoEngine,
    /// So many engines are up.
    FewEngines(usize),
    /// The engines that are up have reached their limit.
    Full,
    /// What is left is kept for VIPs of engines that fail.
    Spare,
    /// The server has not decided yet; it does so within a second.
    Undecided,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEngine => f.write_str("no engine of the group is up"),
            Self::FewEngines(1) => f.write_str("only 1 engine of the group is up"),
            Self::FewEngines(up) => write!(f, "only {up} engines of the group are up"),
            Self::Full => f.write_str("all engines that are up have reached \"vips_per_engine\""),
            Self::Spare => f.write_str("the remaining room is kept free by \"spare_engines\""),
            Self::Undecided => f.write_str("the server has not placed the VIP yet"),
        }
    }
}

/// What a placement decides about.
#[derive(Debug, Clone)]
pub struct Group {
    /// How its VIPs are spread and limited.
    pub settings: Settings,
    /// Ids of its VIPs.
    pub vips: BTreeSet<u64>,
    /// Its engines that have enrolled.
    pub engines: BTreeMap<u64, State>,
    /// The assignment before.
    pub before: Assignment,
}

/// The result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placement {
    /// Owners of each VIP of the group.
    pub assignment: Assignment,
    /// VIPs with fewer owners than wanted.
    pub short: BTreeMap<u64, Reason>,
    /// Owners that each VIP should have.
    pub wanted: usize,
}

impl Group {
    /// Places the VIPs. `now_s`: Unix time.
    #[must_use]
    pub fn place(&self, now_s: u64) -> Placement {
        let mut placing = Placing::of(self, now_s);
        placing.keep();
        placing.shed();
        placing.fill();
        if self.settings.rebalance {
            while placing.go_home() | placing.fill() {}
            placing.even_out();
            while placing.fill() {
                placing.even_out();
            }
        }
        placing.fall_back();
        placing.finish()
    }

    /// Owners that each VIP should have.
    #[must_use]
    pub fn wanted(&self) -> usize {
        let Settings { ha_mode, engines_per_vip, .. } = self.settings;
        match (ha_mode, engines_per_vip) {
            (HaMode::ActiveStandby, _) | (HaMode::NPlusM, 0) => 1,
            (HaMode::ActiveActive, 0) => self.remaining().max(1),
            (_, engines) => usize::try_from(engines).unwrap_or(usize::MAX),
        }
    }

    /// Engines that the user has not drained.
    fn remaining(&self) -> usize {
        self.engines.values().filter(|state| **state != State::Draining).count()
    }

    /// The engine that takes over a VIP of an active/standby group if its owner fails now.
    #[must_use]
    pub fn standby(&self, placement: &Placement) -> BTreeMap<u64, u64> {
        let mut standby = BTreeMap::new();
        if self.settings.ha_mode != HaMode::ActiveStandby {
            return standby;
        }
        for engine in self.engines.keys() {
            let mut failed = Self { before: placement.assignment.clone(), ..self.clone() };
            failed.engines.insert(*engine, State::Down);
            let next = failed.place(0).assignment;
            for (vip, assigned) in &placement.assignment {
                let successor = next.get(vip).and_then(|next| next.owners.first());
                if assigned.is_owned_by(*engine)
                    && let Some(successor) = successor.filter(|one| one.engine != *engine)
                {
                    standby.insert(*vip, successor.engine);
                }
            }
        }
        standby
    }

    /// VIPs that an engine can still get; `None`: no limit.
    #[must_use]
    pub fn room(&self, placement: &Placement, engine: u64) -> Option<usize> {
        let limit = self.settings.vips_per_engine;
        let used = placement.assignment.values().filter(|one| one.is_owned_by(engine)).count();
        let limit = usize::try_from(limit).ok().filter(|limit| *limit > 0)?;
        let takes = self.engines.get(&engine) == Some(&State::Up);
        Some(if takes { limit.saturating_sub(used) } else { 0 })
    }
}
