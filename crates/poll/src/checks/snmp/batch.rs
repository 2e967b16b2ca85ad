//! Values of many items of one device, asked together: as many at once as the device bears.

use std::time::Duration;

use wire::snmp::{ErrorStatus, Oid, Pdu};

use super::{CheckReply, status_text};
use collect::snmp::{OidStyle, missing, value};

/// Names in one request; the field's server asks for as many.
const NAMES_MAX: u8 = 128;
/// Names in the first request to a device that nothing is known about.
const NAMES_FIRST: u8 = 16;
/// What was too much may be asked again after this time: devices get new software, and one lost
/// datagram proves nothing.
const FORGIVEN_AFTER: Duration = Duration::from_secs(3600);

/// What an interface has shown to bear.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Learned {
    /// Names that it has answered at once.
    good: u8,
    /// Names that were too many, and when (monotonic) that was.
    bad: Option<(u8, Duration)>,
}

impl Learned {
    /// How many names to ask at once.
    pub(super) fn suggest(&self, now: Duration) -> usize {
        let wanted = match self.good {
            0 => NAMES_FIRST,
            good => good.saturating_mul(2).clamp(NAMES_FIRST, NAMES_MAX),
        };
        let max = match self.bad {
            Some((bad, at)) if now < at + FORGIVEN_AFTER => bad.saturating_sub(1).max(1),
            _ => NAMES_MAX,
        };
        usize::from(wanted.min(max))
    }

    fn answered(&mut self, names: usize) {
        self.good = self.good.max(u8::try_from(names).unwrap_or(NAMES_MAX));
    }

    fn choked(&mut self, names: usize, now: Duration) {
        let names = u8::try_from(names).unwrap_or(NAMES_MAX);
        self.bad = Some((names, now));
        self.good = self.good.min(names.saturating_sub(1));
    }
}

/// One value that is wanted.
#[derive(Debug)]
struct Ask<J> {
    job: J,
    /// It is a `get[]`, whose errors read otherwise.
    get: bool,
}

/// Values that are wanted of one device.
#[derive(Debug)]
pub(super) struct Batch<J> {
    asks: Vec<Ask<J>>,
    oids: Vec<Oid>,
    /// How many are asked now.
    size: usize,
    /// So many were asked in vain; perhaps they were too many.
    suspect: usize,
}

impl<J> Batch<J> {
    pub(super) const fn new() -> Self {
        Self { asks: Vec::new(), oids: Vec::new(), size: 1, suspect: 0 }
    }

    pub(super) fn push(&mut self, job: J, oid: Oid, get: bool) {
        self.asks.push(Ask { job, get });
        self.oids.push(oid);
    }

    /// Number of missing values.
    pub(super) const fn len(&self) -> usize {
        self.asks.len()
    }

    pub(super) fn ask_at_once(&mut self, names: usize) {
        self.size = names.max(1);
    }

    /// What to ask now.
    pub(super) fn oids(&self) -> &[Oid] {
        &self.oids[..self.size.min(self.oids.len())]
    }

    fn end(&mut self, at: usize, reply: CheckReply, out: &mut impl FnMut(J, CheckReply)) {
        self.oids.remove(at);
        out(self.asks.remove(at).job, reply);
    }

    /// Takes an answer to [`Self::oids`]; what is left is asked next.
    pub(super) fn answer(
        &mut self,
        pdu: &Pdu<'_>,
        learned: &mut Learned,
        now: Duration,
        out: &mut impl FnMut(J, CheckReply),
    ) {
        let asked = self.oids().len();
        match pdu.error_status {
            ErrorStatus::NO_ERROR => self.values(pdu, learned, now, out),
            ErrorStatus::TOO_BIG if asked > 1 => {
                learned.choked(asked, now);
                self.size = asked / 2;
            }
            status => {
                let at = usize::try_from(pdu.error_index).unwrap_or(0).checked_sub(1);
                match at.filter(|at| *at < asked).or((asked == 1).then_some(0)) {
                    Some(at) => {
                        let reply = CheckReply::NotSupported(status_text(status));
                        self.end(at, reply, out);
                    }
                    // Which of them it was shows when they are asked one by one.
                    None => self.size = 1,
                }
            }
        }
    }

