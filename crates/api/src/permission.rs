//! Who may call what, and who sees which object.
//!
//! Objects on hosts and templates are seen through their groups, see [`config::access`].

use config::access;
use objects::UserType;

use crate::call::{Json, User};
use crate::error::{ApiError, ApiResult};

/// Right that a call needs on an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Need {
    /// 2 in the API.
    Read,
    /// 3 in the API.
    Write,
}

impl Need {
    /// What `get` needs: `editable` asks for what may be changed.
    pub(crate) fn of_get(editable: bool) -> Self {
        if editable { Self::Write } else { Self::Read }
    }

    const fn level(self) -> u8 {
        match self {
            Self::Read => access::READ,
            Self::Write => 3,
        }
    }
}

/// May this user call this method at all? By type of role, then by the role's API rules.
pub(crate) fn check_method(
    user: &User,
    method: &str,
    lowest: UserType,
    shown: &str,
) -> ApiResult<()> {
    check_type(user, lowest, shown)?;
    if role_allows(&user.rules, method) { Ok(()) } else { Err(not_permitted(shown)) }
}

/// Refuses users of a lower type.
pub(crate) fn check_type(user: &User, lowest: UserType, shown: &str) -> ApiResult<()> {
    if user.kind >= lowest { Ok(()) } else { Err(not_permitted(shown)) }
}

/// Refuses a method that an import needs if the user's role denies it by name. A role that lists
/// the methods that it allows decides with `configuration.import` about everything that an import
/// does.
pub(crate) fn check_not_denied(user: &User, method: &str) -> ApiResult<()> {
    let lists_allowed = user.rules.get("api.mode").and_then(Json::as_str) == Some("1");
    if lists_allowed || role_allows(&user.rules, method) {
        return Ok(());
    }
    Err(not_permitted(method))
}

fn not_permitted(method: &str) -> ApiError {
    ApiError::application(format!("No permissions to call \"{method}\"."))
}

fn role_allows(rules: &Json, method: &str) -> bool {
    let text = |name: &str, default: &str| {
        rules.get(name).and_then(Json::as_str).unwrap_or(default).to_owned()
    };
    // "1" = on.
    if text("api.access", "1") == "0" {
        return false;
    }
    let listed = rules.get("api").and_then(Json::as_array).is_some_and(|patterns| {
        patterns.iter().filter_map(Json::as_str).any(|pattern| matches(pattern, method))
    });
    // Mode 0: the list denies; 1: the list allows.
    if text("api.mode", "0") == "1" { listed } else { !listed }
}

/// Does the user's role let its users do this (`acknowledge_problems`, `manage_api_tokens` …)?
/// What the role does not name has the status `actions.default_access`.
pub(crate) fn action_allowed(user: &User, action: &str) -> bool {
    let listed = user.rules.get("actions").and_then(Json::as_array);
    let status = listed
        .and_then(|list| list.iter().find(|one| one["name"].as_str() == Some(action)))
        .map(|one| &one["status"])
        .or_else(|| user.rules.get("actions.default_access"));
    status.and_then(Json::as_str) != Some("0")
}

/// `host.get`, `host.*`, `*.get`, `*`
pub(crate) fn matches(pattern: &str, method: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    match (pattern.split_once('.'), method.split_once('.')) {
        (Some((object, action)), Some((of, what))) => {
            (object == "*" || object == of) && (action == "*" || action == what)
        }
        _ => pattern == "*" || pattern == "*.*",
    }
}

/// Condition: the user has the right on the host or template whose id is in `column`.
/// `None` = no condition, the user sees all. Ids in it are numbers of our own.
pub(crate) fn on_hosts(user: &User, need: Need, column: &str) -> Option<String> {
    if user.kind == UserType::SuperAdmin {
        return None;
    }
    let groups = list(&user.groups);
    Some(format!(
        "{column} IN (SELECT hg.hostid FROM host_groups hg \
           JOIN group_rights r ON r.groupid = hg.groupid AND r.usrgrpid IN ({groups}) \
           GROUP BY hg.hostid HAVING {})",
        access::granted(need.level())
    ))
}

