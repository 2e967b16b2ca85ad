//! Dashboards of templates, which their hosts show.

use std::collections::BTreeSet;

use config::Edit;
use config::db::{Row, Value};
use config::objects::new_uuid;
use config::table;
use const_format::formatcp;
use objects::sql::KIND_HOST;
use serde_json::json;

use super::{Stored, fields, layout, references, stored, write_pages};
use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Get;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, OneOf, Text};
use crate::object::{Mode, Object, field, taken};
use crate::params;
use crate::permission::{Need, on_hosts};
use crate::plain::{self, Draft, Plain, Spec, delete_rows};
use crate::write::{Target, check_uuid};

pub(crate) const METHODS: &[Method] = &[
    Method::user("templatedashboard.get", get),
    Method::admin("templatedashboard.create", plain::create::<TemplateDashboard>),
    Method::admin("templatedashboard.update", plain::update::<TemplateDashboard>),
    Method::admin("templatedashboard.delete", plain::delete::<TemplateDashboard>),
];

/// Condition on rows of the table that are dashboards of templates.
const OF_TEMPLATES: &str = "hostid <> 0";

pub(crate) static TEMPLATE_DASHBOARD: Object = Object {
    name: "templatedashboard",
    table: formatcp!(
        "(SELECT dashboardid, name, hostid AS templateid, display_period, auto_start, uuid \
         FROM dashboards WHERE {OF_TEMPLATES})"
    ),
    key: "dashboardid",
    keys: "dashboardids",
    fields: &[
        field("dashboardid", Id, ReadOnly, "Id of the dashboard."),
        field("name", Name(255), Required, "Name."),
        field("templateid", Id, Required, "Its template.").in_column("hostid"),
        field("display_period", fields::PERIOD, Optional, "Seconds for which a page is shown."),
        field("auto_start", OneOf(&[0, 1]), Optional, "1 = pages change by themselves."),
        field("uuid", Text(32), Optional, "Universal id."),
        field("pages", Nested, Required, "Pages: `[{name, display_period, widgets}]`."),
    ],
    strict: true,
    sort: &["dashboardid", "name"],
};

static SPEC: Spec = Spec {
    options: &["selectPages", "groupCount"],
    fixed: &["templateid"],
    ..Spec::new(
        &TEMPLATE_DASHBOARD,
        &table::DASHBOARDS,
        &[("dashboardids", "t.dashboardid IN ({ids})"), ("templateids", "t.templateid IN ({ids})")],
    )
};

/// With `groupCount`, how many dashboards each template has.
fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let is_set = |option: &str| params::flag(input.get(option));
    if !is_set("groupCount") || !is_set("countOutput") {
        return plain::get::<TemplateDashboard>(call, input);
    }
    let by_ids = SPEC.by_ids.iter().map(|(option, _)| *option);
    let options: Vec<&str> = by_ids.chain(SPEC.options.iter().copied()).collect();
    let mut get = Get::new(call, input, &TEMPLATE_DASHBOARD, &options)?;
    for (option, condition) in SPEC.by_ids {
        get.by_ids(option, condition)?;
    }
    TemplateDashboard.select(&mut get, call, input)?;
    let (condition, values) = get.condition()?;
    let sql = format!(
        "SELECT t.templateid, COUNT(*) AS n FROM {} t WHERE {condition} GROUP BY t.templateid \
         ORDER BY t.templateid",
        TEMPLATE_DASHBOARD.table
    );
    let count = |row: &Row| {
        let [template, count] = ["templateid", "n"].map(|name| row.id(name).to_string());
        json!({ "templateid": template, "rowscount": count })
    };
    Ok(call.rows(&sql, &values)?.iter().map(count).collect())
}

/// Condition on templates `t`: the user has the right on them, or reads a host that is below.
fn seen(call: &Call<'_>, need: Need) -> Option<String> {
    let own = on_hosts(call.user(), need, "t.templateid")?;
    let below = on_hosts(call.user(), Need::Read, "h.hostid").filter(|_| need == Need::Read);
    Some(below.map_or(own.clone(), |below| {
        format!(
            "({own} OR t.templateid IN (WITH RECURSIVE above(id) AS (\
               SELECT l.templateid FROM host_templates l JOIN hosts h ON h.hostid = l.hostid \
               WHERE h.kind = {KIND_HOST} AND {below} \
               UNION SELECT l.templateid FROM host_templates l JOIN above a ON l.hostid = a.id) \
             SELECT id FROM above))"
        )
    }))
}

