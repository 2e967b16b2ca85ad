//! The audit log: who changed what, with the values before and after.
//!
//! [`Edit`](crate::Edit) hands each row that a user's call changes to the [`Trail`] of its transaction.
//! At the end the rows are put together by object and written to `auditlog`, in the same transaction.
//! Objects that follow a template are not in the log: the change of the template is.

mod catalog;
mod expiry;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Map, json};

use crate::db::{DbError, DbResult, Row, Value, query_by_ids};
use crate::schema::Table;
use crate::{Edit, Statements};
use catalog::Resource;
pub(crate) use catalog::is_object;
pub use expiry::delete_before;

/// Who makes a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// Id of the user.
    pub userid: u64,
    /// Login name.
    pub username: String,
    /// Address that the call came from.
    pub ip: String,
    /// When, in seconds since 1970.
    pub at_s: u64,
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
    /// A user has signed in.
    Login = 8,
    /// Somebody has tried to.
    FailedLogin = 9,
}

/// Rows of one transaction that the log keeps; a transaction with more says so in its entries.
const ROWS_MAX: usize = 20_000;

/// Details of one entry, in bytes at most.
const DETAILS_MAX: usize = 256 * 1024;

/// What a transaction has changed so far, with values.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    objects: BTreeMap<(&'static str, u64), Entry>,
    /// Objects in the order in which they came.
    order: Vec<(&'static Table, u64)>,
    rows: usize,
}

#[derive(Debug, Default)]
struct Entry {
    action: Option<AuditAction>,
    kind: Option<&'static Resource>,
    name: String,
    /// Names of fields without the object's word, and what happened to them.
    details: Vec<(String, serde_json::Value)>,
}

impl Trail {
    /// Whether changes of the table are kept.
    pub(crate) fn wants(&self, table: &'static Table) -> bool {
        self.rows < ROWS_MAX && catalog::is_audited(table)
    }

    /// A row is new.
    pub(crate) fn inserted(&mut self, table: &'static Table, row: &[(&str, Value)]) {
        let value = |column: &str| {
            row.iter().find(|(name, _)| *name == column).map(|(_, value)| value.clone())
        };
        let full = Row::new(table.columns.iter().map(|column| {
            (column.name, value(column.name).unwrap_or_else(|| column.default_value()))
        }));
        let given = |name: &str, value: &Value| {
            table.column(name).is_some_and(|column| *value != column.default_value())
        };
        let secret = catalog::is_secret_row(table, |column| Some(full.int(column)));
        let fields = row.iter().filter(|(name, value)| given(name, value)).map(|(name, value)| {
            ((*name).to_owned(), json!(["add", catalog::shown(table, name, value, secret)]))
        });
        self.note(table, &full, AuditAction::Add, fields.collect());
    }

