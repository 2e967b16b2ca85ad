//! Stored pages of dashboards with their widgets.

use std::collections::BTreeMap;

use config::db::{Reader, Row, Value, query_by_ids};
use config::schema::Table;
use config::table;
use objects::WidgetFieldType;
use serde_json::{Map, json};

use super::fields::{PAGE_ID, WIDGET_ID};
use crate::call::Json;
use crate::error::ApiResult;
use crate::found::Found;
use crate::get::Output;

/// The table with fields of a kind.
pub(super) fn table_of(kind: WidgetFieldType) -> &'static Table {
    match kind {
        WidgetFieldType::Integer | WidgetFieldType::Text => &table::WIDGET_VALUES,
        WidgetFieldType::HostGroup => &table::WIDGET_GROUPS,
        WidgetFieldType::Host => &table::WIDGET_HOSTS,
        WidgetFieldType::Item | WidgetFieldType::ItemPrototype => &table::WIDGET_ITEMS,
        WidgetFieldType::Graph | WidgetFieldType::GraphPrototype => &table::WIDGET_GRAPHS,
        WidgetFieldType::Map => &table::WIDGET_MAPS,
        WidgetFieldType::Service => &table::WIDGET_SERVICES,
        WidgetFieldType::Sla => &table::WIDGET_SLAS,
        WidgetFieldType::User => &table::WIDGET_USERS,
        WidgetFieldType::Action => &table::WIDGET_ACTIONS,
        WidgetFieldType::MediaType => &table::WIDGET_MEDIA_TYPES,
    }
}

/// A field of a widget.
pub(crate) struct StoredField {
    pub(crate) id: u64,
    pub(crate) kind: WidgetFieldType,
    pub(crate) name: String,
    /// A text, also of a number; the id of an object.
    pub(crate) value: Value,
}

impl StoredField {
    /// The object that it refers to.
    pub(crate) fn object(&self) -> Option<u64> {
        if self.kind.refers() { u64::try_from(self.value.as_int()).ok() } else { None }
    }
}

/// Pages, widgets and fields of dashboards.
#[derive(Default)]
pub(crate) struct Stored {
    /// By dashboard, in their order.
    pages: BTreeMap<u64, Vec<Row>>,
    /// By page.
    widgets: BTreeMap<u64, Vec<Row>>,
    /// By widget, in the order of their ids.
    fields: BTreeMap<u64, Vec<StoredField>>,
}

/// Rows of a table by the value of a column.
fn rows_by(
    connection: &mut dyn Reader,
    table: &Table,
    column: &str,
    ids: &[u64],
) -> ApiResult<BTreeMap<u64, Vec<Row>>> {
    let sql = format!("SELECT * FROM {table} WHERE {column} IN ({{ids}})");
    let mut rows: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    for row in query_by_ids(connection, &sql, &[], ids)? {
        rows.entry(row.id(column)).or_default().push(row);
    }
    Ok(rows)
}

fn ids(rows: &BTreeMap<u64, Vec<Row>>, key: &str) -> Vec<u64> {
    rows.values().flatten().map(|row| row.id(key)).collect()
}

impl Stored {
    /// Those of these dashboards.
    pub(crate) fn load(connection: &mut dyn Reader, dashboards: &[u64]) -> ApiResult<Self> {
        let mut pages = rows_by(connection, &table::DASHBOARD_PAGES, "dashboardid", dashboards)?;
        for list in pages.values_mut() {
            list.sort_by_key(|row| (row.int("sortorder"), row.id(PAGE_ID)));
        }
        let mut widgets = rows_by(connection, &table::WIDGETS, PAGE_ID, &ids(&pages, PAGE_ID))?;
        for list in widgets.values_mut() {
            list.sort_by_key(|row| row.id(WIDGET_ID));
        }
        let mut tables: Vec<&Table> = WidgetFieldType::ALL.iter().copied().map(table_of).collect();
        tables.dedup_by_key(|table| table.name);
        let mut fields: BTreeMap<u64, Vec<StoredField>> = BTreeMap::new();
        let of_widgets = ids(&widgets, WIDGET_ID);
        for table in tables {
            for (widget, rows) in rows_by(connection, table, WIDGET_ID, &of_widgets)? {
                let field = |row: Row| {
                    Some(StoredField {
                        id: row.id("widget_fieldid"),
                        kind: WidgetFieldType::from_number(row.int("type"))?,
                        name: row.text("name").to_owned(),
                        value: row.get("value")?.clone(),
                    })
                };
                fields.entry(widget).or_default().extend(rows.into_iter().filter_map(field));
            }
        }
        for list in fields.values_mut() {
            list.sort_by_key(|field| field.id);
        }
        Ok(Self { pages, widgets, fields })
    }

