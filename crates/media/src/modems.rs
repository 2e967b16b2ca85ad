//! Modems have one user at a time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use stdx::sync::lock;

/// Who uses a modem has it alone: its queue, or a user who tests it.
#[derive(Debug, Default)]
pub(crate) struct Modems(Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>);

impl Modems {
    /// Held while the modem is used.
    pub(crate) fn line(&self, path: &Path) -> Arc<Mutex<()>> {
        let mut all = lock(&self.0);
        // Lines that nobody uses are forgotten.
        all.retain(|known, line| known == path || Arc::strong_count(line) > 1);
        Arc::clone(all.entry(path.to_owned()).or_default())
    }
}
