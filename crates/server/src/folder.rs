//! The data folder: one server at a time, and whether the last one ended in order.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// Two servers on one folder would destroy each other's history.
pub(crate) fn lock(data: &Path) -> anyhow::Result<File> {
    let path = data.join("lock");
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    if file.try_lock().is_err() {
        bail!(
            "{} is in use by another vedette server: stop it, or choose another --data",
            data.display()
        );
    }
    Ok(file)
}

/// Present while the server runs; found at the start, the process before did not end in order.
pub(crate) struct RunningMark(PathBuf);

impl RunningMark {
    /// Leaves the mark; `true` = it was there.
    pub(crate) fn set(data: &Path) -> anyhow::Result<(Self, bool)> {
        let path = data.join("running");
        let crashed = path.exists();
        std::fs::write(&path, "").with_context(|| format!("cannot write {}", path.display()))?;
        Ok((Self(path), crashed))
    }

    /// The server ends in order.
    pub(crate) fn clear(self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::warn!(%error, "the mark of a running server stays: the next start checks history");
        }
    }
}
