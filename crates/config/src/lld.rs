//! Low-level discovery: rows of a rule become items, triggers and hosts.

use model::DiscoveryValue;

use crate::Config;
use crate::db::DbResult;

/// Applies one value of a discovery rule.
pub fn process(_config: &Config, _value: &DiscoveryValue) -> DbResult<()> {
    Ok(())
}
