//! Stages 2 to 4, in this order for each round: *WAL → value cache → acknowledge*. Evaluation
//! follows. A round that the driver refuses is acknowledged to nobody, evaluated by nobody and
//! seen by nobody: the disk may have space again with the next.

use std::time::Duration;

use history::trends::Folder;
use history::{Driver, ValueCache};

use crate::gauges::Gauges;
use crate::round::{Kept, Round};

/// Samples whose hours are looked at before they are folded.
const SAMPLES_AHEAD: usize = 32;

/// A failing driver is complained about this often.
const COMPLAIN_EVERY: Duration = Duration::from_secs(10);

/// Remembers when the last complaint was.
#[derive(Debug, Default)]
pub(crate) struct Syncer {
    next_complaint: Duration,
}

impl Syncer {
    /// Returns whether the round is kept.
    pub(crate) fn commit(
        &mut self,
        round: &mut Round,
        cache: &mut ValueCache,
        driver: &mut dyn Driver,
        folder: &mut Folder,
        (gauges, now): (&Gauges, Duration),
    ) -> bool {
        if !round.late.is_empty() {
            driver.expect_trends(&round.late);
        }
        if !round.stored.is_empty()
            && let Err(error) = driver.write(&round.stored)
        {
            gauges.lost(round.stored.len() as u64);
            if now >= self.next_complaint {
                self.next_complaint = now + COMPLAIN_EVERY;
                let values = round.stored.len();
                tracing::error!(%error, values, "history rejects values; not acknowledging them");
            }
            // Dropped unreported: waiting senders learn that nothing was stored.
            round.acks.clear();
            return false;
        }
        cache.feed(&round.stored);
        for (ack, processed, failed) in round.acks.drain(..) {
            ack.report(processed, failed);
        }
        let sample = |&(kept, at): &(Kept, u32)| round.sample(kept, at);
        for trends in round.trends.chunks(SAMPLES_AHEAD) {
            folder.look_at(trends.iter().filter_map(sample).map(|sample| sample.item));
            trends.iter().filter_map(sample).for_each(|sample| folder.fold(sample));
        }
        gauges.round(&round.tally);
        true
    }
}
