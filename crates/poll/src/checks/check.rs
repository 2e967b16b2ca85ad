//! One check: what to check, and what all checks share.

use std::sync::Arc;
use std::time::Duration;

use collect::Context;
use config::snapshot::{Host, Interface, Item};
use stdx::kerberos::Tickets;

use crate::settings::PollConfig;

/// What all checks share.
pub(crate) struct Shared {
    pub(crate) context: Arc<Context>,
    pub(crate) config: PollConfig,
    pub(crate) tickets: Tickets,
}

/// What to check, and how long it may take.
#[derive(Clone, Copy)]
pub(crate) struct Check<'a> {
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) host: &'a Arc<Host>,
    pub(crate) item: &'a Item,
    /// The interface that the item names.
    pub(crate) interface: Option<&'a Interface>,
    pub(crate) timeout: Duration,
}
