//! How far back the functions of an item look: what the value cache has to hold.

use config::Snapshot;
use config::snapshot::Item;
use history::value_cache::Need;

use crate::functions::Compiler;
use crate::slots::Place;

/// Periods end at the evaluation, which may be a little later than the newest value.
const SLACK_S: u32 = 60;

/// Need of all functions of this shard's triggers that name the item.
pub(crate) fn of_item(
    place: Place,
    snapshot: &Snapshot,
    compiler: &mut Compiler,
    item: &Item,
) -> Need {
    let mut need = Need::default();
    for id in &item.triggers {
        let Some(trigger) = snapshot.triggers.get(id).filter(|t| t.enabled) else { continue };
        if place.evaluator(snapshot, trigger) != Some(place.index) {
            continue;
        }
        for function in trigger.functions.iter().filter(|f| f.item == item.id) {
            let Ok(compiled) = &*compiler.compile(function) else { continue };
            let back = compiled.lookback();
            // A count that lies back in time: no span says how long that is, the driver answers.
            if back.shifted && back.seconds == 0 {
                continue;
            }
            need.count = need.count.max(u32::try_from(back.values).unwrap_or(u32::MAX));
            if back.seconds > 0 && &*function.name != "nodata" {
                need.seconds = need.seconds.max(back.seconds.saturating_add(SLACK_S));
            }
        }
    }
    need
}
