//! What can be wrong with files and filters.

/// Why a block cannot be read. Other blocks can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Damage(pub(crate) &'static str);

/// Why a filter is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}, at \"{at}\"")]
pub struct FilterError {
    pub message: String,
    /// The condition as written.
    pub at: String,
}
