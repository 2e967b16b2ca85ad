//! What is due after the escalator has done all that there was to do: nothing that is due is left, and it wakes up in time.

use std::sync::Arc;
use std::time::Duration;

use super::seen::{Alert, Seen};
use super::world::{Outcome, World};

/// More often in turn, the escalator does not go on at once.
const RESTLESS_MAX: u32 = 100;

impl World {
    /// After all is done that there is to do: nothing is due, nothing is handed over that is not on its way, and the escalator
    /// wakes up in time for the next thing.
    pub(super) fn check_dues(&mut self, wait: Duration) -> Outcome {
        self.restless = if wait.is_zero() { self.restless + 1 } else { 0 };
        if self.restless > RESTLESS_MAX {
            return Err("the escalator does not come to rest".to_owned());
        }
        let (now, config) = (self.now(), Arc::clone(&self.server().config));
        let seen = self.look(&config);
        let dues = seen.escalations.iter().filter_map(|(key, one)| Some((key, one.waits.due()?)));
        let mut next = i64::MAX;
        for (key, due) in dues {
            if due <= now {
                return Err(format!("the escalation {key:?} was due"));
            }
            next = next.min(due);
        }
        let handed = self.receivers.handed();
        let is_stopped = self.receivers.queue.is_full(now);
        for alert in seen.alerts.iter().filter(|alert| alert.is_open()) {
            if (alert.due == 0) != handed.contains(&alert.id) {
                return Err(format!("handed over: {handed:?}, but {alert:?}"));
            }
            if alert.due > 0 && !self.waits_for_another(alert.id, &seen) && !is_stopped {
                // With no wait, the escalator goes on at once.
                if alert.due <= now && !wait.is_zero() && !self.receivers.queue.stops() {
                    return Err(format!("it was due: {alert:?}"));
                }
                next = next.min(alert.due.max(now));
            }
        }
        let wait = i64::try_from(wait.as_secs()).unwrap();
        if !self.receivers.queue.stops() && wait > (next - now).max(0) {
            return Err(format!("waits for {wait} s, but something is due in {} s", next - now));
        }
        Ok(())
    }

    /// The alert cannot be handed over before another one has ended.
    fn waits_for_another(&self, id: u64, seen: &Seen) -> bool {
        let Some(alert) = seen.alerts.iter().find(|one| one.id == id) else { return false };
        let media_type = self.state.estate.media_types.get(&alert.media_type());
        let open = || seen.alerts.iter().filter(|one| one.is_open());
        let window = match media_type.map(|one| one.sessions) {
            Some(0) => 200,
            Some(sessions) => 2 * sessions,
            None => 2,
        };
        let is_before = |one: &Alert| {
            one.id < id
                && one.message.problem == alert.message.problem
                && one.message.address == alert.message.address
        };
        self.receivers.under_way(alert.media_type()) >= window
            // One that was deleted is living until the escalator looks at it again.
            || media_type.is_none_or(|one| one.living)
                && (open().any(is_before) || self.receivers.is_before(&alert.message))
    }
}
