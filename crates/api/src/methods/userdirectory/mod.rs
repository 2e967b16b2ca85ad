//! User directories: LDAP servers, and a SAML identity provider, which is stored only.

mod fields;
mod groups;
mod rules;
mod trial;

use config::Edit;
use config::db::{Row, query_by_ids};
use config::table;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Get;
use crate::methods::authentication::{self, Current};
use crate::methods::usergroup::USER_GROUP;
use crate::object::{Mode, Object, columns_of};
use crate::plain::{self, Child, Draft, Key, Plain, Select, Spec, Unique, number};
use crate::relate::{Relation, wanted_of};

pub(crate) const METHODS: &[Method] = &[
    Method::super_admin("userdirectory.get", plain::get::<UserDirectory>),
    Method::super_admin("userdirectory.create", plain::create::<UserDirectory>),
    Method::super_admin("userdirectory.update", plain::update::<UserDirectory>),
    Method::super_admin("userdirectory.delete", plain::delete::<UserDirectory>),
    Method::super_admin("userdirectory.test", trial::test),
];

/// Values of `idp_type`.
const LDAP: i64 = 1;
const SAML: i64 = 2;

pub(crate) static USER_DIRECTORY: Object = Object {
    name: "userdirectory",
    table: "userdirectories",
    key: "userdirectoryid",
    keys: "userdirectoryids",
    fields: fields::FIELDS,
    strict: true,
    sort: &["name"],
};

static SPEC: Spec = Spec {
    options: &["selectUsrgrps", "selectProvisionGroups"],
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "User directory \"{name}\" already exists.",
    }),
    children: &[Child {
        select: Some(Select::Rows("selectProvisionMedia")),
        unique: &["mediatypeid", "attribute"],
        parse: Some(|_, members, path| {
            let is_named = members.contains_key("userdirectory_mediaid");
            let mode = if is_named { Mode::Update } else { Mode::Create };
            columns_of(fields::MEDIA, "", &Json::Object(members.clone()), path, mode)
        }),
        check: |_, row, path| rules::check_media(row, path),
        refer: |_, edit, rows, path| rules::check_media_types(edit, rows, path),
        ..Child::new(
            "provision_media",
            &table::USERDIRECTORY_MEDIA,
            "userdirectoryid",
            Key::Named("userdirectory_mediaid"),
            fields::MEDIA,
        )
    }],
    ..Spec::new(
        &USER_DIRECTORY,
        &table::USERDIRECTORIES,
        &[("userdirectoryids", "t.userdirectoryid IN ({ids})")],
    )
};

/// Fields that `selectUsrgrps` shows.
const GROUP_FIELDS: &[&str] = &[
    "usrgrpid",
    "name",
    "gui_access",
    "users_status",
    "debug_mode",
    "userdirectoryid",
    "mfa_status",
    "mfaid",
];

#[derive(Default)]
struct UserDirectory;

impl Plain for UserDirectory {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, _call: &Call<'_>, input: &Json) -> ApiResult<()> {
        get.need(&["idp_type"]);
        wanted_of(input, "selectUsrgrps", GROUP_FIELDS)?;
        groups::wanted(input).map(drop)
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        for row in &mut found.rows {
            let other = fields::not_of(row.row.int("idp_type"));
            row.out.retain(|name| !other.contains(&name));
        }
        if let Some(wanted) = wanted_of(found.params, "selectUsrgrps", GROUP_FIELDS)? {
            let sql = "SELECT userdirectoryid, usrgrpid FROM usergroups \
                       WHERE userdirectoryid IN ({ids}) ORDER BY usrgrpid";
            let pairs = found.call.pairs(sql, &found.ids())?;
            found.relate_as(&Relation::new("usrgrps", &USER_GROUP).bare(), &wanted, &pairs)?;
        }
        groups::show(found)
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        // Before names are compared.
        if draft.id == 0 { rules::complete(draft, None) } else { Ok(()) }
    }

    fn write(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        if before.is_some() {
            rules::complete(draft, before)?;
        }
        rules::check_named_media(edit, draft)?;
        let is_saml = draft.value("idp_type", before).as_int() == SAML;
        let other = "SELECT userdirectoryid FROM userdirectories WHERE idp_type = ? LIMIT 1";
        if before.is_none() && is_saml && !edit.query(other, &[SAML.into()])?.is_empty() {
            let error = format!("Only one user directory of type \"{SAML}\" can exist.");
            return Err(ApiError::params(error));
        }
        Ok(())
    }

    fn written(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
    ) -> ApiResult<()> {
        for draft in drafts {
            groups::write(edit, draft)?;
        }
        let is_new_ldap = |draft: &&Draft<'_>| {
            draft.input.get(USER_DIRECTORY.key).is_none()
                && draft.value("idp_type", None).as_int() == LDAP
        };
        let new: Vec<u64> = drafts.iter().filter(is_new_ldap).map(|draft| draft.id).collect();
        let Some(first) = new.first() else { return Ok(()) };
        let sql = "SELECT userdirectoryid FROM userdirectories WHERE idp_type = ?";
        if edit.query(sql, &[LDAP.into()])?.len() == new.len() {
            authentication::set(edit, "ldap_userdirectoryid", *first)?;
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        refuse_used(edit, rows)?;
        let ids: Vec<u64> = rows.iter().map(|row| row.id("userdirectoryid")).collect();
        let sql = "SELECT userid FROM users WHERE userdirectoryid IN ({ids})";
        let users = query_by_ids(edit, sql, &[], &ids)?;
        let users: Vec<u64> = users.iter().map(|row| row.id("userid")).collect();
        edit.update_many(&table::USERS, &users, &[("userdirectoryid", 0.into())])?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}

/// Refuses to delete the default LDAP server while others are left or sign-in by LDAP is enabled, the SAML
/// provider in use, and those of user groups. The last LDAP server is the default no longer.
fn refuse_used(edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
    let current = Current::read(edit)?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("userdirectoryid")).collect();
    let of_ldap = rows.iter().filter(|row| row.int("idp_type") == LDAP).count();
    let all = "SELECT userdirectoryid FROM userdirectories WHERE idp_type = ?";
    let left = edit.query(all, &[LDAP.into()])?.len() - of_ldap;
    let takes_default = ids.contains(&current.number("ldap_userdirectoryid"));
    let is_enabled = current.is_on("ldap_auth_enabled");
    let takes_saml = current.is_on("saml_auth_enabled") && of_ldap < rows.len();
    if takes_saml || takes_default && (is_enabled || left > 0) || is_enabled && left == 0 {
        return Err(ApiError::params("Cannot delete default user directory."));
    }
    let sql = "SELECT userdirectoryid FROM usergroups \
               WHERE gui_access IN (0, 2) AND userdirectoryid IN ({ids}) ORDER BY usrgrpid";
    if let Some(group) = query_by_ids(edit, sql, &[], &ids)?.first() {
        let directory =
            rows.iter().find(|row| row.id("userdirectoryid") == group.id("userdirectoryid"));
        let name = directory.map_or("", |row| row.text("name"));
        return Err(ApiError::params(format!("Cannot delete user directory \"{name}\".")));
    }
    if takes_default {
        authentication::set(edit, "ldap_userdirectoryid", 0)?;
    }
    Ok(())
}

/// Ids of a column.
fn ids(rows: &[crate::object::Columns], column: &str) -> Vec<u64> {
    rows.iter().map(|row| u64::try_from(number(row, column)).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests;
