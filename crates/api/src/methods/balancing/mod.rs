//! The load balancer: virtual services and what they use. Administrators read these objects, super
//! administrators change them. Members that only the engine understands have the form of the engine's
//! configuration file.

mod authentication;
pub(crate) mod certificate;
mod compare;
pub(crate) mod engine;
pub(crate) mod enginegroup;
pub(crate) mod exchange;
mod health;
pub(crate) mod healthmonitor;
mod members;
mod placement;
pub(crate) mod pool;
pub(crate) mod poolgroup;
mod purge;
mod rules;
pub(crate) mod vip;
pub(crate) mod virtualservice;

use config::Edit;
use config::db::{Row, Value};
use config::engines::CompileError;

use crate::call::Method;
use crate::error::{ApiError, ApiResult};
use crate::plain::Draft;
use crate::write::{names, no_object_at};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("pool.health", health::health),
    Method::super_admin("enginegroup.compare", compare::compare),
    Method::admin("enginegroup.placement", placement::placement),
    Method::super_admin("enginegroup.configuration", enginegroup::configuration),
    Method::super_admin("virtualservice.purge", purge::purge),
    Method::super_admin("engine.generate", engine::generate),
    Method::super_admin("certificate.renew", certificate::renew),
];

/// A column with the id of an object of another table.
struct Reference {
    column: &'static str,
    table: &'static str,
    key: &'static str,
    /// 0 = none.
    optional: bool,
}

/// Refuses ids of objects that do not exist.
fn require(edit: &mut Edit<'_>, draft: &Draft<'_>, references: &[Reference]) -> ApiResult<()> {
    for reference in references.iter().filter(|reference| draft.gives(reference.column)) {
        let Reference { column, table, key, optional } = reference;
        let id = u64::try_from(draft.value(column, None).as_int()).unwrap_or(0);
        if !(*optional && id == 0) && names(edit, table, key, "name", &[id])?.is_empty() {
            return Err(no_object_at(&format!("{}/{column}", draft.path)));
        }
    }
    Ok(())
}

/// What may refer to an object.
struct Use {
    kind: &'static str,
    /// The names of those that do, by the object's id.
    name: &'static str,
}

/// Refuses to delete objects that are in use.
fn refuse_used(
    edit: &mut Edit<'_>,
    rows: &[Row],
    kind: &str,
    key: &str,
    uses: &[Use],
) -> ApiResult<()> {
    for row in rows {
        for one in uses {
            let id = row.id(key);
            let found = edit.query(one.name, &[Value::from(id)])?;
            if let Some(user) = found.first() {
                return Err(used(kind, row, one.kind, user));
            }
        }
    }
    Ok(())
}

/// The error of an object that another one uses.
fn used(kind: &str, row: &Row, user_kind: &str, user: &Row) -> ApiError {
    ApiError::params(format!(
        "{kind} \"{}\" cannot be deleted, because it is used by {user_kind} \"{}\".",
        row.text("name"),
        user.text("name")
    ))
}

/// The error of an object that an engine would refuse.
fn refused(path: &str, error: CompileError) -> ApiError {
    match error {
        CompileError::Db(error) => error.into(),
        CompileError::Object { reason, .. } => ApiError::at(path, reason),
    }
}

#[cfg(test)]
mod tests;
