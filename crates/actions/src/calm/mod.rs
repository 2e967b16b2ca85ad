//! What spares users messages that they need not act on.

mod history;
mod inhibition;

use model::alert::learnt::Flapping;
use serde_json::Value as Json;

use crate::escalation::Calm;
pub(crate) use history::{Course, FLAPPING_S, History};
pub(crate) use inhibition::{Freed, Inhibitors, PastInhibitors, freed};

/// Longest time that the first step waits for the end of a problem, if an action does not say: 10 minutes.
const MAX_HOLD_S: i64 = 600;
/// How much longer a hold is than most problems: their ends take a moment to be known.
const GRACE_S: i64 = 5;

/// What an action does about triggers that open problems too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Calming {
    /// Step 1 waits as long as most problems of the trigger lasted.
    pub(crate) transients: bool,
    /// Of a flapping trigger one message is sent, and others when it is quiet.
    pub(crate) flapping: bool,
    /// The longest of such waits.
    pub(crate) max_hold_s: i64,
}

impl Calming {
    /// As it is stored; what a later version wrote counts as nothing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let settings: Json = serde_json::from_str(text).ok()?;
        let is_on = |name: &str| settings[name].as_i64() == Some(1);
        let hold = settings["max_hold"].as_str().and_then(eval::num::parse_seconds);
        let calming = Self {
            transients: is_on("transients"),
            flapping: is_on("flapping"),
            max_hold_s: hold.map_or(MAX_HOLD_S, i64::from),
        };
        (calming.transients || calming.flapping).then_some(calming)
    }
}

/// A problem when its escalation is looked at, now or in a rehearsal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) event: u64,
    /// When it began, seconds since 1970.
    pub(crate) opened: i64,
    pub(crate) has_ended: bool,
    /// A more severe problem with equal tags that is open.
    pub(crate) inhibitor: Option<u64>,
    /// The last problems of its trigger; `None` = the action learns nothing.
    pub(crate) history: Option<&'a History>,
    /// Of its trigger.
    pub(crate) flapping: Option<Flapping>,
    /// The action has sent a message about the trigger since it began flapping.
    pub(crate) is_told: bool,
}

impl Known<'_> {
    /// What spares users the messages that are due.
    pub(crate) fn calm(&self, calming: Option<&Calming>, now: i64) -> Option<Calm> {
        let inhibited = self.inhibitor.map(|by| Calm::Inhibited { by });
        inhibited.or_else(|| self.flapping(calming?)).or_else(|| self.transient(calming?, now))
    }

    pub(crate) fn flapping(&self, calming: &Calming) -> Option<Calm> {
        let flapping = self.flapping.filter(|_| calming.flapping)?;
        // Messages about earlier changes are sent as usual.
        if flapping.since.is_some_and(|since| self.event < since) {
            return None;
        }
        let is_known = flapping.since.is_none() || self.is_told;
        Some(Calm::Flapping { until: flapping.until, first: !is_known })
    }

    /// The problem may be one of those that end by themselves.
    fn transient(&self, calming: &Calming, now: i64) -> Option<Calm> {
        let history = self.history.filter(|_| calming.transients)?;
        let within = history.learnt(0, self.event, now).within?;
        let until = self.opened.saturating_add(within).saturating_add(GRACE_S);
        // A look may come late.
        let holds = if self.has_ended {
            history.end(self.event).is_some_and(|end| end <= until)
        } else {
            now < until
        };
        (holds && within <= calming.max_hold_s).then_some(Calm::Transient { until })
    }

    /// It has ended, and its trigger has another open problem.
    pub(crate) fn reopened(&self, calming: Option<&Calming>) -> bool {
        calming.is_some_and(|calming| calming.flapping)
            && self.has_ended
            && self.history.is_some_and(|history| history.is_open_again(self.event))
    }
}
