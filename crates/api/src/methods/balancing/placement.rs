//! `enginegroup.placement`: which engines own which VIPs, and why a VIP has fewer than it should have.

use std::collections::BTreeMap;

use balancing::placement::{Assigned, Placement, Reason, State};
use config::db::{DbResult, Reader};
use config::engines::{Placed, placed_groups};
use serde_json::{Value as Json, json};

use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::write::{only, required_list};

/// All groups by id, with engines as the server sees them now. The assignment before is what engines were told.
pub(super) fn groups(
    call: &Call<'_>,
    connection: &mut dyn Reader,
) -> DbResult<BTreeMap<u64, Placed>> {
    let live = &call.api.deps.live;
    let groups = placed_groups(connection, &|engine, hold_s| live.engine_state(engine, hold_s))?;
    let current = groups.into_iter().map(|mut placed| {
        if let Some(assignment) = live.assignment(placed.id) {
            placed.group.before = assignment;
        }
        (placed.id, placed)
    });
    Ok(current.collect())
}

pub(super) fn placement(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an object is expected"))?;
    only(members, "/", &["enginegroupids"])?;
    let ids = required_list(input, "enginegroupids")?;
    let groups = call.read(|connection| Ok(groups(call, connection)?))?;
    let found = ids.iter().map(|id| groups.get(id).ok_or_else(ApiError::no_object));
    let now_s = call.now();
    found.map(|placed| Ok(shown(placed?, now_s))).collect()
}

/// Only what was decided is shown as active: engines may be told something else than what this moment's states would
/// give.
fn shown(placed: &Placed, now_s: u64) -> Json {
    let group = &placed.group;
    let lives = |engine: u64| group.engines.get(&engine).is_some_and(|one| *one != State::Down);
    let mut placement = group.place(now_s);
    for (vip, assigned) in &mut placement.assignment {
        let decided = group.before.get(vip).cloned().unwrap_or_default();
        let serves = |assigned: &Assigned| assigned.owners.iter().any(|one| lives(one.engine));
        if !serves(&decided) && serves(assigned) {
            placement.short.insert(*vip, Reason::Undecided);
        }
        *assigned = decided;
    }
    let standby = group.standby(&placement);
    let vips = placement.assignment.iter().map(|(vip, assigned)| {
        let owners = assigned.owners.iter().filter(|owner| lives(owner.engine));
        let mut engines: Vec<Json> = owners
            .map(|owner| {
                let (engine, since) = (owner.engine.to_string(), owner.since.to_string());
                json!({ "engineid": engine, "role": "active", "since": since })
            })
            .collect();
        let next = standby.get(vip);
        engines.extend(next.map(
            |engine| json!({ "engineid": engine.to_string(), "role": "standby", "since": "0" }),
        ));
        json!({
            "vipid": vip.to_string(),
            "wanted": placement.wanted.to_string(),
            "engines": engines,
            "reason": placement.short.get(vip).map(ToString::to_string).unwrap_or_default(),
        })
    });
    let engines = group.engines.iter().map(|(engine, state)| {
        let owns = owned(&placement, *engine).filter(|_| *state != State::Down).count();
        json!({
            "engineid": engine.to_string(),
            "state": state.word(),
            "vips": owns.to_string(),
            "room": group.room(&placement, *engine).map(|room| room.to_string()),
        })
    });
    json!({
        "enginegroupid": placed.id.to_string(),
        "vips": vips.collect::<Vec<_>>(),
        "engines": engines.collect::<Vec<_>>(),
    })
}

fn owned(placement: &Placement, engine: u64) -> impl Iterator<Item = u64> {
    let all = placement.assignment.iter();
    all.filter(move |(_, assigned)| assigned.is_owned_by(engine)).map(|(vip, _)| *vip)
}

/// The VIPs whose engines differ: those that move, and those that a group gets or loses.
pub(super) fn moves(
    before: &BTreeMap<u64, Placed>,
    after: &BTreeMap<u64, Placed>,
    now_s: u64,
) -> Json {
    let old = engines_of_vips(before, now_s);
    let new = engines_of_vips(after, now_s);
    let mut all: Vec<&(u64, u64)> = old.keys().chain(new.keys()).collect();
    all.sort_unstable();
    all.dedup();
    let ids = |engines: Option<&(String, Vec<u64>)>| -> Vec<String> {
        engines.into_iter().flat_map(|(_, ids)| ids.iter().map(u64::to_string)).collect()
    };
    let moved = all.into_iter().filter_map(|key| {
        let (from, to) = (old.get(key), new.get(key));
        let (name, _) = to.or(from)?;
        let (from, to) = (ids(from), ids(to));
        (from != to).then(|| {
            json!({
                "vipid": key.1.to_string(),
                "name": name,
                "enginegroupid": key.0.to_string(),
                "from": from,
                "to": to,
            })
        })
    });
    moved.collect()
}

/// Name and engines of each VIP, by group and VIP.
fn engines_of_vips(
    groups: &BTreeMap<u64, Placed>,
    now_s: u64,
) -> BTreeMap<(u64, u64), (String, Vec<u64>)> {
    let of_group = |placed: &Placed| {
        let placement = placed.group.place(now_s);
        let all = placement.assignment.into_iter().map(|(vip, assigned)| {
            let name = placed.vips.get(&vip).map(|vip| vip.name.clone()).unwrap_or_default();
            ((placed.id, vip), (name, assigned.engines().into_iter().collect()))
        });
        all.collect::<Vec<_>>()
    };
    groups.values().flat_map(of_group).collect()
}
