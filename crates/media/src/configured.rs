//! The media types as they are configured now.

use std::sync::{Arc, Mutex};

use config::Config;
use config::db::DbResult;
use stdx::sync::lock;

use crate::settings::MediaType;
use crate::stored::media_types;

/// The configuration that queues follow: each attempt is made with the settings that its media type has when it starts.
#[derive(Debug)]
pub(crate) struct Configured {
    config: Arc<Config>,
    /// Revision of the snapshot whose media types the queues have.
    revision: Mutex<Option<u64>>,
}

impl Configured {
    /// Nothing is read before the first attempt.
    pub(crate) fn new(config: Arc<Config>) -> Self {
        Self { config, revision: Mutex::new(None) }
    }

    /// Reads the media types if they may have changed. `is_known`: the queues have the one that is wanted.
    pub(crate) fn follow(
        &self,
        is_known: impl FnOnce() -> bool,
        apply: impl FnOnce(Vec<MediaType>),
    ) -> DbResult<()> {
        let now = self.config.snapshot().revision;
        let mut revision = lock(&self.revision);
        // A media type is in the database a moment before the snapshot says so.
        if *revision != Some(now) || !is_known() {
            apply(self.config.read(|connection| media_types(connection))?);
            *revision = Some(now);
        }
        Ok(())
    }
}
