//! Parents and children of services.

use std::collections::BTreeSet;

use config::Edit;
use config::db::{Value, query_by_ids};
use config::table;
use services::access::Need;

use super::rights;
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::object::{missing, taken};
use crate::params;
use crate::plain::Draft;
use crate::write::{nested, only};

/// Checks a list of services as it is given.
pub(super) fn given(draft: &Draft<'_>, member: &str) -> ApiResult<()> {
    let Some(list) = draft.input.get(member) else { return Ok(()) };
    let mut seen = BTreeSet::new();
    for (path, members) in nested(list, &format!("{}/{member}", draft.path))? {
        only(members, &path, &["serviceid"])?;
        let id = members.get("serviceid").ok_or_else(|| missing(&path, "serviceid"))?;
        let id = params::id(id, &format!("{path}/serviceid"))?;
        if !seen.insert(id) {
            return Err(taken(&path, "serviceid", id));
        }
    }
    Ok(())
}

/// The services of a list that was checked; `None` = not given.
pub(super) fn ids(draft: &Draft<'_>, member: &str) -> Option<BTreeSet<u64>> {
    let list = draft.input.get(member)?;
    let id = |one: &&crate::call::Json| params::id(one.get("serviceid")?, "").ok();
    Some(params::list(list).iter().filter_map(id).collect())
}

/// Which side of a link a service is on.
#[derive(Debug, Clone, Copy)]
enum Side {
    Child,
    Parent,
}

impl Side {
    /// The columns of the service itself, and of the others.
    const fn columns(self) -> (&'static str, &'static str) {
        match self {
            Self::Child => ("serviceid", "parentid"),
            Self::Parent => ("parentid", "serviceid"),
        }
    }
}

/// Makes the given lists the parents and children of the services, and refuses what must not be.
pub(super) fn write(call: &Call<'_>, edit: &mut Edit<'_>, drafts: &[Draft<'_>]) -> ApiResult<()> {
    let is_new = |draft: &&Draft<'_>| draft.input.get("serviceid").is_none();
    let new: Vec<u64> = drafts.iter().filter(is_new).map(|draft| draft.id).collect();
    // Those of which somebody who may change them must not lose the right.
    let mut kept: BTreeSet<u64> = drafts.iter().map(|draft| draft.id).collect();
    kept.retain(|id| !new.contains(id));
    for draft in drafts {
        if ids(draft, "children").is_some() {
            kept.extend(linked(edit, draft.id, Side::Parent)?);
        }
    }
    let open = rights::open(call, edit, &kept)?;
    for draft in drafts {
        for (member, side) in [("parents", Side::Child), ("children", Side::Parent)] {
            if let Some(wanted) = ids(draft, member) {
                replace(call, edit, draft.id, side, &wanted)?;
            }
        }
    }
    let touched: Vec<u64> = drafts.iter().map(|draft| draft.id).collect();
    refuse_circles(edit, &touched)?;
    refuse_mixed(edit, &touched)?;
    rights::must_keep(call, edit, &new, &open)
}

fn linked(edit: &mut Edit<'_>, service: u64, side: Side) -> ApiResult<BTreeSet<u64>> {
    let (own, other) = side.columns();
    let sql = format!("SELECT {other} AS id FROM service_links WHERE {own} = ?");
    Ok(edit.query(&sql, &[service.into()])?.iter().map(|row| row.id("id")).collect())
}

/// Links that the user does not see stay.
fn replace(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    service: u64,
    side: Side,
    wanted: &BTreeSet<u64>,
) -> ApiResult<()> {
    let (own, other) = side.columns();
    let before = linked(edit, service, side)?;
    let list = Vec::from_iter(before.iter().copied());
    let seen = rights::access(call).among(edit, Need::Read, &list)?;
    let gone: BTreeSet<u64> = seen.difference(wanted).copied().collect();
    let added: BTreeSet<u64> = wanted.difference(&before).copied().collect();
    rights::may_link(call, edit, &gone.union(&added).copied().collect())?;
    let gone: Vec<Value> = gone.into_iter().map(Value::from).collect();
    edit.delete_rows(&table::SERVICE_LINKS, &[(own, &[service.into()]), (other, &gone)])?;
    for id in added {
        edit.insert(&table::SERVICE_LINKS, &[(own, service.into()), (other, id.into())])?;
    }
    Ok(())
}

fn refuse_circles(edit: &mut Edit<'_>, services: &[u64]) -> ApiResult<()> {
    let sql = "WITH RECURSIVE up(id) AS (SELECT parentid FROM service_links WHERE serviceid = ? \
               UNION SELECT l.parentid FROM service_links l JOIN up ON l.serviceid = up.id) \
               SELECT id FROM up WHERE id = ?";
    for id in services {
        if !edit.query(sql, &[(*id).into(), (*id).into()])?.is_empty() {
            return Err(ApiError::params("Services form a circular dependency."));
        }
    }
    Ok(())
}

/// A service has problems of its own or children.
fn refuse_mixed(edit: &mut Edit<'_>, services: &[u64]) -> ApiResult<()> {
    for condition in [
        "serviceid IN ({ids})",
        "serviceid IN (SELECT parentid FROM service_links WHERE serviceid IN ({ids}))",
    ] {
        let sql = format!(
            "SELECT s.name FROM services s WHERE s.{condition} \
             AND EXISTS (SELECT 1 FROM service_problem_tags t WHERE t.serviceid = s.serviceid) \
             AND EXISTS (SELECT 1 FROM service_links l WHERE l.parentid = s.serviceid)"
        );
        if let Some(row) = query_by_ids(edit, &sql, &[], services)?.first() {
            return Err(ApiError::params(format!(
                "Service \"{}\" cannot have problem tags and children at the same time.",
                row.text("name")
            )));
        }
    }
    Ok(())
}
