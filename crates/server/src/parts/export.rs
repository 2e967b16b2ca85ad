//! Real-time export: files and connectors.

use anyhow::Context as _;
use exports::{Files, Kinds, Setup};
use pipeline::ExportTap;
use std::sync::Arc;

use super::base::Base;
use super::{Kept, Part, blocking, collection};
use crate::params::{Values, bytes};

/// Starts it; the handle is for the shards, which end before.
pub(crate) fn start(base: &Base<'_>) -> anyhow::Result<Part<ExportTap>> {
    let (bell, follower) = (&base.bells.exports, base.bells.exports.clone());
    let setup = Setup {
        config: Arc::clone(&base.config),
        clock: Arc::clone(&base.clock),
        files: files(base.values)?,
        web: collection::web_files(base.values, &base.data),
    };
    let (tap, handle) = exports::start(setup, bell).context("cannot start exports")?;
    base.config.subscribe(Box::new(move |_, touched| {
        if touched.discovery || touched.global {
            follower.ring();
        }
    }));
    let end = move || {
        handle.end();
        Kept::All
    };
    Ok(Part::new(tap, blocking(end)))
}

/// As the parameters say; makes the folder.
fn files(values: &Values) -> anyhow::Result<Option<Files>> {
    let Some(folder) = values.path("export-dir") else { return Ok(None) };
    let size = values.get("export-file-size");
    let bytes_max = bytes(size).filter(|bytes| *bytes > 0).with_context(|| {
        format!("parameter export-file-size: \"{size}\" is not a size, such as 500M or 1G")
    })?;
    let kinds = Kinds::parse(values.get("export-type")).map_err(|unknown| {
        anyhow::anyhow!("parameter export-type: \"{unknown}\" is not events, history or trends")
    })?;
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("parameter export-dir: cannot create {}", folder.display()))?;
    Ok(Some(Files { folder, bytes_max, kinds }))
}
