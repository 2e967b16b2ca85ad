//! On-call schedules.

use super::super::{Reload, Table};
use super::{id, int, owned, table, text, text_or};

tables! { TABLES:
    ONCALL_SCHEDULES = table(
        "oncall_schedules",
        &["scheduleid"],
        Reload::Discovery,
        &[
            id("scheduleid"),
            text("name"),
            text_or("timezone", "system"),
            text("description"),
            text("holiday_calendar"),
        ],
        &[&["name"]],
    );
    /// User groups whose members see a schedule (2), or may change it if they are administrators (3).
    ONCALL_GROUPS = table(
        "oncall_groups",
        &["scheduleid", "usrgrpid"],
        Reload::Discovery,
        &[
            owned("scheduleid", "oncall_schedules"),
            owned("usrgrpid", "usergroups"),
            int("permission", "2"),
        ],
        &[&["usrgrpid"]],
    );
    /// Those with a higher position win. `restrictions` is JSON; a layer with a calendar has no users.
    ONCALL_LAYERS = table(
        "oncall_layers",
        &["scheduleid", "position"],
        Reload::Discovery,
        &[
            owned("scheduleid", "oncall_schedules"),
            int("position", "0"),
            text("name"),
            int("time_from", "0"),
            int("time_till", "0"),
            text_or("period", "1w"),
            text("handoff"),
            int("on_holidays", "0"),
            text_or("restrictions", "[]"),
            text("calendar"),
        ],
        &[],
    );
    ONCALL_LAYER_USERS = table(
        "oncall_layer_users",
        &["scheduleid", "layer", "position"],
        Reload::Discovery,
        &[
            owned("scheduleid", "oncall_schedules"),
            int("layer", "0"),
            int("position", "0"),
            owned("userid", "users"),
        ],
        &[&["userid"]],
    );
    ONCALL_HOLIDAYS = table(
        "oncall_holidays",
        &["scheduleid", "position"],
        Reload::Discovery,
        &[
            owned("scheduleid", "oncall_schedules"),
            int("position", "0"),
            text("date"),
            text("name"),
        ],
        &[],
    );
    /// Those with a higher id win. `swapid` is the other half of a swap.
    ONCALL_OVERRIDES = table(
        "oncall_overrides",
        &["overrideid"],
        Reload::Discovery,
        &[
            id("overrideid"),
            owned("scheduleid", "oncall_schedules"),
            owned("userid", "users"),
            int("time_from", "0"),
            int("time_till", "0"),
            id("swapid"),
            id("createdby"),
        ],
        &[&["scheduleid", "time_till"], &["userid"]],
    );
    /// Who may read a schedule as a calendar without a session; `scheduleid` 0 = all of the user's shifts.
    ONCALL_TOKENS = table(
        "oncall_tokens",
        &["userid", "scheduleid", "mine"],
        Reload::Nothing,
        &[owned("userid", "users"), id("scheduleid"), int("mine", "0"), text("digest")],
        &[&["digest"], &["scheduleid"]],
    );
    /// Schedules of operations that send.
    OPERATION_MESSAGE_SCHEDULES = table(
        "operation_message_schedules",
        &["operationid", "scheduleid", "who"],
        Reload::Discovery,
        &[
            owned("operationid", "operations"),
            owned("scheduleid", "oncall_schedules"),
            int("who", "0"),
        ],
        &[&["scheduleid"]],
    );
}
