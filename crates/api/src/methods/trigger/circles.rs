//! Circles of trigger dependencies.

use std::collections::{BTreeMap, BTreeSet};

use config::Edit;
use config::db::query_by_ids;

use crate::error::{ApiError, ApiResult};

/// Which triggers a trigger depends on.
type Dependencies = BTreeMap<u64, Vec<u64>>;

/// Refuses circles of dependencies through these triggers and those that inherit from them. Call it
/// when all changes of the call are written: each of them alone may be right.
pub(super) fn refuse_circles(edit: &mut Edit<'_>, changed: &[u64]) -> ApiResult<()> {
    let mut start: BTreeSet<u64> = changed.iter().copied().collect();
    let mut frontier = changed.to_vec();
    while !frontier.is_empty() {
        let sql = "SELECT triggerid FROM triggers WHERE templateid IN ({ids})";
        let rows = query_by_ids(edit, sql, &[], &frontier)?;
        let new = rows.iter().map(|row| row.id("triggerid"));
        frontier = new.filter(|id| start.insert(*id)).collect();
    }
    let on = dependencies(edit, &start)?;
    match start.iter().find_map(|id| circle(&on, *id)) {
        None => Ok(()),
        Some(way) => Err(refused(edit, &way)?),
    }
}

/// All that these triggers depend on, over any number of steps.
fn dependencies(edit: &mut Edit<'_>, start: &BTreeSet<u64>) -> ApiResult<Dependencies> {
    let mut on = Dependencies::new();
    let mut frontier: Vec<u64> = start.iter().copied().collect();
    while !frontier.is_empty() {
        let sql = "SELECT triggerid, depends_on FROM trigger_depends WHERE triggerid IN ({ids})";
        let rows = query_by_ids(edit, sql, &[], &frontier)?;
        for id in frontier {
            on.insert(id, Vec::new());
        }
        for row in &rows {
            on.entry(row.id("triggerid")).or_default().push(row.id("depends_on"));
        }
        let next: BTreeSet<u64> = rows.iter().map(|row| row.id("depends_on")).collect();
        frontier = next.into_iter().filter(|id| !on.contains_key(id)).collect();
    }
    Ok(on)
}

/// The way from a trigger back to itself: what it depends on, …, itself.
fn circle(on: &Dependencies, id: u64) -> Option<Vec<u64>> {
    let mut from: BTreeMap<u64, u64> = BTreeMap::new();
    let mut frontier = vec![id];
    while let Some(at) = frontier.pop() {
        for next in on.get(&at).into_iter().flatten() {
            if *next == id {
                let mut way = vec![id];
                let mut back = at;
                while back != id {
                    way.push(back);
                    back = from[&back];
                }
                way.reverse();
                return Some(way);
            }
            if !from.contains_key(next) {
                from.insert(*next, at);
                frontier.push(*next);
            }
        }
    }
    None
}

fn refused(edit: &mut Edit<'_>, way: &[u64]) -> ApiResult<ApiError> {
    let names = crate::write::names(edit, "triggers", "triggerid", "description", way)?;
    let name = |id: Option<&u64>| id.and_then(|id| names.get(id)).map_or("", String::as_str);
    let shown: Vec<String> =
        way.iter().chain(way.first()).map(|id| format!("\"{}\"", name(Some(id)))).collect();
    Ok(ApiError::params(format!(
        "Trigger \"{}\" cannot depend on the trigger \"{}\", because a circular linkage ({}) would \
         occur.",
        name(way.last()),
        name(way.first()),
        shown.join(" -> ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_is_found() {
        let on = |pairs: &[(u64, u64)]| {
            let mut on = Dependencies::new();
            pairs.iter().for_each(|(id, other)| on.entry(*id).or_default().push(*other));
            on
        };
        for (pairs, way) in [
            (&[(1, 2), (2, 3)][..], None),
            (&[(1, 1)], Some(vec![1])),
            (&[(1, 2), (2, 1)], Some(vec![2, 1])),
            (&[(1, 2), (2, 3), (3, 1)], Some(vec![2, 3, 1])),
            // A circle further up is none of this trigger.
            (&[(1, 2), (2, 3), (3, 2)], None),
            (&[(1, 2), (1, 3), (2, 4), (3, 4), (4, 5)], None),
        ] {
            assert_eq!(circle(&on(pairs), 1), way, "{pairs:?}");
        }
    }
}
