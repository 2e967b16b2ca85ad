//! What takes several requests: walks, rows by name, discovery. Each asks one request at a time
//! and is told the answer; who moves it does sending and waiting.

use eval::json::write_string;
use model::InterfaceId;
use wire::snmp::{ErrorStatus, Oid, OidRef, Pdu, PduKind, Value};

use super::by_name::{ByName, Indexes};
use super::plan::{Plan, Root};
use super::{CheckReply, status_text};
use collect::snmp::{OidStyle, missing, value, walk_line};

/// Octets that a walk's text may have: what an item's value can hold.
const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Rows of a discovery.
const ROWS_MAX: usize = 100_000;

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
    root: Root,
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

/// What is under way.
#[derive(Debug)]
pub(super) enum Work {
    Walk {
        roots: std::vec::IntoIter<Root>,
        cursor: Cursor,
        pace: Pace,
        text: String,
    },
    Index(ByName),
    Discovery {
        columns: std::vec::IntoIter<(String, Root)>,
        cursor: Cursor,
        pace: Pace,
        name: String,
        rows: Rows,
    },
}

/// Rows of a discovery in the order in which they were seen.
#[derive(Debug, Default)]
pub(super) struct Rows {
    by_index: std::collections::HashMap<String, usize>,
    rows: Vec<(String, Vec<(String, String)>)>,
}

impl Rows {
    fn put(&mut self, index: String, name: &str, value: String) {
        let at = match self.by_index.get(&index) {
            Some(at) => *at,
            None => {
                self.by_index.insert(index.clone(), self.rows.len());
                self.rows.push((index, Vec::new()));
                self.rows.len() - 1
            }
        };
        if let Some((_, row)) = self.rows.get_mut(at) {
            row.push((name.to_owned(), value));
        }
    }

    fn to_json(&self) -> String {
        let mut out = String::from("[");
        for (at, (index, row)) in self.rows.iter().enumerate() {
            out.push_str(if at > 0 { ",{\"{#SNMPINDEX}\":" } else { "{\"{#SNMPINDEX}\":" });
            write_string(&mut out, index);
            for (name, value) in row {
                out.push(',');
                write_string(&mut out, name);
                out.push(':');
                write_string(&mut out, value);
            }
            out.push('}');
        }
        out.push(']');
        out
    }
}

impl Work {
    /// `None` for plans that are single values.
    pub(super) fn new(plan: Plan, pace: Pace) -> Option<Self> {
        match plan {
            Plan::Value(_) | Plan::Get(_) => None,
            Plan::Walk(roots) => {
                let mut roots = roots.into_iter();
                let cursor = Cursor::new(roots.next()?, pace);
                Some(Self::Walk { roots, cursor, pace, text: String::new() })
            }
            Plan::Index { column, names, names_text, wanted } => {
                Some(Self::Index(ByName::new(column, names, names_text, wanted, pace)))
            }
            Plan::Discovery(columns) => {
                let mut columns = columns.into_iter();
                let (name, root) = columns.next()?;
                let cursor = Cursor::new(root, pace);
                Some(Self::Discovery { columns, cursor, pace, name, rows: Rows::default() })
            }
        }
    }

    /// Called before each request.
    pub(super) fn prepare(&mut self, interface: InterfaceId, indexes: &Indexes) {
        if let Self::Index(row) = self {
            row.prepare(interface, indexes);
        }
    }

    /// What to ask now.
    pub(super) fn ask(&self) -> Asking<'_> {
        match self {
            Self::Index(row) => row.ask(),
            Self::Walk { cursor, .. } | Self::Discovery { cursor, .. } => cursor.ask(),
        }
    }

    /// The OID that texts of a timeout name, where they name one.
    pub(super) fn shown(&self) -> Option<&Oid> {
        match self {
            Self::Walk { cursor, .. } => Some(cursor.root.oid()),
            _ => None,
        }
    }

    /// Takes an answer; `Some` = it has ended.
    pub(super) fn answer(
        &mut self,
        pdu: &Pdu<'_>,
        interface: InterfaceId,
        indexes: &mut Indexes,
    ) -> Option<CheckReply> {
        let done = match self {
            Self::Walk { .. } => self.walked(pdu),
            Self::Index(row) => row.answer(pdu, interface, indexes),
            Self::Discovery { .. } => self.discovered(pdu),
        };
        match done {
            Ok(None) => None,
            Ok(Some(text)) => Some(CheckReply::Value(text)),
            Err(why) => Some(CheckReply::NotSupported(why)),
        }
    }

    fn walked(&mut self, pdu: &Pdu<'_>) -> Result<Option<String>, String> {
        let Self::Walk { roots, cursor, pace, text } = self else { return Ok(None) };
        let mut too_long = false;
        let step = cursor.answer(pdu, &mut |name, found| {
            if !text.is_empty() {
                text.push('\n');
            }
            walk_line(text, name, found);
            too_long = text.len() > TEXT_BYTES_MAX;
            !too_long
        })?;
        if too_long {
            return Err("SNMP error: the walk brings more than 16 MiB.".to_owned());
        }
        if step == Step::More {
            return Ok(None);
        }
        match roots.next() {
            Some(root) => {
                *cursor = Cursor::new(root, *pace);
                Ok(None)
            }
            None => Ok(Some(std::mem::take(text))),
        }
    }

    fn discovered(&mut self, pdu: &Pdu<'_>) -> Result<Option<String>, String> {
        let Self::Discovery { columns, cursor, pace, name, rows } = self else { return Ok(None) };
        let root = cursor.root.oid().clone();
        let step = cursor.answer(pdu, &mut |oid, found| {
            if let Some(index) = oid.index_below(root.borrow()) {
                rows.put(index, name, value(found, OidStyle::Named));
            }
            rows.rows.len() < ROWS_MAX
        })?;
        if step == Step::More {
            return Ok(None);
        }
        match columns.next() {
            Some((next, root)) => {
                *name = next;
                *cursor = Cursor::new(root, *pace);
                Ok(None)
            }
            None => Ok(Some(rows.to_json())),
        }
    }
}
