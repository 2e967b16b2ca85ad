//! What operations refer to.

use std::collections::BTreeSet;

use config::Edit;
use config::db::query_by_ids;
use objects::ScriptScope;

use super::super::conditions::no_access;
use super::messages::{Command, Message};
use super::{Operation, Work};
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::methods::oncall;
use crate::permission::Need;
use crate::write::Target;

impl Operation {
    /// Refuses what is not there, or not for this user.
    pub(in super::super) fn check(&self, call: &Call<'_>, edit: &mut Edit<'_>) -> ApiResult<()> {
        match &self.work {
            Work::Message(message) => message.check(call, edit),
            Work::Command(command) => command.check(call, edit),
            Work::OnHost(work) => {
                require(call, edit, Target::HostGroup, &work.groups)?;
                require(call, edit, Target::Template, &work.templates)
            }
        }
    }
}

fn require(call: &Call<'_>, edit: &mut Edit<'_>, target: Target, ids: &[u64]) -> ApiResult<()> {
    let (need, what, name) = match target {
        Target::Template => (Need::Read, "condition or operation template", "Template"),
        Target::Host => (Need::Write, "condition or operation host", "Host"),
        _ => (Need::Write, "condition or operation host group", "Host group"),
    };
    let allowed = call.allowed(edit, target, need, ids)?;
    if ids.iter().all(|id| allowed.contains(id)) { Ok(()) } else { Err(no_access(what, name)) }
}

/// Of these ids, those that the query gives.
fn found(edit: &mut Edit<'_>, sql: &str, ids: &[u64]) -> ApiResult<BTreeSet<u64>> {
    Ok(query_by_ids(edit, sql, &[], ids)?.iter().map(|row| row.id("id")).collect())
}

impl Message {
    fn check(&self, call: &Call<'_>, edit: &mut Edit<'_>) -> ApiResult<()> {
        let me = call.user().id;
        let own = format!("SELECT usrgrpid FROM user_groups WHERE userid = {me}");
        let (mut users, mut groups) = (
            "SELECT userid AS id FROM users WHERE userid IN ({ids})".to_owned(),
            "SELECT usrgrpid AS id FROM usergroups WHERE usrgrpid IN ({ids})".to_owned(),
        );
        if !call.is_super_admin() {
            users += &format!(
                " AND (userid = {me} OR userid IN \
                 (SELECT userid FROM user_groups WHERE usrgrpid IN ({own})))"
            );
            groups += &format!(" AND usrgrpid IN ({own})");
        }
        let mut schedules =
            "SELECT t.scheduleid AS id FROM oncall_schedules t WHERE t.scheduleid IN ({ids})"
                .to_owned();
        if let Some(seen) = oncall::visible(call.user(), Need::Read) {
            schedules += &format!(" AND {seen}");
        }
        let on_call = self.on_call.iter().map(|one| one.scheduleid).collect();
        let types = "SELECT mediatypeid AS id FROM media_types WHERE mediatypeid IN ({ids})";
        let media_type: Vec<u64> =
            Some(self.mediatypeid).filter(|id| *id != 0).into_iter().collect();
        for (ids, sql, what, name) in [
            (&self.users, users.as_str(), "operation user", "User"),
            (&self.groups, &groups, "operation user group", "User group"),
            (&media_type, types, "operation media type", "Media type"),
            (&on_call, &schedules, "operation on-call schedule", "On-call schedule"),
        ] {
            let known = found(edit, sql, ids)?;
            if !ids.iter().all(|id| known.contains(id)) {
                return Err(no_access(what, name));
            }
        }
        Ok(())
    }
}

impl Command {
    fn check(&self, call: &Call<'_>, edit: &mut Edit<'_>) -> ApiResult<()> {
        let mut sql = format!(
            "SELECT scriptid AS id FROM scripts WHERE scope = {} AND scriptid IN ({{ids}})",
            ScriptScope::Action.text()
        );
        if !call.is_super_admin() {
            let me = call.user().id;
            sql += &format!(
                " AND (usrgrpid = 0 OR usrgrpid IN \
                 (SELECT usrgrpid FROM user_groups WHERE userid = {me}))"
            );
        }
        if found(edit, &sql, &[self.scriptid])?.is_empty() {
            return Err(ApiError::params(
                "Specified script does not exist or you do not have rights on it for action \
                 operation command.",
            ));
        }
        let hosts: Vec<u64> = self.hosts.iter().copied().filter(|id| *id != 0).collect();
        require(call, edit, Target::Host, &hosts)?;
        require(call, edit, Target::HostGroup, &self.groups)
    }
}
