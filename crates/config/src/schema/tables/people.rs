//! Users, their groups and roles, and tokens.

use super::super::{Column, Reload, Table};
use super::{id, int, owned, state, table, text, text_or};

pub(super) const TABLES: &[Table] = &[
    table(
        "roles",
        &["roleid"],
        Reload::Nothing,
        &[id("roleid"), text("name"), int("type", "1"), int("readonly", "0"), text("rules")],
        &[],
    ),
    table("users", &["userid"], Reload::Nothing, USERS, &[&["username"], &["roleid"]]),
    table(
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
    ),
    table(
        "user_groups",
        &["userid", "usrgrpid"],
        Reload::Nothing,
        &[owned("userid", "users"), owned("usrgrpid", "usergroups")],
        &[&["usrgrpid"]],
    ),
    // `permission` 0 deny, 2 read, 3 read and write
    table(
        "group_rights",
        &["usrgrpid", "groupid"],
        Reload::Nothing,
        &[owned("usrgrpid", "usergroups"), owned("groupid", "groups_"), int("permission", "0")],
        &[&["groupid"]],
    ),
    table(
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
    ),
    // The table has digests instead of tokens: nobody can sign in with a stolen database.
    table(
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
    ),
];

const USERS: &[Column] = &[
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
    text("medias"),
    // Grows when all sessions of the user are to end.
    state(int("session_epoch", "0")),
];
