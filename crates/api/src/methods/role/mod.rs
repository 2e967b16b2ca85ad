//! Roles: what kind of user one is, and what of the interface, the API and the actions one may use.

mod rules;

use config::Edit;
use config::db::Row;
use config::table;
use objects::UserType;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Get;
use crate::methods::user;
use crate::methods::user::check_super_admin_left;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Nested, OneOf};
use crate::object::{Field, Object, field};
use crate::plain::{self, Draft, Plain, Spec, Unique};
use crate::relate::Relation;

pub(crate) const METHODS: &[Method] = &[
    Method::user("role.get", plain::get::<Role>),
    Method::super_admin("role.create", plain::create::<Role>),
    Method::super_admin("role.update", plain::update::<Role>),
    Method::super_admin("role.delete", plain::delete::<Role>),
];

const FIELDS: &[Field] = &[
    field("roleid", Id, ReadOnly, "Id of the role."),
    field("name", Name(255), Required, "Name."),
    field("type", OneOf(UserType::NUMBERS), Required, "1 user, 2 admin, 3 super admin."),
    field("readonly", OneOf(&[0, 1]), ReadOnly, "1 = cannot be changed."),
    field("rules", Nested, Optional, "What its users may use."),
];

/// Fields that `output` may name: rules have an option of their own.
pub(crate) static ROLE: Object = Object {
    name: "role",
    table: "roles",
    key: "roleid",
    keys: "roleids",
    fields: FIELDS,
    strict: true,
    sort: &["roleid", "name"],
};

static SPEC: Spec = Spec {
    options: &["selectRules", "selectUsers"],
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "User role \"{name}\" already exists.",
    }),
    ..Spec::new(&ROLE, &table::ROLES, &[("roleids", "t.roleid IN ({ids})")])
};

#[derive(Default)]
struct Role;

impl Plain for Role {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, _input: &Json) -> ApiResult<()> {
        if !call.is_super_admin() {
            get.and("t.roleid = ?", [call.user().roleid.into()]);
            if get.flag("editable") {
                get.and("1 = 0", []);
            }
        }
        get.need(&["type", "rules"]);
        Ok(())
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        if let Some(wanted) = found.wants_list("selectRules")? {
            for row in &mut found.rows {
                let stored = serde_json::from_str(row.row.text("rules")).unwrap_or_default();
                let shown = rules::shown(&stored, user_type(row.row.int("type")), &wanted);
                row.out.insert("rules", shown);
            }
        }
        if let Some(wanted) = found.wants("selectUsers")? {
            let (call, me) = (found.call, found.call.user().id);
            let mut pairs = call.pairs(
                "SELECT roleid, userid FROM users WHERE roleid IN ({ids}) ORDER BY userid",
                &found.ids(),
            )?;
            pairs.retain(|(_, user)| call.is_super_admin() || *user == me);
            let relation = Relation::new("users", &user::USER).bare();
            found.relate_as(&relation, &wanted, &pairs)?;
        }
        Ok(())
    }

    fn may_write(
        &self,
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        _drafts: &[Draft<'_>],
        rows: &[Row],
    ) -> ApiResult<()> {
        rows.iter().try_for_each(|row| refuse_readonly(row, "update"))
    }

    fn write(
        &self,
        call: &Call<'_>,
        _edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        let kind = user_type(draft.value("type", before).as_int());
        let changes = before.is_some_and(|row| user_type(row.int("type")) != kind);
        if changes && draft.id == call.user().roleid {
            return Err(ApiError::params("The type of one's own role cannot be changed."));
        }
        let stored = before.and_then(|row| serde_json::from_str(row.text("rules")).ok());
        let (stored, given) = (stored.unwrap_or_default(), draft.input.get("rules"));
        let (name, path) = (draft.text("name", before), format!("{}/rules", draft.path));
        let rules = rules::merged(&stored, given.unwrap_or(&Json::Null), kind, &name, &path)?;
        draft.set("rules", rules.to_string());
        Ok(())
    }

    fn written(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        _drafts: &[Draft<'_>],
    ) -> ApiResult<()> {
        check_super_admin_left(edit)
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        for row in rows {
            refuse_readonly(row, "delete")?;
            let sql = "SELECT userid FROM users WHERE roleid = ?";
            if !edit.query(sql, &[row.id("roleid").into()])?.is_empty() {
                let name = row.text("name");
                let text = format!("Cannot delete assigned user role \"{name}\".");
                return Err(ApiError::application(text));
            }
        }
        plain::delete_rows(&SPEC, edit, rows)
    }
}

/// The user type of a role's row, the lowest if it has none that is known.
fn user_type(number: i64) -> UserType {
    UserType::from_number(number).unwrap_or(UserType::User)
}

fn refuse_readonly(row: &Row, verb: &str) -> ApiResult<()> {
    if row.int("readonly") == 0 {
        return Ok(());
    }
    let name = row.text("name");
    Err(ApiError::application(format!("Cannot {verb} readonly user role \"{name}\".")))
}
