//! Hosts of discovered rows.

use super::{Stage, Stop, Work};
use crate::db::{Connection, DbResult};

/// A host prototype.
pub(super) struct HostPrototype {}

pub(super) fn prototypes(
    _connection: &mut dyn Connection,
    _rule: u64,
    _parent: u64,
) -> DbResult<Vec<HostPrototype>> {
    Ok(Vec::new())
}

pub(super) fn discover(_stage: &mut Stage<'_, '_>, _work: &mut Work<'_>) -> Result<(), Stop> {
    Ok(())
}
