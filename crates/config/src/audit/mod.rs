//! The audit log: who changed what, with the values before and after.
//!
//! [`Edit`](crate::Edit) hands each row that an [`Author`] changes to the [`Trail`] of its transaction.
//! At the end the rows are put together by object and written to `auditlog`, in the same transaction.
//! Objects that follow a template are not in the log: the change of the template is.

mod catalog;
mod details;
mod expiry;
mod ids;
mod inserted;
mod scenario;
mod settings;

use std::collections::{BTreeMap, HashMap};

use crate::Statements;
use crate::db::{DbResult, Reader, Row, Value, query_by_ids};
use crate::schema::Table;
use crate::table;
use catalog::Resource;
pub(crate) use catalog::is_object;
use details::Details;
pub use expiry::delete_before;
use ids::Cuids;
use scenario::Field;
pub use settings::{Setting, SettingsObject};

/// Who makes a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// Id of the user; 0 = the server.
    pub userid: u64,
    /// Login name.
    pub username: String,
    /// Address that the call came from; empty = the server's own change.
    pub ip: String,
    /// When, in seconds since 1970.
    pub at_s: u64,
}

impl Author {
    /// The server, for what discovery and autoregistration change. The name is Zabbix's.
    pub fn system(at_s: u64) -> Self {
        Self { userid: 0, username: "System".to_owned(), ip: String::new(), at_s }
    }

    /// Whether the server itself makes the change.
    pub fn is_system(&self) -> bool {
        self.userid == 0
    }
}

/// What an entry is about. The numbers are the API's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum AuditAction {
    /// An object is new.
    Add = 0,
    /// An object has changed.
    Update = 1,
    /// An object is gone.
    Delete = 2,
    /// A user has signed out.
    Logout = 4,
    /// A user has run a script.
    Execute = 7,
    /// A user has signed in.
    Login = 8,
    /// Somebody has tried to.
    FailedLogin = 9,
}

/// A text of an object as people write it, where its column has it in another form.
#[derive(Debug, Clone, Copy)]
pub enum Described<'a> {
    /// The object is new.
    New(&'a str),
    /// The text has changed.
    Changed {
        /// The new text.
        now: &'a str,
        /// The text that it replaces.
        before: &'a str,
    },
}

/// Rows of one transaction whose values the log keeps. Of further rows it has the object alone, and the entries of the
/// transaction say so.
const ROWS_MAX: usize = 20_000;

/// What a transaction has changed so far, with values.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    /// In the order in which they came.
    entries: Vec<Entry>,
    /// Places of entries by table and id; settings by the name of their object.
    places: HashMap<(&'static str, u64), usize, foldhash::fast::RandomState>,
    rows: usize,
}

/// What has happened to one object.
#[derive(Debug)]
struct Entry {
    table: &'static str,
    id: u64,
    action: Option<AuditAction>,
    kind: Option<&'static Resource>,
    name: String,
    details: Details,
}

impl Trail {
    /// Whether changes of the table are kept.
    pub(crate) fn wants(table: &'static Table) -> bool {
        catalog::is_audited(table)
    }

    fn is_full(&self) -> bool {
        self.rows >= ROWS_MAX
    }

    /// A row gets other values; `before` is the whole row.
    pub(crate) fn updated(&mut self, table: &'static Table, before: &Row, row: &[(&str, Value)]) {
        if scenario::is_part(table, before) {
            let fields = scenario::updated(before, row);
            if !fields.is_empty() {
                self.note(table, before, AuditAction::Update, fields);
            }
            return;
        }
        let new = |name: &str| row.iter().find(|(column, _)| *column == name).map(|(_, v)| v);
        let was_secret = catalog::is_secret_row(table, |column| Some(before.int(column)));
        let is_secret = catalog::is_secret_row(table, |column| {
            Some(new(column).map_or_else(|| before.int(column), Value::as_int))
        });
        let fields: Vec<_> = row
            .iter()
            .filter(|(name, _)| !table.is_state_column(name) && !catalog::is_hidden(table, name))
            .filter_map(|(name, value)| {
                let old = before.get(name).filter(|old| old.to_string() != value.to_string())?;
                let shown = |value, is_secret_row: bool| {
                    let is_secret = is_secret_row && *name == "value";
                    catalog::shown(value, is_secret || catalog::is_secret(table, name)).into_owned()
                };
                let (new, old) = (shown(value, is_secret), shown(old, was_secret));
                Some(((*name).to_owned(), vec!["update".to_owned(), new, old]))
            })
            .collect();
        if !fields.is_empty() {
            self.note(table, before, AuditAction::Update, fields);
        }
    }

    /// A row is gone.
    pub(crate) fn deleted(&mut self, table: &'static Table, row: &Row) {
        self.note(table, row, AuditAction::Delete, Vec::new());
    }

