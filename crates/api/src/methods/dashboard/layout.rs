//! Pages and widgets as a call gives them, and their places on the grid.

use std::collections::BTreeSet;

use config::db::{Row, Value};
use config::table;
use objects::WidgetFieldType;
use serde_json::Map;

use super::fields::{COLUMNS, PAGE, PAGE_ID, PAGES_MAX, ROWS, WIDGET, WIDGET_FIELD, WIDGET_ID};
use super::stored::Stored;
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::{Columns, Field, FieldKind, Mode, columns_of, taken};
use crate::params;
use crate::plain::{number, text};
use crate::write::{nested, only};

/// A page, or what an update changes of it.
pub(super) struct Page {
    /// `None` = a new one.
    pub(super) id: Option<u64>,
    pub(super) columns: Columns,
    /// `None` = they stay.
    pub(super) widgets: Option<Vec<Widget>>,
}

/// A widget, or what an update changes of it.
pub(super) struct Widget {
    /// `None` = a new one.
    pub(super) id: Option<u64>,
    pub(super) columns: Columns,
    /// `None` = they stay.
    pub(super) fields: Option<Vec<WidgetField>>,
}

/// A setting of a widget.
#[derive(Debug, Clone)]
pub(super) struct WidgetField {
    pub(super) kind: WidgetFieldType,
    pub(super) name: String,
    /// A text, also of a number; the id of an object.
    pub(super) value: Value,
}

impl WidgetField {
    fn parse(members: &Map<String, Json>, path: &str) -> ApiResult<Self> {
        let names: Vec<&str> = WIDGET_FIELD.iter().map(|field| field.name).collect();
        only(members, path, &names)?;
        let given = Json::Object(members.clone());
        let columns = columns_of(WIDGET_FIELD, "", &given, path, Mode::Create)?;
        let kind = WidgetFieldType::from_number(number(&columns, "type"));
        let kind = kind.unwrap_or(WidgetFieldType::Text);
        let name = text(&columns, "name").unwrap_or_default().to_owned();
        let (value, path) = (&given["value"], format!("{path}/value"));
        let value = match kind {
            WidgetFieldType::Integer => {
                let number = params::int(value, &path)?;
                let number = i32::try_from(number)
                    .map_err(|_| ApiError::at(&path, "a number is too large"))?;
                number.to_string().into()
            }
            WidgetFieldType::Text => {
                let text = FieldKind::Text(2_048).check(value, &path)?;
                text.unwrap_or_else(|| Value::from(""))
            }
            _ => params::id(value, &path)?.into(),
        };
        Ok(Self { kind, name, value })
    }

    /// The object that it refers to.
    pub(super) fn object(&self) -> Option<u64> {
        if self.kind.refers() { u64::try_from(self.value.as_int()).ok() } else { None }
    }
}

/// The members of an element of a list: its id and its columns.
fn element(
    fields: &'static [Field],
    key: &str,
    members: &Map<String, Json>,
    path: &str,
    mode: Mode,
) -> ApiResult<(Option<u64>, Columns)> {
    let names = fields.iter().map(|field| field.name);
    let names: Vec<&str> = names.filter(|name| mode == Mode::Update || *name != key).collect();
    only(members, path, &names)?;
    let id = members.get(key).map(|id| params::id(id, &format!("{path}/{key}"))).transpose()?;
    let columns = columns_of(fields, key, &Json::Object(members.clone()), path, mode)?;
    Ok((id, columns))
}

fn widget(members: &Map<String, Json>, path: &str, mode: Mode) -> ApiResult<Widget> {
    let (id, columns) = element(WIDGET, WIDGET_ID, members, path, mode)?;
    let fields = members.get("fields").map(|list| {
        let fields = nested(list, &format!("{path}/fields"))?.into_iter();
        fields.map(|(path, members)| WidgetField::parse(members, &path)).collect()
    });
    Ok(Widget { id, columns, fields: fields.transpose()? })
}

fn page(members: &Map<String, Json>, path: &str, mode: Mode) -> ApiResult<Page> {
    let (id, columns) = element(PAGE, PAGE_ID, members, path, mode)?;
    let widgets = members.get("widgets").map(|list| {
        let mut seen = BTreeSet::new();
        let widgets = nested(list, &format!("{path}/widgets"))?.into_iter();
        let widgets = widgets.map(|(path, members)| {
            let widget = widget(members, &path, mode)?;
            refuse_twin(&mut seen, widget.id, &path, WIDGET_ID).map(|()| widget)
        });
        widgets.collect::<ApiResult<_>>()
    });
    Ok(Page { id, columns, widgets: widgets.transpose()? })
}

