//! Engine groups as the placement of their VIPs needs them, and what was decided last.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use balancing::placement::{Assignment, Group, HaMode, Settings, Spread, State};
use const_format::formatcp;
use objects::sql::STATUS_ENABLED;

use crate::Config;
use crate::db::{DbResult, Reader, Row, Value};

/// Engines of the group announce as their own files say.
pub(super) const NO_ANNOUNCE: &str = "{}";
/// Default of `failover_after`.
pub(super) const FAILOVER_AFTER_S: u32 = 3;

/// A group, and names and addresses of what it places.
#[derive(Debug, Clone)]
pub struct Placed {
    /// `enginegroupid`.
    pub id: u64,
    /// Name of the group.
    pub name: String,
    /// What the placement decides about, all engines with the given states.
    pub group: Group,
    /// Names and addresses of its VIPs, by id.
    pub vips: BTreeMap<u64, PlacedVip>,
    /// Engines that a user drains.
    pub drained: BTreeSet<u64>,
    /// Number of the assignment before.
    pub generation: u64,
}

/// A VIP of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedVip {
    /// Name of the VIP.
    pub name: String,
    /// Without 0.0.0.0 and ::, which every machine has.
    pub addresses: BTreeSet<IpAddr>,
}

impl Placed {
    /// Asks for the states of all engines again.
    pub fn see(&mut self, state: &dyn Fn(u64, u32) -> State) {
        let hold = self.group.settings.failover_after_s;
        for (engine, seen) in &mut self.group.engines {
            *seen = match state(*engine, hold) {
                State::Up | State::Waiting if self.drained.contains(engine) => State::Draining,
                state => state,
            };
        }
    }
}

/// All groups in the order of their ids. `state`: how an engine is seen, by its id and the seconds after which it has
/// failed. Engines that have never enrolled are no part of their group yet. A VIP whose addresses are those of every
/// machine is not placed.
///
/// # Errors
/// The database.
pub fn placed_groups(
    connection: &mut dyn Reader,
    state: &dyn Fn(u64, u32) -> State,
) -> DbResult<Vec<Placed>> {
    let mut groups = BTreeMap::new();
    for row in connection.query("SELECT * FROM enginegroups", &[])? {
        groups.insert(row.id("enginegroupid"), placed(&row));
    }
    let sql = "SELECT e.engineid, e.enginegroupid, e.drain FROM engines e \
               JOIN engine_certificates c ON c.engineid = e.engineid";
    for row in connection.query(sql, &[])? {
        let Some(placed) = groups.get_mut(&row.id("enginegroupid")) else { continue };
        let engine = row.id("engineid");
        placed.group.engines.insert(engine, State::Down);
        if row.int("drain") != 0 {
            placed.drained.insert(engine);
        }
    }
    let sql = formatcp!(
        "SELECT DISTINCT s.enginegroupid, v.vipid, v.name, v.ipv4, v.ipv6 FROM virtualservices s \
         JOIN vips v ON v.vipid = s.vipid WHERE s.status = {STATUS_ENABLED}"
    );
    for row in connection.query(sql, &[])? {
        let Some(placed) = groups.get_mut(&row.id("enginegroupid")) else { continue };
        let vip = vip(&row);
        if !vip.addresses.is_empty() {
            placed.group.vips.insert(row.id("vipid"));
            placed.vips.insert(row.id("vipid"), vip);
        }
    }
    for row in connection.query("SELECT * FROM engine_placements", &[])? {
        let Some(placed) = groups.get_mut(&row.id("enginegroupid")) else { continue };
        placed.generation = row.id("generation");
        placed.group.before = read(row.text("assignment"), &placed.name);
    }
    let mut groups: Vec<Placed> = groups.into_values().collect();
    for placed in &mut groups {
        placed.see(state);
    }
    Ok(groups)
}

fn placed(row: &Row) -> Placed {
    let number = |column| u32::try_from(row.int(column)).unwrap_or(0);
    let settings = Settings {
        ha_mode: match row.int("ha_mode") {
            1 => HaMode::NPlusM,
            2 => HaMode::ActiveStandby,
            _ => HaMode::ActiveActive,
        },
        spread: match row.int("placement") {
            1 => Spread::Compact,
            _ => Spread::Distributed,
        },
        engines_per_vip: number("engines_per_vip"),
        spare_engines: number("spare_engines"),
        vips_per_engine: number("vips_per_engine"),
        rebalance: row.int("rebalance") != 0,
        failover_after_s: number("failover_after"),
    };
    let group = Group {
        settings,
        vips: BTreeSet::new(),
        engines: BTreeMap::new(),
        before: Assignment::new(),
    };
    Placed {
        id: row.id("enginegroupid"),
        name: row.text("name").to_owned(),
        group,
        vips: BTreeMap::new(),
        drained: BTreeSet::new(),
        generation: 0,
    }
}

fn vip(row: &Row) -> PlacedVip {
    let addresses = ["ipv4", "ipv6"].map(|column| row.text(column).parse::<IpAddr>());
    let addresses = addresses.into_iter().flatten().filter(|one| !one.is_unspecified());
    PlacedVip { name: row.text("name").to_owned(), addresses: addresses.collect() }
}

/// A damaged assignment counts as none: engines report what they own.
fn read(text: &str, group: &str) -> Assignment {
    serde_json::from_str(text).unwrap_or_else(|error| {
        tracing::error!(%error, "the stored placement of engine group '{group}' is damaged; its VIPs are placed again");
        Assignment::new()
    })
}

/// Stores what was decided. Decisions about deleted groups are dropped.
///
/// # Errors
/// The database.
pub fn keep_placement(
    config: &Config,
    group: u64,
    generation: u64,
    assignment: &Assignment,
) -> DbResult<()> {
    let text = serde_json::to_string(assignment).expect("BUG: plain data is JSON");
    config.write_state(|state| {
        let sql = "INSERT INTO engine_placements (enginegroupid, generation, assignment) \
                   SELECT enginegroupid, ?, ? FROM enginegroups WHERE enginegroupid = ? \
                   ON CONFLICT (enginegroupid) DO UPDATE SET generation = excluded.generation, \
                   assignment = excluded.assignment";
        let values = [Value::from(generation), text.as_str().into(), group.into()];
        state.execute(sql, &values).map(drop)
    })
}
