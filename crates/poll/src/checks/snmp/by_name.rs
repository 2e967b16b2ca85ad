//! `OID["index","OID of names","name"]`: the value in the row that has this name.
//!
//! A walk over the names tells all rows, which are kept for the other items of the device. While a
//! row is known, one request asks for its name and its value together, and only another name
//! there leads to a walk again. Devices that renumber their rows cost one walk.

use std::collections::HashMap;

use model::InterfaceId;
use wire::snmp::{ErrorStatus, Oid, Pdu, PduKind};

use super::cursor::{Asking, Cursor, Pace, Step};
use super::plan::Root;
use super::status_text;
use collect::snmp::{OidStyle, missing, value};

/// Values looked at for a name.
const NAMES_MAX: usize = 1_000_000;
/// Rows kept of one column of names.
const TABLE_ROWS_MAX: usize = 20_000;
/// Rows kept by one poller: some hundred octets each.
const ROWS_MAX: usize = 500_000;
/// Octets of a name that is kept.
const NAME_BYTES_MAX: usize = 255;

/// Where the rows of a table are: of each name the part of the OID behind the column's, in BER.
type Rows = HashMap<Box<str>, Box<[u8]>>;

/// Rows as devices told them lately, by interface and column of names. What is too much makes room
/// by forgetting other devices, which are walked again then.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    tables: HashMap<InterfaceId, Vec<(Oid, Rows)>>,
    count: usize,
}

impl Indexes {
    fn find(&self, interface: InterfaceId, names: &Oid, name: &str) -> Option<&[u8]> {
        let (_, rows) = self.tables.get(&interface)?.iter().find(|(oid, _)| oid == names)?;
        rows.get(name).map(|index| &**index)
    }

    fn keep(&mut self, interface: InterfaceId, names: &Oid, rows: Rows) {
        let mut tables = self.take(interface);
        tables.retain(|(oid, _)| oid != names);
        tables.push((names.clone(), rows));
        let count: usize = tables.iter().map(|(_, rows)| rows.len()).sum();
        if count > ROWS_MAX {
            return;
        }
        while self.count + count > ROWS_MAX {
            let Some(other) = self.tables.keys().next().copied() else { break };
            self.forget(other);
        }
        self.count += count;
        self.tables.insert(interface, tables);
    }

    fn take(&mut self, interface: InterfaceId) -> Vec<(Oid, Rows)> {
        let tables = self.tables.remove(&interface).unwrap_or_default();
        self.count -= tables.iter().map(|(_, rows)| rows.len()).sum::<usize>();
        tables
    }

    /// An interface is gone.
    pub(super) fn forget(&mut self, interface: InterfaceId) {
        drop(self.take(interface));
    }
}

/// What is asked now.
#[derive(Debug)]
enum State {
    /// All names, one after the other.
    Walk {
        cursor: Cursor,
        rows: Rows,
        /// The row with the name, if it has been seen.
        found: Option<Box<[u8]>>,
        seen: usize,
    },
    /// A row that was kept: its name, and its value where the device may be asked for both.
    Check(Vec<Oid>),
    /// The value.
    Fetch(Oid),
}

/// A check of such an item.
#[derive(Debug)]
pub(super) struct ByName {
    /// The column of the value.
    column: Oid,
    /// The column of the names.
    names: Root,
    /// The column of the names as it is configured.
    names_text: String,
    wanted: String,
    pace: Pace,
    begun: bool,
    state: State,
}

impl ByName {
    pub(super) fn new(
        column: Oid,
        names: Root,
        names_text: String,
        wanted: String,
        pace: Pace,
    ) -> Self {
        let state = Self::walk(&names, pace);
        Self { column, names, names_text, wanted, pace, begun: false, state }
    }

    fn walk(names: &Root, pace: Pace) -> State {
        let cursor = Cursor::new(names.clone(), pace);
        State::Walk { cursor, rows: Rows::new(), found: None, seen: 0 }
    }