fn refuse_twin(seen: &mut BTreeSet<u64>, id: Option<u64>, path: &str, key: &str) -> ApiResult<()> {
    match id.filter(|id| !seen.insert(*id)) {
        Some(id) => Err(taken(path, key, id)),
        None => Ok(()),
    }
}

/// The pages of a dashboard; `None` = not given.
pub(super) fn parse(dashboard: &Json, path: &str, mode: Mode) -> ApiResult<Option<Vec<Page>>> {
    let Some(list) = dashboard.get("pages") else { return Ok(None) };
    let path = format!("{path}/pages");
    let nodes = nested(list, &path)?;
    if nodes.is_empty() {
        return Err(ApiError::at(&path, "cannot be empty"));
    }
    if nodes.len() > PAGES_MAX {
        let text = format!("maximum number of array elements is {PAGES_MAX}");
        return Err(ApiError::at(&path, text));
    }
    let mut seen = BTreeSet::new();
    let pages = nodes.into_iter().map(|(path, members)| {
        let page = page(members, &path, mode)?;
        refuse_twin(&mut seen, page.id, &path, PAGE_ID).map(|()| page)
    });
    pages.collect::<ApiResult<_>>().map(Some)
}

/// Refuses pages that are none of the dashboard, and widgets that are none of their page.
pub(super) fn check_ids(pages: &[Page], dashboard: u64, stored: &Stored) -> ApiResult<()> {
    for page in pages {
        let is_known = |id| stored.page(dashboard, id).is_some();
        let mut widgets = page.widgets.iter().flatten().filter_map(|widget| widget.id);
        let known = page.id.unwrap_or(0);
        if page.id.is_some_and(|id| !is_known(id))
            || widgets.any(|id| stored.widget(known, id).is_none())
        {
            return Err(ApiError::no_object());
        }
    }
    Ok(())
}

/// The place of a widget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    x: i64,
    y: i64,
    width: i64,
    height: i64,
}

impl Place {
    /// The place of a widget that has this row, or is new.
    fn of(widget: &Widget, before: Option<&Row>) -> Self {
        let side = |name: &str| {
            let given = widget.columns.iter().find(|(column, _)| *column == name);
            match (given, before) {
                (Some((_, value)), _) => value.as_int(),
                (None, Some(row)) => row.int(name),
                (None, None) => {
                    table::WIDGETS.column(name).map_or(0, |one| one.default_value().as_int())
                }
            }
        };
        Self { x: side("x"), y: side("y"), width: side("width"), height: side("height") }
    }

    fn overlaps(self, other: Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    fn is_on_grid(self) -> bool {
        self.x + self.width <= COLUMNS && self.y + self.height <= ROWS
    }
}

/// Refuses widgets that cover others or do not fit on the grid. `name` is that of the dashboard.
pub(super) fn check_places(pages: &[Page], name: &str, stored: &Stored) -> ApiResult<()> {
    for (n, page) in pages.iter().enumerate() {
        let mut places: Vec<Place> = Vec::new();
        for widget in page.widgets.iter().flatten() {
            let before = widget.id.and_then(|id| stored.widget(page.id.unwrap_or(0), id));
            let place = Place::of(widget, before);
            let at = format!(
                "at X:{}, Y:{} on page #{} of dashboard \"{name}\"",
                place.x,
                place.y,
                n + 1
            );
            if places.iter().any(|other| place.overlaps(*other)) {
                return Err(ApiError::params(format!("Overlapping widgets {at}.")));
            }
            if !place.is_on_grid() {
                return Err(ApiError::params(format!("Widget {at} is out of bounds.")));
            }
            places.push(place);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn neighbours_do_not_overlap() {
        let place = |x, y, width, height| Place { x, y, width, height };
        let one = place(2, 2, 3, 3);
        for other in [place(5, 2, 1, 1), place(0, 2, 2, 3), place(2, 5, 9, 9), place(2, 0, 9, 2)] {
            assert!(!one.overlaps(other) && !other.overlaps(one), "{other:?}");
        }
        for other in [place(4, 4, 9, 9), place(3, 3, 1, 1), place(0, 0, 3, 3), one] {
            assert!(one.overlaps(other) && other.overlaps(one), "{other:?}");
        }
        assert!(place(71, 63, 1, 1).is_on_grid());
        assert!(!place(71, 0, 2, 1).is_on_grid() && !place(0, 63, 1, 2).is_on_grid());
    }
}
