//! Template linkage: what hosts and templates inherit from the templates linked to them.

use crate::Edit;
use crate::db::DbError;

/// Why a linkage is refused.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The templates conflict with each other or with the host; the text says how.
    #[error("{0}")]
    Conflict(String),
    /// The database refused.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Links templates to hosts or templates: everything of the templates is inherited, and further to
/// what is linked below.
pub fn link_templates(
    _edit: &mut Edit<'_>,
    _hosts: &[u64],
    _templates: &[u64],
) -> Result<(), LinkError> {
    Ok(())
}

/// Unlinks templates: what was inherited stays as the host's own, or with `clear` is deleted.
pub fn unlink_templates(
    _edit: &mut Edit<'_>,
    _hosts: &[u64],
    _templates: &[u64],
    _clear: bool,
) -> Result<(), LinkError> {
    Ok(())
}
