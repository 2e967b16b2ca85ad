//! Which items of a schedule are late, and why.

use collect::queue::{LATE_S, Late, QueueReport, Reason};
use model::Available;

use super::wheel::Place;
use super::{Pace, Schedule};

impl Schedule {
    /// What is late at `now` by at least 5 seconds. `pressed` = no check begins, because its value
    /// would find no room.
    pub(crate) fn queue(&self, now: u32, limit: usize, pressed: bool) -> QueueReport {
        let mut report = QueueReport::default();
        for slot in self.slots.iter() {
            report.scheduled += 1;
            let late_s = now.saturating_sub(slot.due);
            let place = slot.place();
            if late_s < LATE_S || !matches!(place, Place::Ready | Place::Flight) {
                continue;
            }
            let Some(item) = &slot.item else { continue };
            let lane = self.lane_ref(slot.lane());
            let reason = if lane.state.available == Available::No {
                Reason::Unavailable
            } else if place == Place::Flight {
                Reason::InFlight
            } else if lane.state.failing() {
                Reason::Unreachable
            } else if lane.line.is_some() && lane.in_flight == 0 {
                if lane.line == Some(Pace::Slow) { Reason::HostBusy } else { Reason::TypeBusy }
            } else if lane.in_flight > 0 && (lane.host.is_some() || lane.group.is_some()) {
                Reason::HostBusy
            } else if pressed {
                Reason::HistoryBusy
            } else {
                Reason::PollerBusy
            };
            let (id, host, kind, due) = (item.id, item.host, item.kind, slot.due);
            report.add(Late { item: id, host, kind, due, late_s, reason }, limit);
        }
        report.limit(limit);
        report
    }
}
