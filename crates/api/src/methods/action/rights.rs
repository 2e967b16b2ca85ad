//! Which actions a user sees: those all of whose hosts, groups, templates, users and user groups the user
//! may read.

use std::collections::BTreeSet;

use config::db::{Row, Value, query_by_ids};
use objects::ConditionKind;

use crate::call::Call;
use crate::error::ApiResult;
use crate::get::Get;
use crate::methods::oncall;
use crate::permission::{Need, on_groups, on_hosts, on_triggers};
use crate::write::Target;

/// Limits `get` to what this user may see.
pub(super) fn limit(get: &mut Get<'_, '_>, call: &Call<'_>) -> ApiResult<()> {
    if call.is_super_admin() {
        return Ok(());
    }
    let need = Need::of_get(get.flag("editable"));
    let me = call.user().id;
    let own = format!("SELECT usrgrpid FROM user_groups WHERE userid = {me}");
    let users = format!(
        "x.userid = {me} OR x.userid IN (SELECT userid FROM user_groups WHERE usrgrpid IN ({own}))"
    );
    for (table, right) in [
        ("operation_groups", on_groups(call.user(), need, "x.groupid")),
        ("operation_templates", on_hosts(call.user(), need, "x.templateid")),
        ("operation_command_groups", on_groups(call.user(), need, "x.groupid")),
        (
            "operation_command_hosts",
            on_hosts(call.user(), need, "x.hostid").map(|right| format!("x.hostid = 0 OR {right}")),
        ),
        ("operation_message_groups", Some(format!("x.usrgrpid IN ({own})"))),
        ("operation_message_users", Some(users)),
        (
            "operation_message_schedules",
            oncall::visible(call.user(), Need::Read).map(|seen| {
                format!(
                    "x.scheduleid IN (SELECT t.scheduleid FROM oncall_schedules t WHERE {seen})"
                )
            }),
        ),
    ] {
        if let Some(right) = right {
            let condition = format!(
                "NOT EXISTS (SELECT 1 FROM operations o JOIN {table} x \
                 ON x.operationid = o.operationid WHERE o.actionid = t.actionid AND NOT ({right}))"
            );
            get.and(condition, [] as [Value; 0]);
        }
    }
    let hidden = hidden_by_conditions(call, need)?;
    if !hidden.is_empty() {
        let ids: Vec<u64> = hidden.into_iter().collect();
        get.in_ids("t.actionid NOT IN ({ids})", &ids);
    }
    Ok(())
}

/// Actions with conditions on hosts, groups, templates or triggers that the user may not read.
fn hidden_by_conditions(call: &Call<'_>, need: Need) -> ApiResult<BTreeSet<u64>> {
    let sql = format!(
        "SELECT actionid, conditiontype, value FROM action_conditions \
         WHERE conditiontype IN ({}, {}, {}, {})",
        ConditionKind::Trigger.text(),
        ConditionKind::HostGroup.text(),
        ConditionKind::Host.text(),
        ConditionKind::Template.text()
    );
    let rows = call.rows(&sql, &[])?;
    let id = |row: &Row| row.text("value").parse::<u64>().unwrap_or(0);
    let mut hidden = BTreeSet::new();
    for (kind, target) in [
        (ConditionKind::HostGroup, Target::HostGroup),
        (ConditionKind::Host, Target::Host),
        (ConditionKind::Template, Target::Template),
    ] {
        let of_kind = || rows.iter().filter(|row| kind.is(row.int("conditiontype")));
        let ids: Vec<u64> = of_kind().map(id).collect();
        let allowed = call.read(|connection| call.allowed(connection, target, need, &ids))?;
        let others = of_kind().filter(|row| !allowed.contains(&id(row)));
        hidden.extend(others.map(|row| row.id("actionid")));
    }
    let of_triggers =
        || rows.iter().filter(|row| ConditionKind::Trigger.is(row.int("conditiontype")));
    let ids: Vec<u64> = of_triggers().map(id).collect();
    if let Some(right) = on_triggers(call.user(), need, "t.triggerid") {
        let sql = format!(
            "SELECT t.triggerid FROM triggers t WHERE t.triggerid IN ({{ids}}) AND {right}"
        );
        let allowed = call.read(|connection| Ok(query_by_ids(connection, &sql, &[], &ids)?))?;
        let allowed: BTreeSet<u64> = allowed.iter().map(|row| row.id("triggerid")).collect();
        let others = of_triggers().filter(|row| !allowed.contains(&id(row)));
        hidden.extend(others.map(|row| row.id("actionid")));
    }
    Ok(hidden)
}
