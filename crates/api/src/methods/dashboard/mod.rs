//! Dashboards of users: pages of widgets on a grid, shared with users and user groups. Those of templates and
//! what hosts have of them are in [`template`] and [`host`].

mod fields;
pub(crate) mod host;
mod layout;
mod references;
mod rights;
mod shares;
mod stored;
pub(crate) mod template;
mod write;

use config::Edit;
use config::db::Row;
use config::table;
use const_format::formatcp;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::{Get, Output};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, OneOf};
use crate::object::{Mode, Object, field};
use crate::permission::action_allowed;
use crate::plain::{self, Action, Draft, Plain, Spec, Unique, delete_rows};

pub(crate) use references::readable;
pub(crate) use stored::{Stored, StoredField};

pub(crate) const METHODS: &[Method] = &[
    Method::user("dashboard.get", plain::get::<Dashboard>),
    Method::user("dashboard.create", plain::create::<Dashboard>),
    Method::user("dashboard.update", plain::update::<Dashboard>),
    Method::user("dashboard.delete", plain::delete::<Dashboard>),
];

/// Condition on rows of the table that are dashboards of users.
const OF_USERS: &str = "hostid = 0";

pub(crate) static DASHBOARD: Object = Object {
    name: "dashboard",
    table: formatcp!("(SELECT * FROM dashboards WHERE {OF_USERS})"),
    key: "dashboardid",
    keys: "dashboardids",
    fields: &[
        field("dashboardid", Id, ReadOnly, "Id of the dashboard."),
        field("name", Name(255), Required, "Name."),
        field("userid", Id, Optional, "Its owner; the caller if not given."),
        field("private", OneOf(&[0, 1]), Optional, "0 = all users see it."),
        field("users", Nested, Optional, "Shared with users: `[{userid, permission}]`."),
        field("userGroups", Nested, Optional, "Shared with groups: `[{usrgrpid, permission}]`."),
        field("display_period", fields::PERIOD, Optional, "Seconds for which a page is shown."),
        field("auto_start", OneOf(&[0, 1]), Optional, "1 = pages change by themselves."),
        field("pages", Nested, Required, "Pages: `[{name, display_period, widgets}]`."),
    ],
    strict: true,
    sort: &["dashboardid", "name"],
};

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: Some(OF_USERS),
        error: "Dashboard \"{name}\" already exists.",
    }),
    options: &["selectPages", "selectUsers", "selectUserGroups"],
    children: fields::CHILDREN,
    ..Spec::new(&DASHBOARD, &table::DASHBOARDS, &[("dashboardids", "t.dashboardid IN ({ids})")])
};

#[derive(Default)]
struct Dashboard;

impl Plain for Dashboard {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn allow(&self, call: &Call<'_>, action: Action) -> ApiResult<()> {
        if action == Action::Get || action_allowed(call.user(), "edit_dashboards") {
            return Ok(());
        }
        let method = format!("dashboard.{}", action.name());
        Err(ApiError::application(format!("No permissions to call \"{method}\".")))
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, _input: &Json) -> ApiResult<()> {
        if let Some(seen) = rights::seen(call.user(), plain::need(get)) {
            get.and(seen, []);
        }
        Ok(())
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        if found.output == Output::Extend {
            // Dashboards of templates have one; the option `output` does not take it.
            found.rows.iter_mut().for_each(|row| row.out.insert("uuid", "".into()));
        }
        shares::show(found)?;
        stored::show_pages(found)
    }

    fn given(&self, call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        let mode = if draft.id == 0 { Mode::Create } else { Mode::Update };
        let pages = layout::parse(draft.input, &draft.path, mode)?.unwrap_or_default();
        let before = match draft.id {
            0 => None,
            id => {
                Some(call.read(|connection| rights::writable(call, connection, &[id]))?.remove(0))
            }
        };
        let stored = match draft.id {
            0 => Stored::default(),
            id => call.read(|connection| Stored::load(connection, &[id]))?,
        };
        layout::check_ids(&pages, draft.id, &stored)?;
        rights::check_owner(call, draft, before.as_ref())?;
        shares::check(call, draft)?;
        layout::check_places(&pages, &draft.text("name", before.as_ref()), &stored)?;
        references::check(call, &pages, None, &stored)
    }

    fn write(
        &self,
        call: &Call<'_>,
        _edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        if before.is_none() && !draft.gives("userid") {
            draft.set("userid", call.user().id);
        }
        Ok(())
    }

    fn written(&self, _: &Call<'_>, edit: &mut Edit<'_>, drafts: &[Draft<'_>]) -> ApiResult<()> {
        write_pages(edit, drafts)
    }

    fn delete(&self, call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        let ids: Vec<u64> = rows.iter().map(|row| row.id("dashboardid")).collect();
        rights::writable(call, edit, &ids)?;
        delete_rows(&SPEC, edit, rows)
    }
}

/// Writes the pages that drafts give.
fn write_pages(edit: &mut Edit<'_>, drafts: &[Draft<'_>]) -> ApiResult<()> {
    for draft in drafts {
        // A new dashboard has its id by now, and its pages have none: the mode makes no difference.
        if let Some(pages) = layout::parse(draft.input, &draft.path, Mode::Update)? {
            write::write(edit, draft.id, &pages)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