    /// The pages of a dashboard.
    pub(crate) fn pages(&self, dashboard: u64) -> &[Row] {
        self.pages.get(&dashboard).map_or(&[], Vec::as_slice)
    }

    /// The widgets of a page.
    pub(crate) fn widgets(&self, page: u64) -> &[Row] {
        self.widgets.get(&page).map_or(&[], Vec::as_slice)
    }

    /// The fields of a widget.
    pub(crate) fn fields(&self, widget: u64) -> &[StoredField] {
        self.fields.get(&widget).map_or(&[], Vec::as_slice)
    }

    pub(super) fn page(&self, dashboard: u64, id: u64) -> Option<&Row> {
        self.pages(dashboard).iter().find(|row| row.id(PAGE_ID) == id)
    }

    pub(super) fn widget(&self, page: u64, id: u64) -> Option<&Row> {
        self.widgets(page).iter().find(|row| row.id(WIDGET_ID) == id)
    }

    /// All fields of a dashboard.
    pub(crate) fn fields_of(&self, dashboard: u64) -> impl Iterator<Item = &StoredField> {
        let pages = self.pages(dashboard).iter().map(|row| row.id(PAGE_ID));
        let widgets = pages.flat_map(|page| self.widgets(page));
        widgets.flat_map(|widget| self.fields(widget.id(WIDGET_ID)))
    }

    /// Pages as `selectPages` shows them. `objects` has other objects that fields refer to, by the
    /// id of the field.
    pub(super) fn shown(
        &self,
        dashboard: u64,
        wanted: &Output,
        objects: &BTreeMap<u64, u64>,
    ) -> Json {
        let pages = self.pages(dashboard).iter().map(|page| {
            let mut out = columns(page, &[PAGE_ID, "name", "display_period"]);
            out.retain(|name, _| wanted.has(name));
            if wanted.has("widgets") {
                let widgets = self.widgets(page.id(PAGE_ID)).iter();
                let widgets: Json = widgets.map(|row| self.shown_widget(row, objects)).collect();
                out.insert("widgets".to_owned(), widgets);
            }
            Json::Object(out)
        });
        pages.collect()
    }

    fn shown_widget(&self, widget: &Row, objects: &BTreeMap<u64, u64>) -> Json {
        let mut out =
            columns(widget, &[WIDGET_ID, "type", "name", "x", "y", "width", "height", "view_mode"]);
        let fields = self.fields(widget.id(WIDGET_ID)).iter().map(|field| {
            let value =
                objects.get(&field.id).map_or_else(|| field.value.to_string(), u64::to_string);
            json!({ "type": field.kind.text(), "name": field.name, "value": value })
        });
        out.insert("fields".to_owned(), fields.collect());
        Json::Object(out)
    }
}

fn columns(row: &Row, names: &[&str]) -> Map<String, Json> {
    let value = |name: &&str| Some(((*name).to_owned(), row.get(name)?.to_string().into()));
    names.iter().filter_map(value).collect()
}

/// Names that `selectPages` takes.
const SHOWN: &[&str] = &[PAGE_ID, "name", "display_period", "widgets"];

/// What `selectPages` asks for.
pub(super) fn wanted_pages(input: &Json) -> ApiResult<Option<Output>> {
    let wanted = match input.get("selectPages") {
        Some(Json::String(text)) if text != "extend" => {
            return Err(crate::ApiError::at("/selectPages", "value must be \"extend\""));
        }
        Some(value) => Output::parse(value, "/selectPages")?,
        None => None,
    };
    if let Some(wanted) = &wanted {
        wanted.only("selectPages", SHOWN)?;
    }
    Ok(wanted)
}

/// `selectPages` of dashboards.
pub(super) fn show_pages(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let Some(wanted) = wanted_pages(found.params)? else { return Ok(()) };
    let ids = found.ids();
    let stored = found.call.read(|connection| Stored::load(connection, &ids))?;
    for row in &mut found.rows {
        row.out.insert("pages", stored.shown(row.id, &wanted, &BTreeMap::new()));
    }
    Ok(())
}
