//! A walk below one root: one request at a time.

use wire::snmp::{ErrorStatus, Oid, OidRef, Pdu, PduKind, Value};

use super::plan::Root;
use super::status_text;
use collect::snmp::missing;

/// A request to be sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asking<'a> {
    pub(super) kind: PduKind,
    pub(super) oids: &'a [Oid],
    pub(super) max_repetitions: i32,
}

/// How walks go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pace {
    /// Values per request; 0 = version 1, or forbidden: one by one.
    pub(super) repetitions: i32,
    /// The interface allows several names in one request.
    pub(super) together: bool,
}

/// A walk below one root.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) root: Root,
    /// The last name seen: the next is asked.
    last: Oid,
    repetitions: i32,
    found: bool,
    /// Nothing is below the root: perhaps it has a value itself.
    itself: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    More,
    Done,
}

impl Cursor {
    pub(super) fn new(root: Root, pace: Pace) -> Self {
        let last = root.oid().clone();
        Self { root, last, repetitions: pace.repetitions, found: false, itself: false }
    }

    pub(super) fn ask(&self) -> Asking<'_> {
        let kind = match self.repetitions {
            _ if self.itself => PduKind::Get,
            0 => PduKind::GetNext,
            _ => PduKind::GetBulk,
        };
        let max_repetitions = if kind == PduKind::GetBulk { self.repetitions } else { 0 };
        Asking { kind, oids: std::slice::from_ref(&self.last), max_repetitions }
    }

    /// `each` gets names and values; `false` from it ends the walk.
    pub(super) fn answer(
        &mut self,
        pdu: &Pdu<'_>,
        each: &mut dyn FnMut(OidRef<'_>, &Value<'_>) -> bool,
    ) -> Result<Step, String> {
        match pdu.error_status {
            ErrorStatus::NO_ERROR => {}
            // Version 1 says so at the end of everything.
            ErrorStatus::NO_SUCH_NAME if self.found => return Ok(Step::Done),
            ErrorStatus::TOO_BIG | ErrorStatus::GEN_ERR if self.repetitions > 1 => {
                self.repetitions /= 2;
                return Ok(Step::More);
            }
            status => return Err(status_text(status)),
        }
        let mut last: Option<OidRef<'_>> = None;
        for one in pdu.varbinds {
            let Ok((name, found)) = one else { break };
            if self.itself {
                if name == self.root.oid().borrow() && missing(&found).is_none() {
                    each(name, &found);
                }
                return Ok(Step::Done);
            }
            if found == Value::EndOfMibView || !self.root.holds(name) {
                return Ok(self.below_done());
            }
            // Agents that go in circles would never end.
            if name <= last.unwrap_or(self.last.borrow()) {
                return Err(format!("SNMP error: the device does not go on after OID {name}."));
            }
            last = Some(name);
            self.found = true;
            if !each(name, &found) {
                return Ok(Step::Done);
            }
        }
        match last {
            Some(last) => {
                self.last = last.to_oid();
                Ok(Step::More)
            }
            // An answer without any name goes on nowhere.
            None => Ok(self.below_done()),
        }
    }

    fn below_done(&mut self) -> Step {
        // The field's server asks for the root itself only where it walks in large steps.
        if self.found || self.itself || self.repetitions == 0 {
            return Step::Done;
        }
        self.itself = true;
        self.last = self.root.oid().clone();
        Step::More
    }
}