    /// A field of an object has a text that no column shows to people.
    pub(crate) fn described(
        &mut self,
        table: &'static Table,
        id: u64,
        field: &str,
        text: Described<'_>,
    ) {
        let is_full = self.is_full();
        let details = &mut self.entry(table.name, id).details;
        match text {
            _ if is_full => {}
            Described::New(now) => details.push("", field, &["add", now]),
            Described::Changed { now, before } => {
                details.push("", field, &["update", now, before]);
            }
        }
    }

    fn note(&mut self, table: &'static Table, row: &Row, action: AuditAction, fields: Vec<Field>) {
        let (details, path) = if is_object(table) {
            let kind = catalog::kind(table, row);
            let name = kind.map_or_else(String::new, |kind| catalog::name(kind, row));
            (self.object(table, row.id(table.key[0]), kind, name, action), String::new())
        } else if let Some((owner, member)) = catalog::member(table) {
            let key = catalog::member_key(table)
                .map(|column| row.get(column).map(ToString::to_string).unwrap_or_default());
            let path = format!("{member}[{}]", key.collect::<Vec<_>>().join("."));
            (self.member(owner, row.id(table.subject()), &path, action), path)
        } else {
            return;
        };
        let Some(details) = details else { return };
        details.repeats = true;
        for (name, what) in fields {
            if path.is_empty() || name != table.subject() {
                let what: Vec<&str> = what.iter().map(String::as_str).collect();
                details.push(&path, &name, &what);
            }
        }
    }

    /// Notes what happens to an object; returns the place for its fields, unless there are too many.
    fn object(
        &mut self,
        table: &'static Table,
        id: u64,
        kind: Option<&'static Resource>,
        name: String,
        action: AuditAction,
    ) -> Option<&mut Details> {
        let is_full = self.takes_row();
        let entry = self.entry(table.name, id);
        entry.kind = kind;
        entry.name = name;
        entry.acts(Some(action));
        (!is_full).then_some(&mut entry.details)
    }

    /// Counts a row; `true`: there is no room for its values.
    fn takes_row(&mut self) -> bool {
        let is_full = self.is_full();
        self.rows += 1;
        is_full
    }

    /// Notes what happens to a member of an object; returns the place for its fields, unless there are too many.
    fn member(
        &mut self,
        owner: &'static Table,
        id: u64,
        path: &str,
        action: AuditAction,
    ) -> Option<&mut Details> {
        let is_full = self.takes_row();
        let word = match action {
            AuditAction::Add => "add",
            AuditAction::Delete => "delete",
            _ => "update",
        };
        let details = &mut self.entry(owner.name, id).details;
        if is_full {
            return None;
        }
        details.push(path, "", &[word]);
        Some(details)
    }

    fn entry(&mut self, table: &'static str, id: u64) -> &mut Entry {
        let next = self.entries.len();
        let at = *self.places.entry((table, id)).or_insert(next);
        if at == next {
            let (name, details) = (String::new(), Details::default());
            self.entries.push(Entry { table, id, action: None, kind: None, name, details });
        }
        &mut self.entries[at]
    }

    /// Adds what a part of the transaction has changed.
    pub(crate) fn extend(&mut self, more: Self) {
        self.rows += more.rows;
        for new in more.entries {
            let entry = self.entry(new.table, new.id);
            entry.acts(new.action);
            entry.kind = new.kind.or(entry.kind);
            if !new.name.is_empty() {
                entry.name = new.name;
            }
            entry.details.extend(new.details);
        }
    }

    /// Values for rows of the table `auditlog`, in the order of [`COLUMNS`].
    pub(crate) fn finish(
        mut self,
        connection: &mut dyn Reader,
        author: &Author,
    ) -> DbResult<Vec<Value>> {
        self.own_the_rest(connection)?;
        self.name_the_rest(connection)?;
        let cut = self.rows > ROWS_MAX;
        let mut ids = Cuids::new(author.at_s);
        let set = ids.next()?;
        let mut values = Vec::with_capacity(self.entries.len() * COLUMNS.len());
        for entry in self.entries {
            let Some(kind) = entry.kind else { continue };
            let action = entry.action.unwrap_or(AuditAction::Update);
            let details = match action {
                AuditAction::Delete => String::new(),
                _ => entry.details.finish(kind.word, cut),
            };
            let (kind, id, name) = (kind.number, entry.id, entry.name);
            let about = About { action, kind, id, name, details, set: &set };
            values.extend(about.row(ids.next()?, author));
        }
        Ok(values)
    }

