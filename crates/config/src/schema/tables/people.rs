//! Users, their groups and roles, and tokens.

use super::super::{Column, Reload, Table};
use super::{id, int, owned, state, table, text, text_or};

tables! { TABLES:
    ROLES = table(
        "roles",
        &["roleid"],
        Reload::Nothing,
        &[id("roleid"), text("name"), int("type", "1"), int("readonly", "0"), text("rules")],
        &[],
    )
    .decides_access();
    USERS = table("users", &["userid"], Reload::Nothing, USERS_COLUMNS, &[&["username"], &["roleid"]])
        .decides_access();
    USERGROUPS = table(
        "usergroups",
        &["usrgrpid"],
        Reload::Nothing,
        &[
            id("usrgrpid"),
            text("name"),
            int("gui_access", "0"),
            int("users_status", "0"),
            int("debug_mode", "0"),
            id("userdirectoryid"),
            int("mfa_status", "0"),
            id("mfaid"),
        ],
        &[],
    )
    .decides_access();
    USER_GROUPS = table(
        "user_groups",
        &["userid", "usrgrpid"],
        Reload::Nothing,
        &[owned("userid", "users"), owned("usrgrpid", "usergroups")],
        &[&["usrgrpid"]],
    )
    .decides_access();
    /// `permission`: 0 deny, 2 read, 3 read and write
    GROUP_RIGHTS = table(
        "group_rights",
        &["usrgrpid", "groupid"],
        Reload::Nothing,
        &[owned("usrgrpid", "usergroups"), owned("groupid", "groups_"), int("permission", "0")],
        &[&["groupid"]],
    )
    .decides_access();
    TAG_FILTERS = table(
        "tag_filters",
        &["tagfilterid"],
        Reload::Nothing,
        &[
            id("tagfilterid"),
            owned("usrgrpid", "usergroups"),
            owned("groupid", "groups_"),
            text("tag"),
            text("value"),
        ],
        &[&["usrgrpid"]],
    )
    .decides_access();
    /// The table has digests instead of tokens: nobody can sign in with a stolen database.
    TOKENS = table(
        "tokens",
        &["tokenid"],
        Reload::Nothing,
        &[
            id("tokenid"),
            text("name"),
            text("description"),
            owned("userid", "users"),
            text("digest"),
            int("status", "0"),
            int("expires_at", "0"),
            int("created_at", "0"),
            id("creator_userid"),
        ],
        &[&["userid"], &["digest"]],
    )
    .decides_access();
}

const USERS_COLUMNS: &[Column] = &[
    id("userid"),
    text("username"),
    text("name"),
    text("surname"),
    text("passwd"),
    text("url"),
    int("autologin", "0"),
    text_or("autologout", "15m"),
    text_or("lang", "default"),
    text_or("refresh", "30s"),
    text_or("theme", "default"),
    int("rows_per_page", "50"),
    text_or("timezone", "default"),
    id("roleid"),
    id("userdirectoryid"),
    int("ts_provisioned", "0"),
    state(int("attempt_failed", "0")),
    state(text("attempt_ip")),
    state(int("attempt_clock", "0")),
    // Grows when all sessions of the user are to end.
    state(int("session_epoch", "0")),
];
