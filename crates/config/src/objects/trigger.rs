//! Triggers and trigger prototypes.

use crate::table;
use objects::HostKind;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Columns, Tag, column, new_uuid};
use crate::Edit;
use crate::db::{DbResult, Row, Value, query_by_ids};
use crate::link::{LinkError, Work, inherit_triggers, later};

/// A function call of a trigger's expressions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TriggerFunction {
    /// The item.
    pub itemid: u64,
    /// Name, as in `last`.
    pub name: String,
    /// Parameters as the API shows them, `$` standing for the item: `$`, `$,5m`.
    pub parameter: String,
}

impl TriggerFunction {
    pub(crate) fn from_row(row: &Row) -> Self {
        Self {
            itemid: row.id("itemid"),
            name: row.text("name").to_owned(),
            parameter: row.text("parameter").to_owned(),
        }
    }

    /// A form in which equal calls are equal texts.
    pub(crate) fn written(&self) -> String {
        format!("{{{}:{}({})}}", self.itemid, self.name, self.parameter)
    }
}

/// A trigger to be created.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTrigger {
    /// Columns of `triggers` without the expressions: `description`, `flags` and what else is not
    /// default. Without `uuid`, a trigger of a template gets a new one.
    pub columns: Columns,
    /// Problem expression; `{0}`, `{1}` … stand for [`NewTrigger::functions`].
    pub expression: String,
    /// Recovery expression, likewise; empty = none.
    pub recovery: String,
    /// Function calls of both expressions.
    pub functions: Vec<TriggerFunction>,
    pub tags: Vec<Tag>,
    /// Triggers that it depends on.
    pub depends_on: Vec<u64>,
}

/// What an update of a trigger changes; `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TriggerChange {
    /// Which.
    pub id: u64,
    /// Columns that change, without the expressions. Children on linked hosts follow.
    pub columns: Columns,
    /// New expressions, if they change: problem, recovery, functions as in [`NewTrigger`].
    pub expressions: Option<(String, String, Vec<TriggerFunction>)>,
    /// New tags, if they change.
    pub tags: Option<Vec<Tag>>,
    /// New dependencies, if they change.
    pub depends_on: Option<Vec<u64>>,
}

/// The expression with each `{number}` outside of quoted texts replaced.
pub fn replace_ids(text: &str, replace: &mut dyn FnMut(u64) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut quoted = false;
    while let Some(at) = rest.find(['{', '"', '\\']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let digits = from[1..].bytes().take_while(u8::is_ascii_digit).count();
        let closed = from.as_bytes().get(1 + digits) == Some(&b'}');
        let number = from[1..=digits].parse().ok().filter(|_| closed && !quoted);
        let len = match (from.as_bytes()[0], number) {
            (b'{', Some(number)) => {
                out.push_str(&replace(number));
                rest = &from[digits + 2..];
                continue;
            }
            (b'\\', _) if quoted => 1 + from[1..].chars().next().map_or(0, char::len_utf8),
            (b'"', _) => {
                quoted = !quoted;
                1
            }
            _ => 1,
        };
        out.push_str(&from[..len]);
        rest = &from[len..];
    }
    out.push_str(rest);
    out
}

/// Triggers that hosts have already, by host and texts: a host may have very many of one name.
pub(crate) struct ExistingTriggers {
    by_texts: HashMap<(u64, TriggerTexts), Vec<ExistingTrigger>>,
}

/// Description, expression and recovery expression, with functions as [`TriggerFunction::written`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct TriggerTexts {
    pub(crate) description: String,
    pub(crate) expression: String,
    pub(crate) recovery: String,
}

/// A trigger that a host has.
pub(crate) struct ExistingTrigger {
    pub(crate) id: u64,
    pub(crate) templateid: u64,
}

impl ExistingTriggers {
    /// Different ones.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.by_texts.values().map(Vec::len).sum()
    }

    /// One with these texts on the host, other than `except`.
    pub(crate) fn find(
        &self,
        host: u64,
        texts: TriggerTexts,
        except: Option<u64>,
    ) -> Option<&ExistingTrigger> {
        let of = self.by_texts.get(&(host, texts))?;
        of.iter().find(|trigger| Some(trigger.id) != except)
    }
}

