//! Trends meet what the driver has of their hours.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use model::{HOUR_S, ItemId, Trend, TrendValues};

use super::{Folded, Folder, Key, merge};
use crate::{Driver, Error, Kinds, Span, TrendHour};

/// Stored trends of one item together with what waits to be written, oldest first.
pub fn with_pending(mut stored: Vec<Trend>, pending: &[Folded]) -> Vec<Trend> {
    for Folded { trend, merge: maybe_stored } in pending {
        let same = |one: &&mut Trend| {
            one.hour == trend.hour
                && std::mem::discriminant(&one.values) == std::mem::discriminant(&trend.values)
        };
        match stored.iter_mut().find(same) {
            Some(part) if *maybe_stored => *part = merge(part, trend),
            Some(part) => *part = *trend,
            None => stored.push(*trend),
        }
    }
    stored.sort_by_key(|trend| trend.hour);
    stored
}

/// Writes what a folder handed out, merged with what is stored where that may be part of it. After
/// an error, call it again with the same, and what was handed out meanwhile: what it had merged
/// it notes, so that nothing counts twice.
pub fn write(driver: &mut dyn Driver, folded: &mut Vec<Folded>) -> Result<(), Error> {
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut merged: Vec<Folded> = Vec::with_capacity(folded.len());
    for next in folded.iter() {
        let Trend { item, hour, values, .. } = next.trend;
        let key = (item, hour, matches!(values, TrendValues::Unsigned { .. }));
        match places.entry(key) {
            Entry::Occupied(place) if next.merge => {
                let earlier = &mut merged[*place.get()].trend;
                *earlier = merge(earlier, &next.trend);
            }
            Entry::Occupied(place) => merged[*place.get()] = *next,
            Entry::Vacant(place) => {
                place.insert(merged.len());
                let trend = if next.merge { with_stored(driver, &next.trend)? } else { next.trend };
                merged.push(Folded { trend, merge: false });
            }
        }
    }
    *folded = merged;
    let trends: Vec<Trend> = folded.iter().map(|folded| folded.trend).collect();
    driver.write_trends(&trends)
}

/// The trend with what is stored of its hour.
fn with_stored(driver: &dyn Driver, trend: &Trend) -> Result<Trend, Error> {
    let kind = std::mem::discriminant(&trend.values);
    let stored = driver.trends(trend.item, Span::new(trend.hour, trend.hour))?;
    let same_type = stored.iter().find(|stored| std::mem::discriminant(&stored.values) == kind);
    Ok(same_type.map_or(*trend, |stored| merge(stored, trend)))
}

/// Has an item's hour, of which the driver expects trends, folded again from what is stored.
pub fn refold_late(
    driver: &mut dyn Driver,
    folder: &mut Folder,
    item: ItemId,
    hour: u32,
) -> Result<(), Error> {
    let view = driver.view(&[item], Span::new(hour, hour.saturating_add(HOUR_S - 1)));
    let (samples, stored) = (view.samples(item, Kinds::VALUES)?, view.trends(item)?);
    let folded = folder.refold_hour(item, &samples, &stored);
    for unsigned in [false, true] {
        // Neither history nor trends: deleted by retention, or never stored.
        if !folded[usize::from(unsigned)] {
            driver.forget_trends(&[TrendHour { item, hour, unsigned }]);
        }
    }
    Ok(())
}
