//! What all connections share.

use std::sync::Arc;

use collect::Context;

use crate::active::ActiveAgents;
use crate::backend::Backend;
use crate::settings::ListenConfig;
use crate::trapper::matching::Tables;
use crate::trapper::sessions::Sessions;

/// The context, and what listeners remember.
pub(crate) struct Shared {
    pub(crate) context: Arc<Context>,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) config: ListenConfig,
    pub(crate) active: ActiveAgents,
    pub(crate) sessions: Sessions,
    pub(crate) tables: Arc<Tables>,
}