/// Triggers with these descriptions that use any of these items. Equal triggers use equal items, so these
/// are all that new ones may be equal to.
pub(crate) fn existing(
    edit: &mut Edit<'_>,
    items: &[u64],
    descriptions: &BTreeSet<&str>,
) -> DbResult<ExistingTriggers> {
    let sql = "SELECT DISTINCT t.triggerid, t.templateid, t.description, t.expression, \
               t.recovery_expression, i.hostid FROM functions f \
               JOIN triggers t ON t.triggerid = f.triggerid \
               JOIN items i ON i.itemid = f.itemid WHERE f.itemid IN ({ids})";
    let mut rows = query_by_ids(edit, sql, &[], items)?;
    rows.retain(|row| descriptions.contains(row.text("description")));
    let ids: BTreeSet<u64> = rows.iter().map(|row| row.id("triggerid")).collect();
    let ids: Vec<u64> = ids.into_iter().collect();
    let sql =
        "SELECT functionid, itemid, name, parameter FROM functions WHERE triggerid IN ({ids})";
    let functions: HashMap<u64, String> = query_by_ids(edit, sql, &[], &ids)?
        .iter()
        .map(|row| (row.id("functionid"), TriggerFunction::from_row(row).written()))
        .collect();
    let place =
        |text: &str| replace_ids(text, &mut |id| functions.get(&id).cloned().unwrap_or_default());
    let mut by_texts: HashMap<(u64, TriggerTexts), Vec<ExistingTrigger>> = HashMap::new();
    // A trigger whose items are in several portions of ids comes several times.
    let mut seen = BTreeSet::new();
    for row in rows.iter().filter(|row| seen.insert((row.id("triggerid"), row.id("hostid")))) {
        let texts = TriggerTexts {
            description: row.text("description").to_owned(),
            expression: place(row.text("expression")),
            recovery: place(row.text("recovery_expression")),
        };
        let one = ExistingTrigger { id: row.id("triggerid"), templateid: row.id("templateid") };
        by_texts.entry((row.id("hostid"), texts)).or_default().push(one);
    }
    Ok(ExistingTriggers { by_texts })
}

/// Inserts functions: (id, trigger, call).
pub(crate) fn insert_functions(
    edit: &mut Edit<'_>,
    functions: &[(u64, u64, TriggerFunction)],
) -> DbResult<()> {
    let rows: Vec<Vec<Value>> = functions
        .iter()
        .map(|(id, trigger, function)| {
            vec![
                Value::from(*id),
                Value::from(*trigger),
                Value::from(function.itemid),
                function.name.as_str().into(),
                function.parameter.as_str().into(),
            ]
        })
        .collect();
    let columns = ["functionid", "triggerid", "itemid", "name", "parameter"];
    edit.insert_many(&table::FUNCTIONS, &columns, &rows)
}

/// Hosts and templates of items: item → (host, kind, technical name).
fn hosts_of_items(
    edit: &mut Edit<'_>,
    items: &BTreeSet<u64>,
) -> DbResult<HashMap<u64, (u64, i64, String)>> {
    let items: Vec<u64> = items.iter().copied().collect();
    let sql = "SELECT i.itemid, h.hostid, h.kind, h.name FROM items i \
               JOIN hosts h ON h.hostid = i.hostid WHERE i.itemid IN ({ids})";
    let rows = query_by_ids(edit, sql, &[], &items)?;
    Ok(rows
        .iter()
        .map(|row| {
            (row.id("itemid"), (row.id("hostid"), row.int("kind"), row.text("name").to_owned()))
        })
        .collect())
}

fn with_calls(text: &str, functions: &[TriggerFunction]) -> String {
    replace_ids(text, &mut |at| {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        functions.get(at).map_or_else(String::new, TriggerFunction::written)
    })
}

pub(super) fn with_ids(text: &str, first: u64) -> String {
    replace_ids(text, &mut |at| format!("{{{}}}", first + at))
}

/// Creates triggers; those of templates are inherited by everything linked below. Returns the ids
/// in order. A trigger of the same name and expressions on the same host is a conflict.
pub fn create_triggers(
    edit: &mut Edit<'_>,
    triggers: &[NewTrigger],
) -> Result<Vec<u64>, LinkError> {
    let items: BTreeSet<u64> =
        triggers.iter().flat_map(|t| t.functions.iter().map(|f| f.itemid)).collect();
    let hosts = hosts_of_items(edit, &items)?;
    refuse_existing(edit, triggers, &hosts)?;
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    let first = edit.next_id(&table::TRIGGERS, count(triggers.len()))?;
    let ids: Vec<u64> = (first..).take(triggers.len()).collect();
    let calls = triggers.iter().map(|t| t.functions.len()).sum();
    let mut functionid = edit.next_id(&table::FUNCTIONS, count(calls))?;

    let table = &table::TRIGGERS;
    let names: Vec<&str> = table.columns.iter().map(|c| c.name).collect();
    let (mut rows, mut functions) = (Vec::new(), Vec::new());
    for (trigger, id) in triggers.iter().zip(&ids) {
        let on_template = trigger
            .functions
            .iter()
            .any(|f| hosts.get(&f.itemid).is_some_and(|(_, kind, _)| HostKind::Template.is(*kind)));
        let mut row = Vec::with_capacity(names.len());
        for table_column in table.columns {
            row.push(match (table_column.name, column(&trigger.columns, table_column.name)) {
                ("triggerid", _) => Value::from(*id),
                ("expression", _) => with_ids(&trigger.expression, functionid).into(),
                ("recovery_expression", _) => with_ids(&trigger.recovery, functionid).into(),
                ("uuid", None) if on_template => new_uuid()?.into(),
                (_, Some(value)) => value.clone(),
                (_, None) => table_column.default_value(),
            });
        }
        rows.push(row);
        for function in &trigger.functions {
            functions.push((functionid, *id, function.clone()));
            functionid += 1;
        }
    }
    edit.insert_many(&table::TRIGGERS, &names, &rows)?;
    insert_functions(edit, &functions)?;
    for (trigger, id) in triggers.iter().zip(&ids) {
        insert_tags(edit, &[*id], &trigger.tags)?;
        insert_dependencies(edit, *id, &trigger.depends_on)?;
    }
    let templates: BTreeSet<u64> = hosts
        .values()
        .filter(|(_, kind, _)| HostKind::Template.is(*kind))
        .map(|(id, ..)| *id)
        .collect();
    let later = later(edit, &Vec::from_iter(templates), ids.len())?;
    let left = edit.inheriting(|edit| inherit_triggers(edit, &ids, None, later.as_ref()))?;
    if let Some(later) = later {
        later.leave(edit, &Work::NewTriggers(left))?;
    }
    Ok(ids)
}

