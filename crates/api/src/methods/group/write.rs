//! `create`, `update`, `delete` of groups.

use config::Edit;
use config::db::{Row, Value, query_by_ids};
use config::objects::{delete_elements_of, new_uuid};
use config::table;
use objects::{MapElementType, Origin};

use super::Kind;
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::methods::maintenance::Members;
use crate::permission::Need;
use crate::plain::{self, Draft, Plain, Spec};
use crate::write::check_uuid;

impl Plain for Kind {
    fn spec(&self) -> &'static Spec {
        self.spec
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        if draft.gives("name") {
            check_name(&draft.text("name", None), &draft.path, self)?;
        }
        if draft.id != 0 {
            return Ok(());
        }
        match draft.gives("uuid") {
            true => check_uuid(&draft.text("uuid", None), &format!("{}/uuid", draft.path))?,
            false => draft.set("uuid", new_uuid()?),
        }
        draft.set("type", self.number);
        Ok(())
    }

    fn may_write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
        rows: &[Row],
    ) -> ApiResult<()> {
        call.require(edit, self.groups, Need::Write, &ids(rows))?;
        for (draft, row) in drafts.iter().zip(rows) {
            let now = row.text("name");
            if Origin::Discovered.is(row.int("flags")) && draft.text("name", Some(row)) != now {
                let text = format!("Cannot update a discovered {} \"{now}\".", self.words);
                return Err(ApiError::params(text));
            }
        }
        Ok(())
    }

    fn written(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
    ) -> ApiResult<()> {
        let new = drafts.iter().filter(|draft| draft.gives("type"));
        let mut new: Vec<(String, u64)> =
            new.map(|draft| (draft.text("name", None), draft.id)).collect();
        // Groups of one call inherit from each other: those above come first.
        new.sort_unstable();
        new.iter().try_for_each(|(name, id)| inherit_rights(edit, *id, name, self))
    }

    fn delete(&self, call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        let ids = ids(rows);
        call.require(edit, self.groups, Need::Write, &ids)?;
        refuse_used(edit, &ids)?;
        let sql = "SELECT DISTINCT hostid FROM host_groups WHERE groupid IN ({ids})";
        let members = query_by_ids(edit, sql, &[], &ids)?;
        let members: Vec<u64> = members.iter().map(|row| row.id("hostid")).collect();
        let maintained = Members::groups(edit, &ids)?;
        delete_elements_of(edit, MapElementType::HostGroup, &ids)?;
        plain::delete_rows(self.spec, edit, rows)?;
        maintained.refuse_emptied(edit)?;
        crate::owned::groups::check_not_bare(edit, &members)
    }
}

fn ids(rows: &[Row]) -> Vec<u64> {
    rows.iter().map(|row| row.id("groupid")).collect()
}

/// Groups that host prototypes put their hosts into stay, and those that correlation rules name.
fn refuse_used(edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    for (table, by) in [
        ("group_prototypes", "by a host prototype"),
        ("correlation_conditions", "in a correlation condition"),
    ] {
        let sql = format!(
            "SELECT g.name AS name FROM groups_ g JOIN {table} u ON u.groupid = g.groupid \
             WHERE g.groupid IN ({{ids}})"
        );
        if let Some(row) = query_by_ids(edit, &sql, &[], ids)?.first() {
            let name = row.text("name");
            let text = format!("Group \"{name}\" cannot be deleted, because it is used {by}.");
            return Err(ApiError::params(text));
        }
    }
    Ok(())
}

/// Parts between `/` may not be empty.
fn check_name(name: &str, path: &str, kind: &Kind) -> ApiResult<()> {
    if name.split('/').any(str::is_empty) {
        let text = format!("invalid {} name", kind.words);
        return Err(ApiError::at(&format!("{path}/name"), text));
    }
    Ok(())
}

/// A new group starts with the rights and tag filters of the nearest group above it in the tree.
fn inherit_rights(edit: &mut Edit<'_>, id: u64, name: &str, kind: &Kind) -> ApiResult<()> {
    let mut above = name;
    while let Some((parent, _)) = above.rsplit_once('/') {
        above = parent;
        let rows = edit.query(
            "SELECT groupid FROM groups_ WHERE type = ? AND name = ?",
            &[kind.number.into(), parent.into()],
        )?;
        let Some(row) = rows.first() else { continue };
        return copy_rights(edit, row.id("groupid"), id)
            .and_then(|()| copy_tag_filters(edit, row.id("groupid"), id));
    }
    Ok(())
}

/// Gives all user groups the rights on `to` that they have on `from`.
pub(super) fn copy_rights(edit: &mut Edit<'_>, from: u64, to: u64) -> ApiResult<()> {
    edit.delete(&table::GROUP_RIGHTS, "groupid", &[to])?;
    let sql = "SELECT usrgrpid, permission FROM group_rights WHERE groupid = ?";
    let rows = edit.query(sql, &[from.into()])?;
    let right =
        |row: &Row| vec![row.id("usrgrpid").into(), to.into(), row.int("permission").into()];
    let rights: Vec<Vec<Value>> = rows.iter().map(right).collect();
    Ok(edit.insert_many(&table::GROUP_RIGHTS, &["usrgrpid", "groupid", "permission"], &rights)?)
}

/// Gives all user groups the tag filters on `to` that they have on `from`.
pub(super) fn copy_tag_filters(edit: &mut Edit<'_>, from: u64, to: u64) -> ApiResult<()> {
    edit.delete(&table::TAG_FILTERS, "groupid", &[to])?;
    let filters = edit
        .query("SELECT usrgrpid, tag, value FROM tag_filters WHERE groupid = ?", &[from.into()])?;
    for row in filters {
        let columns: Vec<(&str, Value)> = vec![
            ("usrgrpid", row.id("usrgrpid").into()),
            ("groupid", to.into()),
            ("tag", row.text("tag").into()),
            ("value", row.text("value").into()),
        ];
        edit.insert_new(&table::TAG_FILTERS, &columns)?;
    }
    Ok(())
}
