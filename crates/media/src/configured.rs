//! The media as they are configured now.

use std::sync::{Arc, Mutex};

use config::Config;
use config::db::DbResult;
use model::alert::{Media, Refused};
use model::{MediaTypeId, Outgoing};
use stdx::sync::lock;

use crate::queues::Queues;
use crate::stored::media_types;

/// Queues that follow the configuration: an attempt is made with the settings that its media type has when it is handed
/// over.
#[derive(Debug)]
pub struct Configured {
    config: Arc<Config>,
    queues: Queues,
    /// Revision of the snapshot whose media types the queues have.
    revision: Mutex<Option<u64>>,
}

impl Configured {
    /// Nothing is read before the first attempt.
    pub fn new(config: Arc<Config>, queues: Queues) -> Self {
        Self { config, queues, revision: Mutex::new(None) }
    }

    /// Reads the media types if they may have changed.
    fn follow(&self, wanted: MediaTypeId) -> DbResult<()> {
        let now = self.config.snapshot().revision;
        let mut revision = lock(&self.revision);
        // A media type is in the database a moment before the snapshot says so.
        if *revision != Some(now) || !self.queues.knows(wanted) {
            self.queues.configure(self.config.read(|connection| media_types(connection))?);
            *revision = Some(now);
        }
        Ok(())
    }
}

impl Media for Configured {
    fn send(&self, attempt: Outgoing) -> Result<(), Refused> {
        if let Err(error) = self.follow(attempt.media_type) {
            tracing::warn!(%error, "cannot read the media types; messages wait");
            return Err(Refused::Full(Box::new(attempt)));
        }
        self.queues.send(attempt)
    }
}
