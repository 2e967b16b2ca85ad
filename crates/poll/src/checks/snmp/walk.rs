//! What takes several requests: walks, rows by name, discovery. Each asks one request at a time
//! and is told the answer; who moves it does sending and waiting.

use eval::json::write_string;
use model::InterfaceId;
use wire::snmp::{Oid, Pdu};

use super::CheckReply;
use super::by_name::{ByName, Indexes};
use super::cursor::{Asking, Cursor, Pace, Step};
use super::plan::{Plan, Root};
use collect::snmp::{OidStyle, value, walk_line};

/// Octets that a walk's text may have: what an item's value can hold.
const TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Rows of a discovery.
const ROWS_MAX: usize = 100_000;

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
