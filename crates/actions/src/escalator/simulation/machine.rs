//! The machine below the simulated server: its clocks, its disk, and the moment in which the process dies.

use std::fs::File;
use std::io;
use std::sync::Mutex;
use std::time::Duration;

use config::db::Disk;
use stdx::clock::Clock;
use stdx::sync::lock;

use crate::escalation::simulation::Random;

/// Shared by the server and the simulation.
pub(super) struct Machine(Mutex<State>);

struct State {
    unix_s: u64,
    monotonic_s: u64,
    /// Nothing that the process does has an effect any more.
    dead: bool,
    /// Boundaries until the process dies: statements, syncs, messages that are handed over.
    lives_for: Option<u64>,
    /// One of so many statements and syncs fails; 0 = none.
    fails_one_in: u64,
    /// The simulation itself looks into the database.
    aside: bool,
    random: Random,
}

impl Machine {
    pub(super) fn new(seed: u64, unix_s: u64) -> Self {
        let random = Random(!seed);
        let (dead, aside) = (false, false);
        let (unix_s, monotonic_s, lives_for, fails_one_in) = (unix_s, 1_000, None, 0);
        let state = State { unix_s, monotonic_s, dead, lives_for, fails_one_in, aside, random };
        Self(Mutex::new(state))
    }

    pub(super) fn advance(&self, seconds: u64) {
        let mut state = lock(&self.0);
        state.unix_s += seconds;
        state.monotonic_s += seconds;
    }

    /// An administrator sets the clock.
    pub(super) fn set_clock(&self, by: i64) {
        let mut state = lock(&self.0);
        state.unix_s = state.unix_s.saturating_add_signed(by);
    }

    pub(super) fn kill_after(&self, boundaries: u64) {
        lock(&self.0).lives_for = Some(boundaries);
    }

    /// The process starts, and is not to be killed.
    pub(super) fn revive(&self) {
        let mut state = lock(&self.0);
        state.dead = false;
        state.lives_for = None;
    }

    pub(super) fn is_dead(&self) -> bool {
        lock(&self.0).dead
    }

    /// 0 = the disk is sound.
    pub(super) fn fail_one_in(&self, n: u64) {
        lock(&self.0).fails_one_in = n;
    }

    pub(super) fn is_sound(&self) -> bool {
        lock(&self.0).fails_one_in == 0
    }

    /// Runs what the process does not do: nothing fails.
    pub(super) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        lock(&self.0).aside = true;
        let result = work();
        lock(&self.0).aside = false;
        result
    }

    /// Whether the process comes beyond the next boundary.
    pub(super) fn lives(&self) -> bool {
        let mut state = lock(&self.0);
        if state.aside {
            return true;
        }
        state.dead |= state.lives_for == Some(0);
        state.lives_for = state.lives_for.map(|left| left.saturating_sub(1));
        !state.dead
    }

    fn reach(&self) -> io::Result<()> {
        if !self.lives() {
            return Err(io::Error::other("the process is dead"));
        }
        let mut state = lock(&self.0);
        let one_in = state.fails_one_in;
        match !state.aside && one_in > 0 && state.random.one_in(one_in) {
            true => Err(io::Error::other("input/output error")),
            false => Ok(()),
        }
    }
}

impl Disk for Machine {
    /// Only the process dies, never the machine: nothing has to reach the disk.
    fn sync(&self, _: &File) -> io::Result<()> {
        self.reach()
    }

    /// A rollback needs no disk, and happens by itself when the process dies.
    fn statement(&self, sql: &str) -> io::Result<()> {
        if sql == "ROLLBACK" { Ok(()) } else { self.reach() }
    }
}

impl Clock for Machine {
    fn unix(&self) -> Duration {
        Duration::from_secs(lock(&self.0).unix_s)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(lock(&self.0).monotonic_s)
    }
}
