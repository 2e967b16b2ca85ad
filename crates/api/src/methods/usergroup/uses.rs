//! What uses user groups, which therefore cannot be deleted.

use config::Edit;
use config::db::{Row, query_by_ids};

use super::deprovisioned;
use crate::error::{ApiError, ApiResult};
use crate::methods::report;
use crate::methods::settings::SETTINGS;
use crate::single;

/// A kind of objects that use user groups.
struct Use {
    /// Gives `usrgrpid` and `name` of the first use.
    sql: &'static str,
    /// The error about a group and the object that uses it.
    error: fn(group: &str, by: &Row) -> String,
}

const ACTIONS: Use = Use {
    sql: "SELECT x.usrgrpid, a.name FROM operation_message_groups x \
          JOIN operations o ON o.operationid = x.operationid \
          JOIN actions a ON a.actionid = o.actionid \
          WHERE x.usrgrpid IN ({ids}) ORDER BY x.usrgrpid, a.actionid LIMIT 1",
    error: |group, by| format!("User group \"{group}\" is used in \"{}\" action.", by.text("name")),
};

const SCRIPTS: Use = Use {
    sql: "SELECT usrgrpid, name FROM scripts WHERE usrgrpid IN ({ids}) ORDER BY scriptid LIMIT 1",
    error: |group, by| format!("User group \"{group}\" is used in script \"{}\".", by.text("name")),
};

const PROVISIONED: Use = Use {
    sql: "SELECT g.usrgrpid, u.username AS name FROM user_groups g \
          JOIN users u ON u.userid = g.userid \
          WHERE u.userdirectoryid <> 0 AND g.usrgrpid IN ({ids}) ORDER BY g.usrgrpid, u.userid LIMIT 1",
    error: |group, by| {
        let user = by.text("name");
        format!(
            "Cannot delete user group \"{group}\", because it is used by provisioned user \"{user}\"."
        )
    },
};

const MAPPED: Use = Use {
    sql: "SELECT g.usrgrpid, d.name, d.idp_type FROM userdirectory_groups g \
          JOIN userdirectories d ON d.userdirectoryid = g.userdirectoryid \
          WHERE g.usrgrpid IN ({ids}) ORDER BY g.usrgrpid LIMIT 1",
    error: |group, by| {
        let directory = match by.int("idp_type") {
            1 => format!("LDAP userdirectory \"{}\"", by.text("name")),
            _ => "SAML userdirectory".to_owned(),
        };
        format!("Cannot delete user group \"{group}\", because it is used by {directory}.")
    },
};

impl Use {
    fn refuse(&self, edit: &mut Edit<'_>, groups: &[Row]) -> ApiResult<()> {
        let ids: Vec<u64> = groups.iter().map(|row| row.id("usrgrpid")).collect();
        let used = query_by_ids(edit, self.sql, &[], &ids)?;
        let Some(used) = used.first() else { return Ok(()) };
        let group = groups.iter().find(|row| row.id("usrgrpid") == used.id("usrgrpid"));
        let group = group.map_or("", |row| row.text("name"));
        Err(ApiError::params((self.error)(group, used)))
    }
}

/// Refuses to delete groups that something uses.
pub(super) fn refuse(edit: &mut Edit<'_>, groups: &[Row]) -> ApiResult<()> {
    let group = |id: u64| groups.iter().find(|row| row.id("usrgrpid") == id);
    if group(deprovisioned(edit)?).is_some() {
        return Err(ApiError::params("Deprovisioned users group cannot be deleted."));
    }
    ACTIONS.refuse(edit, groups)?;
    SCRIPTS.refuse(edit, groups)?;
    let alerted = single::stored(&SETTINGS, edit)?["alert_usrgrpid"].parse().unwrap_or(0);
    if let Some(group) = group(alerted) {
        let name = group.text("name");
        return Err(ApiError::params(format!(
            "User group \"{name}\" is used in configuration for database down messages."
        )));
    }
    report::recipients::refuse_groups_of(edit, groups)?;
    PROVISIONED.refuse(edit, groups)?;
    MAPPED.refuse(edit, groups)
}