#[derive(Default)]
struct TemplateDashboard;

impl Plain for TemplateDashboard {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, _input: &Json) -> ApiResult<()> {
        if let Some(seen) = seen(call, plain::need(get)) {
            get.and(seen, []);
        }
        Ok(())
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        stored::show_pages(found)
    }

    fn given(&self, call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        let mode = if draft.id == 0 { Mode::Create } else { Mode::Update };
        if draft.gives("uuid") {
            check_uuid(&draft.text("uuid", None), &format!("{}/uuid", draft.path))?;
        }
        let pages = layout::parse(draft.input, &draft.path, mode)?.unwrap_or_default();
        let sql = formatcp!("SELECT * FROM dashboards WHERE dashboardid = ? AND {OF_TEMPLATES}");
        let before = call.rows(sql, &[draft.id.into()])?.pop();
        if before.is_none() && mode == Mode::Update {
            return Err(ApiError::no_object());
        }
        let template = template_of(draft, before.as_ref());
        let need = |connection: &mut dyn config::db::Reader| {
            call.allowed(connection, Target::Template, Need::Write, &[template])
        };
        if call.read(need)?.is_empty() {
            return Err(ApiError::no_object());
        }
        let stored = call.read(|connection| Stored::load(connection, &[draft.id]))?;
        layout::check_ids(&pages, draft.id, &stored)?;
        layout::check_places(&pages, &draft.text("name", before.as_ref()), &stored)?;
        references::check(call, &pages, Some(template), &stored)
    }

    fn may_write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
        rows: &[Row],
    ) -> ApiResult<()> {
        require(call, edit, rows)?;
        check_unique(edit, drafts, rows)
    }

    fn write(
        &self,
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        if before.is_none() && !draft.gives("uuid") {
            draft.set("uuid", new_uuid()?);
        }
        Ok(())
    }

    fn written(&self, _: &Call<'_>, edit: &mut Edit<'_>, drafts: &[Draft<'_>]) -> ApiResult<()> {
        write_pages(edit, drafts)
    }

    fn delete(&self, call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        require(call, edit, rows)?;
        delete_rows(&SPEC, edit, rows)
    }
}

fn template_of(draft: &Draft<'_>, before: Option<&Row>) -> u64 {
    u64::try_from(draft.value("hostid", before).as_int()).unwrap_or(0)
}

/// Refuses dashboards of templates that the user may not change, and those of users.
fn require(call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
    let templates: Vec<u64> = rows.iter().map(|row| row.id("hostid")).collect();
    call.require(edit, Target::Template, Need::Write, &templates)
}

/// Universal ids are unique, and names within a template.
fn check_unique(edit: &mut Edit<'_>, drafts: &[Draft<'_>], rows: &[Row]) -> ApiResult<()> {
    let (mut uuids, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (n, draft) in drafts.iter().enumerate() {
        let (before, path) = (rows.get(n), &draft.path);
        let differs = |column: &str| {
            let old = before.map(|row| row.text(column).to_owned());
            draft.gives(column) && old != Some(draft.text(column, None))
        };
        let (uuid, name) = (draft.text("uuid", before), draft.text("name", before));
        let template = template_of(draft, before);
        if draft.gives("uuid") && !uuids.insert(uuid.clone()) {
            return Err(taken(path, "uuid", uuid));
        }
        if !names.insert((template, name.clone())) {
            let (names, values) = match before {
                Some(_) => ("name, templateid", format!("{name}, {template}")),
                None => ("templateid, name", format!("{template}, {name}")),
            };
            return Err(taken(path, names, values));
        }
        let exists = |edit: &mut Edit<'_>, condition: &str, values: &[Value]| -> ApiResult<bool> {
            let sql = format!("SELECT dashboardid FROM dashboards WHERE {condition} LIMIT 1");
            Ok(!edit.query(&sql, values)?.is_empty())
        };
        if differs("uuid") && exists(edit, "uuid = ?", &[uuid.into()])? {
            let text = "template dashboard with the same UUID already exists";
            return Err(ApiError::at(path, text));
        }
        let values = [template.into(), Value::from(name.as_str())];
        if differs("name") && exists(edit, "hostid = ? AND name = ?", &values)? {
            return Err(ApiError::params(format!("Dashboard \"{name}\" already exists.")));
        }
    }
    Ok(())
}
