//! What an empty database starts with: roles, user groups, the first users, media types, icons. Names and ids
//! are those that API clients know from Zabbix.

mod icons;
mod media_types;

use crate::table;
use serde_json::json;

use crate::Edit;
use crate::db::{DbResult, Value};

pub(crate) use icons::{ICON_COLUMNS, icon_rows};
pub(crate) use media_types::media_type_rows;

/// Fills an empty database; returns whether it did. `admin_hash` is the bcrypt hash of the first
/// password of `Admin`.
pub fn seed(edit: &mut Edit<'_>, admin_hash: &str) -> DbResult<bool> {
    if !edit.query("SELECT roleid FROM roles", &[])?.is_empty() {
        return Ok(false);
    }
    for (id, name, kind, readonly) in [
        (1, "User role", 1, 0),
        (2, "Admin role", 2, 0),
        (3, "Super admin role", 3, 1),
        (4, "Guest role", 1, 0),
    ] {
        // Guests look, and neither act nor call the API.
        let rules = if id == 4 {
            json!({ "api.access": "0", "actions.default_access": "0" }).to_string()
        } else {
            json!({}).to_string()
        };
        edit.insert(
            &table::ROLES,
            &[
                ("roleid", Value::from(id)),
                ("name", name.into()),
                ("type", Value::from(kind)),
                ("readonly", Value::from(readonly)),
                ("rules", rules.into()),
            ],
        )?;
    }
    // (id, name, gui_access, users_status, debug_mode)
    for (id, name, gui, status, debug) in [
        (7, "Zabbix administrators", 0, 0, 0),
        (8, "Guests", 1, 0, 0),
        (9, "Disabled", 0, 1, 0),
        (11, "Enabled debug mode", 0, 0, 1),
        (12, "No access to the frontend", 3, 0, 0),
        (13, "Internal", 1, 0, 0),
    ] {
        edit.insert(
            &table::USERGROUPS,
            &[
                ("usrgrpid", Value::from(id)),
                ("name", name.into()),
                ("gui_access", Value::from(gui)),
                ("users_status", Value::from(status)),
                ("debug_mode", Value::from(debug)),
            ],
        )?;
    }
    // The guest has no password that bcrypt would accept, and its group is switched off for sign-in.
    for (id, username, name, surname, hash, role, groups) in [
        (1, "Admin", "Zabbix", "Administrator", admin_hash, 3, &[7_u64, 13][..]),
        (2, "guest", "", "", "*", 4, &[8, 9][..]),
    ] {
        edit.insert(
            &table::USERS,
            &[
                ("userid", Value::from(id)),
                ("username", username.into()),
                ("name", name.into()),
                ("surname", surname.into()),
                ("passwd", hash.into()),
                ("roleid", Value::from(role)),
                ("autologout", "0".into()),
                ("autologin", Value::from(u8::from(id == 1))),
            ],
        )?;
        for group in groups {
            edit.insert(
                &table::USER_GROUPS,
                &[("userid", Value::from(id)), ("usrgrpid", Value::from(*group))],
            )?;
        }
    }
    media_types(edit)?;
    icons(edit)?;
    Ok(true)
}

/// Adds the first media types, unless the step from an older version did so.
fn media_types(edit: &mut Edit<'_>) -> DbResult<()> {
    if edit.query("SELECT mediatypeid FROM media_types LIMIT 1", &[])?.is_empty() {
        for (table, row) in media_type_rows() {
            edit.insert(table, &row)?;
        }
    }
    Ok(())
}

/// Adds the icons, unless the step from an older version did so.
fn icons(edit: &mut Edit<'_>) -> DbResult<()> {
    if edit.query("SELECT imageid FROM images LIMIT 1", &[])?.is_empty() {
        let rows = icon_rows().iter();
        let values = rows.map(|(_, row)| row.iter().map(|(_, value)| value.clone()).collect());
        let values: Vec<Vec<Value>> = values.collect();
        edit.insert_many(&table::IMAGES, ICON_COLUMNS, &values)?;
    }
    Ok(())
}