/// Condition: the user has the right on the group whose id is in `column`.
pub(crate) fn on_groups(user: &User, need: Need, column: &str) -> Option<String> {
    if user.kind == UserType::SuperAdmin {
        return None;
    }
    let groups = list(&user.groups);
    Some(format!(
        "{column} IN (SELECT r.groupid FROM group_rights r WHERE r.usrgrpid IN ({groups}) \
           GROUP BY r.groupid HAVING {})",
        access::granted(need.level())
    ))
}

/// Condition: the user has the right on the hosts of all items in the expression of the trigger
/// whose id is in `column`. Nobody but super admins has one on a trigger without items.
pub(crate) fn on_triggers(user: &User, need: Need, column: &str) -> Option<String> {
    on_items_of(user, need, "functions", "triggerid", column)
}

/// The same of the hosts of all items that the graph shows whose id is in `column`.
pub(crate) fn on_graphs(user: &User, need: Need, column: &str) -> Option<String> {
    on_items_of(user, need, "graph_items", "graphid", column)
}

fn on_items_of(user: &User, need: Need, table: &str, key: &str, column: &str) -> Option<String> {
    let hosts = on_hosts(user, need, "i.hostid")?;
    Some(format!(
        "EXISTS (SELECT 1 FROM {table} fx WHERE fx.{key} = {column}) AND \
         NOT EXISTS (SELECT 1 FROM {table} f JOIN items i ON i.itemid = f.itemid \
           WHERE f.{key} = {column} AND NOT ({hosts}))"
    ))
}

/// A condition behind others of a statement.
pub(crate) fn and(condition: Option<String>) -> String {
    condition.map_or_else(String::new, |condition| format!(" AND {condition}"))
}

/// Condition: the tag filters of the user's groups show the event whose id is in `event`, of the
/// trigger whose id is in `trigger`. A user group without filters on a host group shows all.
pub(crate) fn by_tag_filters(user: &User, event: &str, trigger: &str) -> Option<String> {
    if user.kind == UserType::SuperAdmin {
        return None;
    }
    let groups = list(&user.groups);
    let filters = "SELECT 1 FROM tag_filters tf WHERE tf.usrgrpid = tr.usrgrpid \
                   AND tf.groupid = tr.groupid";
    Some(format!(
        "EXISTS (SELECT 1 FROM functions tq JOIN items ti ON ti.itemid = tq.itemid \
           JOIN host_groups th ON th.hostid = ti.hostid \
           JOIN group_rights tr ON tr.groupid = th.groupid AND tr.permission >= 2 \
             AND tr.usrgrpid IN ({groups}) \
         WHERE tq.triggerid = {trigger} AND (NOT EXISTS ({filters}) OR EXISTS ({filters} \
           AND (tf.tag = '' OR EXISTS (SELECT 1 FROM event_tags te WHERE te.eventid = {event} \
             AND te.tag = tf.tag AND (tf.value = '' OR tf.value = te.value))))))"
    ))
}

fn list(ids: &[u64]) -> String {
    if ids.is_empty() {
        return "0".to_owned();
    }
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn role_rules() {
        let check = |rules: Json, method: &str| role_allows(&rules, method);
        assert!(check(json!({}), "host.get"));
        assert!(!check(json!({"api.access": "0"}), "host.get"));
        assert!(!check(json!({"api.mode": "0", "api": ["host.*"]}), "host.get"));
        assert!(check(json!({"api.mode": "0", "api": ["host.*"]}), "item.get"));
        assert!(check(json!({"api.mode": "1", "api": ["*.get"]}), "item.get"));
        assert!(!check(json!({"api.mode": "1", "api": ["*.get"]}), "item.create"));
        assert!(!check(json!({"api.mode": "1", "api": []}), "item.get"));
    }
}
