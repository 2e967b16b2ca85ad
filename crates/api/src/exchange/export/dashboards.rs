//! Dashboards of templates.

use std::collections::BTreeMap;

use config::db::Row;
use objects::WidgetFieldType;
use serde_json::{Map, json};

use super::order::natural;
use super::{Export, Owned, object, put_list};
use crate::call::Json;
use crate::error::ApiResult;
use crate::exchange::words::dashboards::{DASHBOARD, PAGE, WIDGET};
use crate::exchange::words::to_export;
use crate::methods::dashboard::{Stored, StoredField, readable};

/// How an export names objects: members that are columns of a statement, with the statement.
fn names_of(kind: WidgetFieldType) -> Option<(&'static [&'static str], &'static str)> {
    Some(match kind {
        // An export has no host groups there.
        WidgetFieldType::Integer | WidgetFieldType::Text | WidgetFieldType::HostGroup => {
            return None;
        }
        WidgetFieldType::Host => {
            (&["host"], "SELECT hostid AS id, host FROM hosts WHERE hostid IN ({ids})")
        }
        WidgetFieldType::Item | WidgetFieldType::ItemPrototype => (
            &["host", "key"],
            "SELECT i.itemid AS id, h.host, i.key_ AS key FROM items i \
             JOIN hosts h ON h.hostid = i.hostid WHERE i.itemid IN ({ids})",
        ),
        WidgetFieldType::Graph | WidgetFieldType::GraphPrototype => (
            &["host", "name"],
            "SELECT DISTINCT g.graphid AS id, h.host, g.name FROM graphs g \
             JOIN graph_items f ON f.graphid = g.graphid JOIN items i ON i.itemid = f.itemid \
             JOIN hosts h ON h.hostid = i.hostid WHERE g.graphid IN ({ids})",
        ),
        WidgetFieldType::Map => {
            (&["name"], "SELECT sysmapid AS id, name FROM maps WHERE sysmapid IN ({ids})")
        }
        WidgetFieldType::Service => {
            (&["name"], "SELECT serviceid AS id, name FROM services WHERE serviceid IN ({ids})")
        }
        WidgetFieldType::Sla => {
            (&["name"], "SELECT slaid AS id, name FROM slas WHERE slaid IN ({ids})")
        }
        WidgetFieldType::User => {
            (&["username"], "SELECT userid AS id, username FROM users WHERE userid IN ({ids})")
        }
        WidgetFieldType::Action => {
            (&["name"], "SELECT actionid AS id, name FROM actions WHERE actionid IN ({ids})")
        }
        WidgetFieldType::MediaType => (
            &["name"],
            "SELECT mediatypeid AS id, name FROM media_types WHERE mediatypeid IN ({ids})",
        ),
    })
}

/// Objects of the template itself: users who can read it can read them.
const fn is_of_template(kind: WidgetFieldType) -> bool {
    matches!(
        kind,
        WidgetFieldType::Host
            | WidgetFieldType::Item
            | WidgetFieldType::ItemPrototype
            | WidgetFieldType::Graph
            | WidgetFieldType::GraphPrototype
    )
}

/// Objects that widgets refer to, by kind and id.
type Named = BTreeMap<(WidgetFieldType, u64), Json>;

impl Export<'_, '_> {
    /// Dashboards by template.
    pub(super) fn dashboards(&self, templates: &[u64]) -> ApiResult<Owned> {
        let sql = "SELECT * FROM dashboards WHERE hostid IN ({ids})";
        let mut rows = self.rows(sql, templates)?;
        rows.sort_by_cached_key(|row| (natural(row.text("name")), row.id("dashboardid")));
        let ids: Vec<u64> = rows.iter().map(|row| row.id("dashboardid")).collect();
        let stored = self.call.read(|connection| Stored::load(connection, &ids))?;
        let named = self.named(ids.iter().flat_map(|id| stored.fields_of(*id)))?;
        let mut owned = Owned::new();
        for row in &rows {
            let one = dashboard(row, &stored, &named);
            owned.entry(row.id("hostid")).or_default().push(one);
        }
        Ok(owned)
    }

    fn named<'s>(&self, fields: impl Iterator<Item = &'s StoredField>) -> ApiResult<Named> {
        let mut wanted: BTreeMap<WidgetFieldType, Vec<u64>> = BTreeMap::new();
        for field in fields {
            wanted.entry(field.kind).or_default().extend(field.object());
        }
        let mut named = Named::new();
        for (kind, mut ids) in wanted {
            let Some((members, sql)) = names_of(kind) else { continue };
            ids.sort_unstable();
            ids.dedup();
            if !is_of_template(kind) {
                let readable = readable(self.call, kind, &ids)?;
                ids.retain(|id| readable.contains_key(&id.to_string()));
            }
            for row in self.rows(sql, &ids)? {
                let member = |name: &&str| ((*name).to_owned(), Json::from(row.text(name)));
                let name: Map<String, Json> = members.iter().map(member).collect();
                named.entry((kind, row.id("id"))).or_insert(Json::Object(name));
            }
        }
        Ok(named)
    }
}

fn dashboard(row: &Row, stored: &Stored, named: &Named) -> Json {
    let mut out = to_export(DASHBOARD, &object(row));
    let pages = stored.pages(row.id("dashboardid")).iter().map(|page| {
        let mut out = to_export(PAGE, &object(page));
        let mut widgets: Vec<&Row> = stored.widgets(page.id("dashboard_pageid")).iter().collect();
        widgets.sort_by_key(|row| (row.int("x"), row.int("y")));
        let widgets = widgets.into_iter().map(|row| widget(row, stored, named));
        put_list(&mut out, "widgets", widgets.collect());
        Json::Object(out)
    });
    put_list(&mut out, "pages", pages.collect());
    Json::Object(out)
}

fn widget(row: &Row, stored: &Stored, named: &Named) -> Json {
    let mut out = to_export(WIDGET, &object(row));
    let fields = stored.fields(row.id("widgetid")).iter().filter_map(|field| {
        let value = match field.object() {
            Some(id) => named.get(&(field.kind, id))?.clone(),
            None => field.value.to_string().into(),
        };
        Some((field, value))
    });
    let mut fields: Vec<(&StoredField, Json)> = fields.collect();
    fields.sort_by_cached_key(|(field, value)| {
        (natural(&field.name), field.kind, parts(value).map(natural).collect::<Vec<_>>())
    });
    let fields = fields.into_iter().map(
        |(field, value)| json!({ "type": field.kind.word(), "name": field.name, "value": value }),
    );
    put_list(&mut out, "fields", fields.collect());
    Json::Object(out)
}

/// The texts of a value.
fn parts(value: &Json) -> impl Iterator<Item = &str> {
    let members = value.as_object().into_iter().flat_map(Map::values);
    value.as_str().into_iter().chain(members.filter_map(Json::as_str))
}
