//! What a user directory must and may have.

use std::collections::BTreeSet;

use config::Edit;
use config::db::{Row, Value};
use config::schema::Column;

use super::{LDAP, fields, groups, ids};
use crate::call::Json;
use crate::directory::column;
use crate::directory::provision::MappedMedia;
use crate::error::{ApiError, ApiResult};
use crate::methods::user::is_period;
use crate::object::{Columns, Mode, columns_of, missing};
use crate::plain::{Draft, number, text};
use crate::write::{names, nested, only};

/// Fields that provisioning alone needs: they are emptied when it is switched off.
const OF_PROVISIONING: &[&str] = &["group_name", "user_username", "user_lastname"];
const OF_LDAP_PROVISIONING: &[&str] =
    &["group_basedn", "user_ref_attr", "group_member", "group_membership"];

/// Fields that LDAP cannot do without.
const REQUIRED: &[&str] = &["name", "host", "port", "base_dn", "search_attribute"];

/// Refuses fields of the other type, and misses those that the type must have.
pub(super) fn complete(draft: &mut Draft<'_>, before: Option<&Row>) -> ApiResult<()> {
    let idp_type = draft.value("idp_type", before).as_int();
    if before.is_some_and(|row| row.int("idp_type") != idp_type) {
        return Err(ApiError::at(&format!("{}/idp_type", draft.path), "cannot be changed"));
    }
    if let Some(name) = fields::not_of(idp_type).iter().find(|name| draft.gives(name)) {
        let error = format_args!("unexpected parameter \"{name}\"");
        return Err(ApiError::at(&draft.path, error));
    }
    for name in REQUIRED.iter().filter(|_| idp_type == LDAP) {
        if !draft.gives(name) && before.is_none() {
            return Err(missing(&draft.path, name));
        }
        if draft.gives(name) && draft.text(name, None).is_empty() {
            return Err(ApiError::at(&format!("{}/{name}", draft.path), "cannot be empty"));
        }
    }
    if let Some(row) = before
        && !draft.gives("bind_password")
        && needs_password(row, |name| draft.value(name, before).to_string())
    {
        return Err(missing(&draft.path, "bind_password"));
    }
    provisioning(draft, before, idp_type == LDAP)
}

/// Whether settings that change the stored ones must contain the password: a stored one is sent to no other server,
/// and with no weaker encryption. A change between `ldap://` and `ldaps://` is one of the host.
pub(super) fn needs_password(stored: &Row, now: impl Fn(&str) -> String) -> bool {
    let is_other = |name: &str| now(name) != column(stored, name);
    let is_weaker = stored.int("start_tls") == 1 && is_other("start_tls");
    !stored.text("bind_password").is_empty() && (is_other("host") || is_other("port") || is_weaker)
}

fn provisioning(draft: &mut Draft<'_>, before: Option<&Row>, is_ldap: bool) -> ApiResult<()> {
    let is_on = draft.value("provision_status", before).as_int() == 1;
    let was_on = before.is_some_and(|row| row.int("provision_status") == 1);
    let given = groups::parse(draft)?;
    let path = |name: &str| format!("{}/{name}", draft.path);
    if !is_on {
        let has_media = draft.children[0].as_ref().is_some_and(|rows| !rows.is_empty());
        if given.is_some_and(|groups| !groups.is_empty()) {
            return Err(ApiError::at(&path("provision_groups"), "should be empty"));
        }
        if has_media {
            return Err(ApiError::at(&path("provision_media"), "should be empty"));
        }
        if was_on {
            let of_ldap = if is_ldap { OF_LDAP_PROVISIONING } else { &[] };
            for name in OF_PROVISIONING.iter().chain(of_ldap) {
                if !draft.gives(name) {
                    draft.set(name, Value::from(""));
                }
            }
            draft.children[0] = Some(Vec::new());
        }
        return Ok(());
    }
    match given {
        None if before.is_none() => Err(missing(&draft.path, "provision_groups")),
        None if was_on => Ok(()),
        Some(groups) if !groups.is_empty() => Ok(()),
        _ => Err(ApiError::at(&path("provision_groups"), "cannot be empty")),
    }
}

pub(super) fn check_media(row: &Columns, path: &str) -> ApiResult<()> {
    match text(row, "period") {
        Some(period) if !is_period(period) => {
            Err(ApiError::at(&format!("{path}/period"), "a time period is expected"))
        }
        _ => Ok(()),
    }
}

/// Refuses media of types that do not exist.
pub(super) fn check_media_types(
    edit: &mut Edit<'_>,
    rows: &[Columns],
    path: &str,
) -> ApiResult<()> {
    let kinds = ids(rows, "mediatypeid");
    let known = names(edit, "media_types", "mediatypeid", "name", &kinds)?;
    // A row that names its id may leave its type out.
    match kinds.iter().position(|id| *id != 0 && !known.contains_key(id)) {
        None => Ok(()),
        Some(n) => {
            Err(ApiError::at(&format!("{path}/{}/mediatypeid", n + 1), "object does not exist"))
        }
    }
}

/// Refuses ids of media that the directory does not have.
pub(super) fn check_named_media(edit: &mut Edit<'_>, draft: &Draft<'_>) -> ApiResult<()> {
    let Some(rows) = &draft.children[0] else { return Ok(()) };
    let sql = "SELECT userdirectory_mediaid FROM userdirectory_media WHERE userdirectoryid = ?";
    let own = edit.query(sql, &[draft.id.into()])?;
    let own: BTreeSet<i64> = own.iter().map(|row| row.int("userdirectory_mediaid")).collect();
    let stranger = rows.iter().position(|row| {
        let id = number(row, "userdirectory_mediaid");
        id != 0 && !own.contains(&id)
    });
    match stranger {
        None => Ok(()),
        Some(n) => Err(ApiError::at(
            &format!("{}/provision_media/{}/userdirectory_mediaid", draft.path, n + 1),
            "object does not exist or belongs to another object",
        )),
    }
}

/// Media that a test gives.
pub(super) fn parse_media(list: &Json, path: &str) -> ApiResult<Vec<MappedMedia>> {
    let known: Vec<&str> = fields::MEDIA.iter().map(|field| field.name).collect();
    let mut media = Vec::new();
    for (path, members) in nested(list, path)? {
        only(members, &path, &known)?;
        let input = Json::Object(members.clone());
        let row = columns_of(fields::MEDIA, "", &input, &path, Mode::Create)?;
        check_media(&row, &path)?;
        let table = &config::table::USERDIRECTORY_MEDIA;
        let value = |name: &str| {
            let given = row.iter().find(|(column, _)| *column == name);
            let default = || table.column(name).map(Column::default_value);
            given.map(|(_, value)| value.clone()).or_else(default).unwrap_or_else(|| "".into())
        };
        let id = |name: &str| u64::try_from(value(name).as_int()).unwrap_or(0);
        media.push(MappedMedia {
            id: id("userdirectory_mediaid"),
            name: value("name").to_string(),
            attribute: value("attribute").to_string(),
            mediatypeid: id("mediatypeid"),
            active: value("active").as_int(),
            severity: value("severity").as_int(),
            period: value("period").to_string(),
        });
    }
    Ok(media)
}