    fn values(
        &mut self,
        pdu: &Pdu<'_>,
        learned: &mut Learned,
        now: Duration,
        out: &mut impl FnMut(J, CheckReply),
    ) {
        let asked = self.oids().len();
        let mut replies = Vec::with_capacity(asked);
        for (one, (oid, ask)) in pdu.varbinds.zip(self.oids.iter().zip(&self.asks)).take(asked) {
            let Ok((name, found)) = one else { break };
            if name != oid.borrow() {
                break;
            }
            replies.push(match (missing(&found), ask.get) {
                (None, true) => CheckReply::Value(value(&found, OidStyle::Numeric)),
                (None, false) => CheckReply::Value(value(&found, OidStyle::Named)),
                (Some(why), true) => {
                    CheckReply::NotSupported(format!("cannot get SNMP result: {why}"))
                }
                (Some(why), false) => CheckReply::NotSupported(why.to_owned()),
            });
        }
        if replies.is_empty() {
            if asked > 1 {
                learned.choked(asked, now);
                self.size = 1;
            } else {
                let why = "SNMP error: the device answered for another OID than it was asked for.";
                self.end(0, CheckReply::NotSupported(why.to_owned()), out);
            }
            return;
        }
        if asked > 1 || self.suspect > 0 {
            learned.answered(asked);
            if self.suspect > asked {
                learned.choked(self.suspect, now);
                self.suspect = 0;
            }
            self.size = learned.suggest(now).max(self.size);
        }
        let count = replies.len();
        self.oids.drain(..count);
        for (ask, reply) in self.asks.drain(..count).zip(replies) {
            out(ask.job, reply);
        }
    }

    /// No answer came. `true` = fewer are asked now; otherwise the device is not there.
    pub(super) fn timed_out(&mut self, learned: &Learned) -> bool {
        let asked = self.oids().len();
        if asked <= 1 || asked <= usize::from(learned.good) {
            return false;
        }
        self.suspect = asked;
        self.size = usize::from(learned.good).clamp(1, asked - 1);
        true
    }

    /// Ends all that is left: the reply of each tells what `reply` makes of its name and kind.
    pub(super) fn end_all(
        &mut self,
        reply: impl Fn(&Oid, bool) -> CheckReply,
        out: &mut impl FnMut(J, CheckReply),
    ) {
        for (ask, oid) in self.asks.drain(..).zip(self.oids.drain(..)) {
            out(ask.job, reply(&oid, ask.get));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_what_a_device_bears() {
        let at = Duration::from_secs;
        let mut learned = Learned::default();
        assert_eq!(learned.suggest(at(1)), 16);
        learned.answered(16);
        assert_eq!(learned.suggest(at(1)), 32);
        learned.answered(128);
        assert_eq!(learned.suggest(at(1)), 128);
        learned.choked(20, at(1));
        assert_eq!((learned.good, learned.suggest(at(2))), (19, 19));
        learned.choked(1, at(2));
        assert_eq!(learned.suggest(at(2)), 1);
        // After an hour it may try more.
        assert_eq!(learned.suggest(at(3602)), 16);
    }

    #[test]
    fn a_dead_device_does_not_look_like_a_weak_one() {
        let oid = Oid::parse("1.3").unwrap();
        let mut batch = Batch::new();
        (0..5).for_each(|n| batch.push(n, oid.clone(), false));
        batch.ask_at_once(16);
        let learned = Learned::default();
        assert!(batch.timed_out(&learned));
        assert_eq!(batch.oids().len(), 1);
        assert!(!batch.timed_out(&learned));
        let mut ended = Vec::new();
        batch.end_all(|_, _| CheckReply::Nothing, &mut |job, _| ended.push(job));
        assert_eq!(ended, [0, 1, 2, 3, 4]);
    }
}
