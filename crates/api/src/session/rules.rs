//! How a user signs in, by the settings and the user's groups.

use config::db::{Reader, Row};
use objects::MfaType;

use crate::error::ApiResult;
use crate::methods::authentication::Current;

/// Values of `gui_access` of user groups.
const INTERNAL: i64 = 1;
const LDAP: i64 = 2;

/// How a user signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    /// The strictest access to the UI among the groups, as in `usergroup.get`.
    pub(crate) gui_access: i64,
    /// The highest one of the groups: pages show debugging information if it is 1.
    pub(crate) debug_mode: i64,
    /// MFA method; 0 = none is required.
    pub(crate) mfaid: u64,
    /// What checks the password.
    pub(crate) by: By,
}

/// What checks a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The hash in the database.
    Internal,
    /// The LDAP server with this `userdirectoryid`; 0 = no server is configured, and sign-ins by LDAP are refused.
    Ldap(u64),
}

impl Rules {
    /// Reads them for the user with this id, whom the directory `own` has provisioned (0 = none has).
    pub(crate) fn read(reader: &mut dyn Reader, userid: u64, own: u64) -> ApiResult<Self> {
        let current = Current::read(reader)?;
        let groups = reader.query(
            "SELECT g.gui_access, g.debug_mode, g.userdirectoryid, g.mfa_status, g.mfaid \
             FROM user_groups ug JOIN usergroups g ON g.usrgrpid = ug.usrgrpid WHERE ug.userid = ?",
            &[userid.into()],
        )?;
        let strictest = |name: &str| groups.iter().map(|row| row.int(name)).max().unwrap_or(0);
        let gui_access = strictest("gui_access");
        let is_ldap = match gui_access {
            INTERNAL => false,
            LDAP => true,
            _ => current.is_on("authentication_type"),
        };
        let by = match (own, is_ldap) {
            (0, false) => By::Internal,
            (0, true) => By::Ldap(directory(reader, &current, &groups)?),
            (own, _) => By::Ldap(own),
        };
        let mfaid = mfa(reader, &current, &groups)?;
        Ok(Self { gui_access, debug_mode: strictest("debug_mode"), mfaid, by })
    }
}

/// Whether sessions of the user need a code. Methods of other types are not supported: they end no session.
pub(crate) fn needs_code(reader: &mut dyn Reader, userid: u64) -> ApiResult<bool> {
    let sql = "SELECT g.mfa_status, g.mfaid FROM user_groups ug \
               JOIN usergroups g ON g.usrgrpid = ug.usrgrpid WHERE ug.userid = ? AND g.mfa_status = 1";
    let groups = reader.query(sql, &[userid.into()])?;
    if groups.is_empty() {
        return Ok(false);
    }
    let current = Current::read(reader)?;
    let mfaid = mfa(reader, &current, &groups)?;
    let sql = "SELECT mfaid FROM mfa WHERE mfaid = ? AND type = ?";
    Ok(mfaid != 0 && !reader.query(sql, &[mfaid.into(), MfaType::Totp.number().into()])?.is_empty())
}

/// The directory of the groups: of several, the first by name. Groups without one use the default.
fn directory(reader: &mut dyn Reader, current: &Current, groups: &[Row]) -> ApiResult<u64> {
    let default = current.number("ldap_userdirectoryid");
    let of_group = |row: &Row| match row.id("userdirectoryid") {
        0 => default,
        id => id,
    };
    let mut ids: Vec<u64> = groups.iter().map(of_group).filter(|id| *id != 0).collect();
    if groups.is_empty() && default != 0 {
        ids.push(default);
    }
    first_by_name(reader, "userdirectories", "userdirectoryid", ids)
}

/// The MFA method of the groups that require one: the default before others, of these the first by name.
fn mfa(reader: &mut dyn Reader, current: &Current, groups: &[Row]) -> ApiResult<u64> {
    if !current.is_on("mfa_status") {
        return Ok(0);
    }
    let required = groups.iter().filter(|row| row.int("mfa_status") == 1);
    let ids: Vec<u64> = required.map(|row| row.id("mfaid")).collect();
    match ids.contains(&0) {
        true => Ok(current.number("mfaid")),
        false => first_by_name(reader, "mfa", "mfaid", ids),
    }
}

/// 0 = there is none.
fn first_by_name(
    reader: &mut dyn Reader,
    table: &str,
    key: &str,
    mut ids: Vec<u64>,
) -> ApiResult<u64> {
    ids.sort_unstable();
    ids.dedup();
    if ids.len() < 2 {
        return Ok(ids.first().copied().unwrap_or(0));
    }
    let sql = format!("SELECT {key}, name FROM {table} WHERE {key} IN ({{ids}})");
    let rows = config::db::query_by_ids(reader, &sql, &[], &ids)?;
    let first = rows.iter().min_by(|a, b| a.text("name").cmp(b.text("name")));
    Ok(first.map_or(0, |row| row.id(key)))
}