    /// The ids of entries without a kind, by their table.
    fn without_kind(&self) -> BTreeMap<&'static str, Vec<u64>> {
        let mut missing: BTreeMap<&'static str, Vec<u64>> = BTreeMap::new();
        for entry in self.entries.iter().filter(|entry| entry.kind.is_none()) {
            missing.entry(entry.table).or_default().push(entry.id);
        }
        missing
    }

    /// Moves what has happened to members of members, such as URLs of elements, to their objects. Members
    /// that are gone took it with them.
    fn own_the_rest(&mut self, connection: &mut dyn Reader) -> DbResult<()> {
        for (name, ids) in self.without_kind() {
            let table = Table::named(name);
            let Some((owner, member)) = catalog::member(table).filter(|_| !is_object(table)) else {
                continue;
            };
            for row in rows_of(connection, table, &ids)? {
                let id = row.id(table.key[0]);
                let mut details = std::mem::take(&mut self.entry(table.name, id).details);
                details.below(&format!("{member}[{id}]"));
                self.entry(owner.name, row.id(table.subject())).details.extend(details);
            }
        }
        Ok(())
    }

    /// Looks up objects of which only members have changed.
    fn name_the_rest(&mut self, connection: &mut dyn Reader) -> DbResult<()> {
        for (name, ids) in self.without_kind() {
            let (table, key) = (Table::named(name), Table::named(name).key[0]);
            for row in rows_of(connection, table, &ids)? {
                let entry = self.entry(table.name, row.id(key));
                entry.kind = catalog::kind(table, &row);
                entry.name = entry.kind.map_or_else(String::new, |kind| catalog::name(kind, &row));
            }
        }
        Ok(())
    }
}

fn rows_of(connection: &mut dyn Reader, table: &Table, ids: &[u64]) -> DbResult<Vec<Row>> {
    let sql = format!("SELECT * FROM {table} WHERE {} IN ({{ids}})", table.key[0]);
    query_by_ids(connection, &sql, &[], ids)
}

impl Entry {
    /// A new object stays new whatever happens to it in the same transaction.
    fn acts(&mut self, action: Option<AuditAction>) {
        self.action = match (self.action, action) {
            (Some(AuditAction::Add), Some(AuditAction::Update)) | (_, None) => self.action,
            (_, action) => action,
        };
    }
}

/// Columns of the table `auditlog`.
pub(crate) const COLUMNS: [&str; 12] = [
    "auditid",
    "userid",
    "username",
    "clock",
    "ip",
    "action",
    "resourcetype",
    "resourceid",
    "resource_cuid",
    "resourcename",
    "recordsetid",
    "details",
];

struct About<'a> {
    action: AuditAction,
    kind: i64,
    id: u64,
    name: String,
    details: String,
    set: &'a str,
}

impl About<'_> {
    fn row(self, auditid: String, author: &Author) -> [Value; COLUMNS.len()] {
        [
            auditid.into(),
            author.userid.into(),
            author.username.as_str().into(),
            author.at_s.into(),
            author.ip.as_str().into(),
            Value::Int(self.action as i64),
            self.kind.into(),
            self.id.into(),
            "0".into(),
            self.name.into(),
            self.set.into(),
            self.details.into(),
        ]
    }
}

/// Notes that a user has signed in or out, or that somebody has tried to (`userid` 0: no such user).
pub fn note_access(
    state: &mut Statements<'_>,
    action: AuditAction,
    author: &Author,
) -> DbResult<()> {
    let mut ids = Cuids::new(author.at_s);
    let (set, id) = (ids.next()?, author.userid);
    let about =
        About { action, kind: 0, id, name: String::new(), details: String::new(), set: &set };
    state.insert_values(&table::ACCESS_LOG, &COLUMNS, &about.row(ids.next()?, author))
}

/// The API's number of scripts among the kinds of objects.
const SCRIPT: i64 = 25;

/// Notes that a user has run a script on a host (id, name); `details` as those of changes.
pub fn note_execution(
    state: &mut Statements<'_>,
    author: &Author,
    host: u64,
    name: &str,
    details: String,
) -> DbResult<()> {
    let mut ids = Cuids::new(author.at_s);
    let set = ids.next()?;
    let (action, name) = (AuditAction::Execute, name.to_owned());
    let about = About { action, kind: SCRIPT, id: host, name, details, set: &set };
    state.insert_values(&table::ACCESS_LOG, &COLUMNS, &about.row(ids.next()?, author))
}

/// The number of problems among the kinds of objects, which Zabbix does not have.
const PROBLEM: i64 = 1100;

/// Notes that a user has changed a problem (event, name) by a link of a message; `details` as those of changes.
pub fn note_link(
    state: &mut Statements<'_>,
    author: &Author,
    problem: u64,
    name: &str,
    details: String,
) -> DbResult<()> {
    let mut ids = Cuids::new(author.at_s);
    let set = ids.next()?;
    let (action, name) = (AuditAction::Update, name.to_owned());
    let about = About { action, kind: PROBLEM, id: problem, name, details, set: &set };
    state.insert_values(&table::ACCESS_LOG, &COLUMNS, &about.row(ids.next()?, author))
}

#[cfg(test)]
mod tests;
