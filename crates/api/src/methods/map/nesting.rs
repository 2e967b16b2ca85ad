//! Maps that show other maps.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{Reader, query_by_ids};
use const_format::formatcp;
use objects::MapElementType;

use crate::error::ApiResult;

const MAP: i64 = MapElementType::Map.number();

/// Which of the maps below `{ids}` shows which.
const SQL: &str = formatcp!(
    "WITH RECURSIVE below(id) AS (SELECT sysmapid FROM maps WHERE sysmapid IN ({{ids}}) \
     UNION SELECT e.elementid FROM map_elements e JOIN below ON e.sysmapid = below.id \
     WHERE e.elementtype = {MAP}) \
     SELECT e.sysmapid, e.elementid FROM below \
     JOIN map_elements e ON e.sysmapid = below.id AND e.elementtype = {MAP}"
);

/// Some maps and all that they show, also through others: for each, the maps that it shows itself.
pub(super) struct Nesting(BTreeMap<u64, BTreeSet<u64>>);

impl Nesting {
    pub(super) fn load(connection: &mut dyn Reader, maps: &[u64]) -> ApiResult<Self> {
        let mut shown: BTreeMap<u64, BTreeSet<u64>> =
            maps.iter().map(|id| (*id, BTreeSet::new())).collect();
        for row in query_by_ids(connection, SQL, &[], maps)? {
            let (map, one) = (row.id("sysmapid"), row.id("elementid"));
            shown.entry(map).or_default().insert(one);
            shown.entry(one).or_default();
        }
        Ok(Self(shown))
    }

    pub(super) fn maps(&self) -> Vec<u64> {
        self.0.keys().copied().collect()
    }

    /// The maps that this one shows itself.
    pub(super) fn shown(&self, map: u64) -> impl Iterator<Item = u64> {
        self.0.get(&map).into_iter().flatten().copied()
    }

    /// All maps, each after those that it shows.
    pub(super) fn order(&self) -> Order {
        let mut missing: BTreeMap<u64, usize> =
            self.0.iter().map(|(map, shown)| (*map, shown.len())).collect();
        let mut above: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (map, shown) in &self.0 {
            shown.iter().for_each(|one| above.entry(*one).or_default().push(*map));
        }
        let mut ordered: Vec<u64> =
            missing.iter().filter(|(_, count)| **count == 0).map(|(map, _)| *map).collect();
        let mut next = 0;
        while let Some(map) = ordered.get(next) {
            next += 1;
            for map in above.remove(map).unwrap_or_default() {
                if let Some(count) = missing.get_mut(&map) {
                    *count -= 1;
                    if *count == 0 {
                        ordered.push(map);
                    }
                }
            }
        }
        missing.retain(|_, count| *count > 0);
        Order { ordered, circular: missing.into_keys().collect() }
    }
}

/// See [`Nesting::order`].
pub(super) struct Order {
    pub(super) ordered: Vec<u64>,
    /// Maps that show themselves through others, and those that show such maps: they have no order.
    pub(super) circular: Vec<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(shown: &[(u64, &[u64])]) -> (Vec<u64>, Vec<u64>) {
        let set = |(map, shown): &(u64, &[u64])| (*map, shown.iter().copied().collect());
        let order = Nesting(shown.iter().map(set).collect()).order();
        (order.ordered, order.circular)
    }

    #[test]
    fn maps_come_after_those_that_they_show() {
        assert_eq!(
            order(&[(1, &[2, 3]), (2, &[3]), (3, &[]), (4, &[])]),
            (vec![3, 4, 2, 1], vec![])
        );
        assert_eq!(
            order(&[(1, &[2]), (2, &[3, 4]), (3, &[2]), (4, &[]), (5, &[5])]),
            (vec![4], vec![1, 2, 3, 5])
        );
    }

    #[test]
    fn long_chains_and_many_paths_are_ordered_in_linear_time() {
        const COUNT: u64 = 50_000;
        // Each map shows the next two: the number of paths grows with every map.
        let shown = |map: u64| (map, (map + 1..=(map + 2).min(COUNT)).collect());
        let order = Nesting((1..=COUNT).map(shown).collect()).order();
        assert_eq!(order.ordered.first(), Some(&COUNT));
        assert_eq!((order.ordered.len() as u64, order.circular.len()), (COUNT, 0));
    }
}