    /// A row gets other values; `before` is the whole row.
    pub(crate) fn updated(&mut self, table: &'static Table, before: &Row, row: &[(&str, Value)]) {
        let new = |name: &str| row.iter().find(|(column, _)| *column == name).map(|(_, v)| v);
        let was_secret = catalog::is_secret_row(table, |column| Some(before.int(column)));
        let is_secret = catalog::is_secret_row(table, |column| {
            Some(new(column).map_or_else(|| before.int(column), Value::as_int))
        });
        let fields: Vec<_> = row
            .iter()
            .filter(|(name, _)| !table.is_state_column(name))
            .filter_map(|(name, value)| {
                let old = before.get(name).filter(|old| old.to_string() != value.to_string())?;
                let new = catalog::shown(table, name, value, is_secret);
                let old = catalog::shown(table, name, old, was_secret);
                Some(((*name).to_owned(), json!(["update", new, old])))
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

    fn note(
        &mut self,
        table: &'static Table,
        row: &Row,
        action: AuditAction,
        fields: Vec<(String, serde_json::Value)>,
    ) {
        self.rows += 1;
        if is_object(table) {
            let kind = catalog::kind(table, row);
            let entry = self.entry(table, row.id(table.key[0]));
            entry.kind = kind;
            entry.name = kind.map_or_else(String::new, |kind| row.text(kind.name).to_owned());
            // A new object stays new whatever happens to it in the same transaction.
            entry.action = match (entry.action, action) {
                (Some(AuditAction::Add), AuditAction::Update) => Some(AuditAction::Add),
                (_, action) => Some(action),
            };
            entry.details.extend(fields);
        } else if let Some((owner, member)) = catalog::member(table) {
            let key: Vec<String> = table
                .key
                .iter()
                .filter(|column| **column != table.subject() || table.key.len() == 1)
                .map(|column| row.get(column).map(ToString::to_string).unwrap_or_default())
                .collect();
            let path = format!("{member}[{}]", key.join("."));
            let word = match action {
                AuditAction::Add => "add",
                AuditAction::Delete => "delete",
                _ => "update",
            };
            let subject = row.id(table.subject());
            let entry = self.entry(owner, subject);
            entry.details.push((path.clone(), json!([word])));
            let inside = fields.into_iter().filter(|(name, _)| *name != table.subject());
            entry.details.extend(inside.map(|(name, what)| (format!("{path}.{name}"), what)));
        }
    }

    fn entry(&mut self, table: &'static Table, id: u64) -> &mut Entry {
        let order = &mut self.order;
        self.objects.entry((table.name, id)).or_insert_with(|| {
            order.push((table, id));
            Entry::default()
        })
    }

    /// Adds what a part of the transaction has changed.
    pub(crate) fn extend(&mut self, more: Self) {
        self.rows += more.rows;
        for (table, id) in more.order {
            let Some(new) = more.objects.get(&(table.name, id)) else { continue };
            let entry = self.entry(table, id);
            entry.action = match (entry.action, new.action) {
                (Some(AuditAction::Add), Some(AuditAction::Update)) | (_, None) => entry.action,
                (_, action) => action,
            };
            entry.kind = new.kind.or(entry.kind);
            if !new.name.is_empty() {
                entry.name.clone_from(&new.name);
            }
            entry.details.extend(new.details.iter().cloned());
        }
    }

    /// Rows for the table `auditlog`, in the order of [`COLUMNS`].
    pub(crate) fn finish(
        mut self,
        edit: &mut Edit<'_>,
        author: &Author,
    ) -> DbResult<Vec<Vec<Value>>> {
        self.name_the_rest(edit)?;
        let set = cuid(author.at_s)?;
        let cut = self.rows >= ROWS_MAX;
        let mut rows = Vec::new();
        for (table, id) in &self.order {
            let Some(entry) = self.objects.remove(&(table.name, *id)) else { continue };
            let Some(kind) = entry.kind else { continue };
            let action = entry.action.unwrap_or(AuditAction::Update);
            let details = match action {
                AuditAction::Delete => String::new(),
                _ => details(kind.word, entry.details, cut),
            };
            let about = About {
                action,
                kind: kind.number,
                id: *id,
                name: &entry.name,
                details: &details,
                set: &set,
            };
            rows.push(about.row(author)?);
        }
        Ok(rows)
    }

    /// Looks up objects of which only members have changed.
    fn name_the_rest(&mut self, edit: &mut Edit<'_>) -> DbResult<()> {
        let mut missing: HashMap<&'static str, Vec<u64>> = HashMap::new();
        for ((table, id), entry) in &self.objects {
            if entry.kind.is_none() {
                missing.entry(table).or_default().push(*id);
            }
        }
        for (name, ids) in missing {
            let table = Table::named(name);
            let key = table.key[0];
            let sql = format!("SELECT * FROM {name} WHERE {key} IN ({{ids}})");
            for row in query_by_ids(edit.connection(), &sql, &[], &ids)? {
                let Some(entry) = self.objects.get_mut(&(table.name, row.id(key))) else {
                    continue;
                };
                entry.kind = catalog::kind(table, &row);
                entry.name = entry.kind.map_or("", |kind| row.text(kind.name)).to_owned();
            }
        }
        Ok(())
    }
}

/// JSON of an entry's details: `{"host.name":["update","new","old"]}`.
fn details(word: &str, fields: Vec<(String, serde_json::Value)>, cut: bool) -> String {
    let mut all = Map::new();
    let mut bytes = 0;
    for (name, what) in fields {
        bytes += name.len() + what.to_string().len();
        if bytes > DETAILS_MAX {
            break;
        }
        all.insert(format!("{word}.{name}"), what);
    }
    if cut || bytes > DETAILS_MAX {
        all.insert("truncated".to_owned(), json!(["update", "1", "0"]));
    }
    serde_json::Value::Object(all).to_string()
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
    name: &'a str,
    details: &'a str,
    set: &'a str,
}

impl About<'_> {
    fn row(&self, author: &Author) -> DbResult<Vec<Value>> {
        Ok(vec![
            cuid(author.at_s)?.into(),
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
        ])
    }
}

/// Notes that a user has signed in or out, or that somebody has tried to (`userid` 0: no such user).
pub fn note_access(
    state: &mut Statements<'_>,
    action: AuditAction,
    author: &Author,
) -> DbResult<()> {
    let set = cuid(author.at_s)?;
    let about = About { action, kind: 0, id: author.userid, name: "", details: "", set: &set };
    state.insert_many("access_log", &COLUMNS, &[about.row(author)?])
}

/// A new id of 25 characters that sorts by time, as `auditid` has it: `c`, milliseconds, a counter, the
/// process, random characters, all to the base of 36.
fn cuid(at_s: u64) -> DbResult<String> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).map_err(|error| DbError::statement("(random bytes)", error))?;
    let number = u64::from_le_bytes(random);
    let count = u64::from(COUNTER.fetch_add(1, Ordering::Relaxed));
    let process = u64::from(std::process::id());
    Ok(format!(
        "c{}{}{}{}",
        base_36(at_s * 1_000, 8),
        base_36(count, 4),
        base_36(process, 4),
        base_36(number, 8)
    ))
}

/// The last digits of a number.
fn base_36(mut number: u64, digits: usize) -> String {
    let mut text = vec![b'0'; digits];
    for digit in text.iter_mut().rev() {
        *digit = b"0123456789abcdefghijklmnopqrstuvwxyz"[usize::try_from(number % 36).unwrap_or(0)];
        number /= 36;
    }
    text.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests;