    /// Called before each request: the first may do without the walk.
    pub(super) fn prepare(&mut self, interface: InterfaceId, indexes: &Indexes) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let names = self.names.oid();
        if let Some(index) = indexes.find(interface, names, &self.wanted) {
            let mut oids = vec![names.below(index)];
            oids.extend(self.pace.together.then(|| self.column.below(index)));
            self.state = State::Check(oids);
        }
    }

    /// What to ask now.
    pub(super) fn ask(&self) -> Asking<'_> {
        let oids = match &self.state {
            State::Walk { cursor, .. } => return cursor.ask(),
            State::Check(oids) => oids,
            State::Fetch(oid) => std::slice::from_ref(oid),
        };
        Asking { kind: PduKind::Get, oids, max_repetitions: 0 }
    }

    /// Takes an answer: the value when it is there, or the item's error.
    pub(super) fn answer(
        &mut self,
        pdu: &Pdu<'_>,
        interface: InterfaceId,
        indexes: &mut Indexes,
    ) -> Result<Option<String>, String> {
        match &mut self.state {
            State::Fetch(oid) => {
                if pdu.error_status != ErrorStatus::NO_ERROR {
                    return Err(status_text(pdu.error_status));
                }
                read(pdu, 0, oid)
                    .unwrap_or_else(|| {
                        Err("SNMP error: the device did not answer for the OID.".to_owned())
                    })
                    .map(Some)
            }
            State::Check(_) => self.checked(pdu),
            State::Walk { .. } => self.walked(pdu, interface, indexes),
        }
    }

    fn checked(&mut self, pdu: &Pdu<'_>) -> Result<Option<String>, String> {
        let State::Check(oids) = &self.state else { return Ok(None) };
        let Some(name) = oids.first() else { return Ok(None) };
        // Version 1 tells so that the name is there, but not the value.
        let no_value = pdu.error_status != ErrorStatus::NO_ERROR && pdu.error_index == 2;
        let same = pdu.error_status == ErrorStatus::NO_ERROR
            && matches!(read(pdu, 0, name), Some(Ok(text)) if text == self.wanted);
        if !same && !no_value {
            self.state = Self::walk(&self.names, self.pace);
            return Ok(None);
        }
        if same && let Some(told) = oids.get(1).and_then(|oid| read(pdu, 1, oid)) {
            return told.map(Some);
        }
        let index = name.borrow().ber().strip_prefix(self.names.oid().borrow().ber());
        self.state = State::Fetch(self.column.below(index.unwrap_or_default()));
        Ok(None)
    }

    fn walked(
        &mut self,
        pdu: &Pdu<'_>,
        interface: InterfaceId,
        indexes: &mut Indexes,
    ) -> Result<Option<String>, String> {
        let State::Walk { cursor, rows, found, seen } = &mut self.state else { return Ok(None) };
        let (root, wanted) = (self.names.oid().borrow().ber(), &self.wanted);
        let step = cursor.answer(pdu, &mut |oid, named| {
            *seen += 1;
            if let Some(index) = oid.ber().strip_prefix(root) {
                let name = value(named, OidStyle::Named);
                if name == *wanted {
                    *found = Some(index.into());
                }
                if rows.len() < TABLE_ROWS_MAX && name.len() <= NAME_BYTES_MAX {
                    rows.insert(name.into_boxed_str(), index.into());
                }
            }
            *seen < NAMES_MAX
        })?;
        if step == Step::More {
            return Ok(None);
        }
        indexes.keep(interface, self.names.oid(), std::mem::take(rows));
        match found.take() {
            Some(index) => {
                self.state = State::Fetch(self.column.below(&index));
                Ok(None)
            }
            None => {
                let (wanted, names) = (&self.wanted, &self.names_text);
                Err(format!("Cannot find index of \"{wanted}\" in \"{names}\"."))
            }
        }
    }
}

/// The value at a place of an answer, if the device answered for that OID; the error says that it
/// has none.
fn read(pdu: &Pdu<'_>, place: usize, oid: &Oid) -> Option<Result<String, String>> {
    let (name, found) = { pdu.varbinds }.nth(place)?.ok()?;
    (name == oid.borrow()).then(|| match missing(&found) {
        None => Ok(value(&found, OidStyle::Named)),
        Some(why) => Err(why.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> Rows {
        (0..count).map(|n| (n.to_string().into(), Box::from([1_u8]))).collect()
    }

    #[test]
    fn rows_are_bounded() {
        let (names, others) = (Oid::parse("1.3.1").unwrap(), Oid::parse("1.3.2").unwrap());
        let mut indexes = Indexes::default();
        for interface in 1..=30 {
            indexes.keep(InterfaceId(interface), &names, rows(TABLE_ROWS_MAX));
            indexes.keep(InterfaceId(interface), &names, rows(TABLE_ROWS_MAX));
        }
        assert_eq!((indexes.count, indexes.tables.len()), (ROWS_MAX, 25));
        assert!(indexes.find(InterfaceId(30), &names, "7").is_some());
        assert!(indexes.find(InterfaceId(30), &others, "7").is_none());
        assert!(indexes.find(InterfaceId(30), &names, "x").is_none());
        indexes.forget(InterfaceId(30));
        indexes.forget(InterfaceId(30));
        assert_eq!((indexes.count, indexes.tables.len()), (ROWS_MAX - TABLE_ROWS_MAX, 24));
        assert!(indexes.find(InterfaceId(30), &names, "7").is_none());
    }
}
