//! Writes pages, widgets and their fields.

use std::collections::{BTreeMap, BTreeSet};

use config::Edit;
use config::db::{Row, Value};
use config::schema::Table;
use config::table;

use super::fields::{PAGE_ID, WIDGET_ID};
use super::layout::{Page, Widget, WidgetField};
use super::stored::{Stored, StoredField, table_of};
use crate::error::ApiResult;
use crate::object::Columns;

/// New fields of widgets, which are inserted at the end, many in one statement.
type New = Vec<(u64, WidgetField)>;

/// Columns that get other values.
fn differing(row: &Row, columns: &Columns) -> Columns {
    let differs = |(name, value): &&(&str, Value)| {
        row.get(name).is_none_or(|old| old.to_string() != value.to_string())
    };
    columns.iter().filter(differs).cloned().collect()
}

/// Writes a row, and returns its id.
fn put(
    edit: &mut Edit<'_>,
    table: &'static Table,
    before: Option<&Row>,
    columns: &Columns,
) -> ApiResult<u64> {
    if let Some(row) = before {
        let id = row.id(table.key[0]);
        edit.update(table, id, &differing(row, columns))?;
        return Ok(id);
    }
    Ok(edit.insert_new(table, columns)?)
}

/// Makes these the pages of a dashboard.
pub(super) fn write(edit: &mut Edit<'_>, dashboard: u64, pages: &[Page]) -> ApiResult<()> {
    let stored = Stored::load(edit, &[dashboard])?;
    let (mut new, mut kept) = (New::new(), BTreeSet::new());
    for (position, page) in (0_i64..).zip(pages) {
        let mut columns = page.columns.clone();
        columns.extend([("sortorder", position.into()), ("dashboardid", dashboard.into())]);
        let before = page.id.and_then(|id| stored.page(dashboard, id));
        let id = put(edit, &table::DASHBOARD_PAGES, before, &columns)?;
        kept.insert(id);
        if let Some(widgets) = &page.widgets {
            write_widgets(edit, id, widgets, &stored, &mut new)?;
        }
    }
    let gone = stored.pages(dashboard).iter().map(|row| row.id(PAGE_ID));
    let gone: Vec<u64> = gone.filter(|id| !kept.contains(id)).collect();
    edit.delete(&table::DASHBOARD_PAGES, PAGE_ID, &gone)?;
    insert(edit, new)
}

fn write_widgets(
    edit: &mut Edit<'_>,
    page: u64,
    widgets: &[Widget],
    stored: &Stored,
    new: &mut New,
) -> ApiResult<()> {
    let mut kept = BTreeSet::new();
    for widget in widgets {
        let before = widget.id.and_then(|id| stored.widget(page, id));
        let mut columns = widget.columns.clone();
        columns.push((PAGE_ID, page.into()));
        let id = put(edit, &table::WIDGETS, before, &columns)?;
        kept.insert(id);
        if let Some(fields) = &widget.fields {
            write_fields(edit, id, fields, stored.fields(id), new)?;
        }
    }
    let gone = stored.widgets(page).iter().map(|row| row.id(WIDGET_ID));
    let gone: Vec<u64> = gone.filter(|id| !kept.contains(id)).collect();
    Ok(edit.delete(&table::WIDGETS, WIDGET_ID, &gone)?)
}

/// Fields of the same kind and name keep their rows.
fn write_fields(
    edit: &mut Edit<'_>,
    widget: u64,
    fields: &[WidgetField],
    stored: &[StoredField],
    new: &mut New,
) -> ApiResult<()> {
    let mut rest: Vec<&StoredField> = stored.iter().collect();
    for field in fields {
        let same = |one: &&StoredField| one.kind == field.kind && one.name == field.name;
        let Some(at) = rest.iter().position(same) else {
            new.push((widget, field.clone()));
            continue;
        };
        let before = rest.remove(at);
        if before.value != field.value {
            let value = [("value", field.value.clone())];
            edit.update(table_of(field.kind), before.id, &value)?;
        }
    }
    for field in rest {
        edit.delete(table_of(field.kind), "widget_fieldid", &[field.id])?;
    }
    Ok(())
}

fn insert(edit: &mut Edit<'_>, fields: New) -> ApiResult<()> {
    let count = u64::try_from(fields.len()).unwrap_or(u64::MAX);
    if count == 0 {
        return Ok(());
    }
    let first = edit.next_id_of("widget_fields", count)?;
    let mut of_table: BTreeMap<&str, (&'static Table, Vec<Vec<Value>>)> = BTreeMap::new();
    for (id, (widget, field)) in (first..).zip(fields) {
        let table = table_of(field.kind);
        let row = vec![
            id.into(),
            widget.into(),
            field.kind.number().into(),
            field.name.into(),
            field.value,
        ];
        of_table.entry(table.name).or_insert_with(|| (table, Vec::new())).1.push(row);
    }
    let columns = ["widget_fieldid", WIDGET_ID, "type", "name", "value"];
    for (table, rows) in of_table.into_values() {
        edit.insert_many(table, &columns, &rows)?;
    }
    Ok(())
}