fn text_in<'a>(columns: &'a Columns, name: &str) -> &'a str {
    match column(columns, name) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

type HostsOfItems = HashMap<u64, (u64, i64, String)>;

/// Refuses new triggers that hosts have already; all hosts are read at once.
fn refuse_existing(
    edit: &mut Edit<'_>,
    triggers: &[NewTrigger],
    hosts: &HostsOfItems,
) -> Result<(), LinkError> {
    let names: BTreeSet<&str> =
        triggers.iter().map(|trigger| text_in(&trigger.columns, "description")).collect();
    let own = existing(edit, &Vec::from_iter(hosts.keys().copied()), &names)?;
    for trigger in triggers {
        let description = text_in(&trigger.columns, "description");
        let of: BTreeMap<u64, &str> = trigger
            .functions
            .iter()
            .filter_map(|f| hosts.get(&f.itemid))
            .map(|(id, _, name)| (*id, name.as_str()))
            .collect();
        let place = |text: &str| with_calls(text, &trigger.functions);
        let texts = TriggerTexts {
            description: description.to_owned(),
            expression: place(&trigger.expression),
            recovery: place(&trigger.recovery),
        };
        for (host, name) in of {
            if own.find(host, texts.clone(), None).is_some() {
                return Err(LinkError::Conflict(format!(
                    "Trigger \"{description}\" already exists on \"{name}\"."
                )));
            }
        }
    }
    Ok(())
}

pub(super) fn insert_tags(edit: &mut Edit<'_>, triggers: &[u64], tags: &[Tag]) -> DbResult<()> {
    let count = triggers.len() * tags.len();
    if count == 0 {
        return Ok(());
    }
    let first = edit.next_id(&table::TRIGGER_TAGS, u64::try_from(count).unwrap_or(u64::MAX))?;
    let pairs = triggers.iter().flat_map(|id| tags.iter().map(move |tag| (*id, tag)));
    let rows: Vec<Vec<Value>> = (first..)
        .zip(pairs)
        .map(|(tagid, (id, tag))| {
            vec![
                Value::from(tagid),
                Value::from(id),
                tag.tag.as_str().into(),
                tag.value.as_str().into(),
            ]
        })
        .collect();
    edit.insert_many(&table::TRIGGER_TAGS, &["triggertagid", "triggerid", "tag", "value"], &rows)
}

pub(super) fn insert_dependencies(edit: &mut Edit<'_>, id: u64, on: &[u64]) -> DbResult<()> {
    let rows: Vec<Vec<Value>> =
        on.iter().map(|on| vec![Value::from(id), Value::from(*on)]).collect();
    edit.insert_many(&table::TRIGGER_DEPENDS, &["triggerid", "depends_on"], &rows)
}

#[cfg(test)]
mod tests {
    use super::replace_ids;

    #[test]
    fn ids_are_replaced_outside_of_texts() {
        for (text, expect) in [
            ("{12}>5 and {3}", "<12>>5 and <3>"),
            ("{12}=\"{12}\"", "<12>=\"{12}\""),
            ("{1}=\"a\\\"{1}\" or {2}", "<1>=\"a\\\"{1}\" or <2>"),
            ("{$A}+{#B}+{5", "{$A}+{#B}+{5"),
            ("", ""),
        ] {
            assert_eq!(replace_ids(text, &mut |id| format!("<{id}>")), expect, "{text}");
        }
    }
}
