//! Which directories the shards of a data folder have.

use std::path::{Path, PathBuf};

use tsdb::Damage;

use crate::damage::Damages;
use crate::{Embedded, Error, Span};

/// What `shards` in the data directory says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Shards that wrote last.
    pub(crate) shards: usize,
    /// Their number changed before: items may have values in several directories.
    pub(crate) mixed: bool,
    /// Numbers of all directories; each has a manifest. Empty = unknown, as older releases leave it.
    pub(crate) folders: Vec<usize>,
}

pub(crate) fn config_error(what: &str, path: &Path, cause: &dyn std::fmt::Display) -> Error {
    Error::config(format!(
        "cannot {what} {path:?}: {cause}; check that the data directory belongs to the server's user"
    ))
}

pub(crate) fn read_layout(path: &Path) -> Result<Option<Layout>, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(config_error("read", path, &error)),
    };
    let (first, second) = text.split_once('\n').unwrap_or((&text, ""));
    let mut words = first.split_whitespace();
    let shards = words.next().and_then(|word| word.parse().ok());
    let mixed = words.next() == Some("mixed");
    let numbers = second.strip_prefix("folders").unwrap_or_default().split_whitespace();
    let folders = numbers.filter_map(|number| number.parse().ok()).collect();
    // Unreadable means unknown: treat all directories as mixed.
    Ok(Some(Layout { shards: shards.unwrap_or(0), mixed: mixed || shards.is_none(), folders }))
}

/// How many shards wrote last below `root`; `None` = nobody has, or the file is damaged.
pub fn shards_below(root: &Path) -> Result<Option<usize>, Error> {
    let layout = read_layout(&root.join("shards"))?;
    Ok(layout.map(|layout| layout.shards).filter(|&shards| shards > 0))
}

pub(crate) fn write_layout(path: &Path, layout: &Layout) -> Result<(), Error> {
    let mixed = if layout.mixed { " mixed" } else { "" };
    let folders: Vec<String> = layout.folders.iter().map(ToString::to_string).collect();
    let text = format!("{}{mixed}\nfolders {}\n", layout.shards, folders.join(" "));
    stdx::file::replace(path, text.as_bytes()).map_err(|error| config_error("write", path, &error))
}

/// The directory of a shard.
pub(crate) fn folder(root: &Path, shard: usize) -> PathBuf {
    root.join(format!("shard-{shard}"))
}

/// Numbers of directories `shard-<n>` with n at least `from`.
pub(crate) fn retired(root: &Path, from: usize) -> Result<Vec<usize>, Error> {
    let fail = |error: &std::io::Error| config_error("list", root, error);
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(root).map_err(|error| fail(&error))? {
        let name = entry.map_err(|error| fail(&error))?.file_name();
        let number = name.to_str().and_then(|n| n.strip_prefix("shard-")?.parse::<usize>().ok());
        numbers.extend(number.filter(|&number| number >= from));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Directories that had a manifest and have none now, with what to report.
pub(crate) fn missing(root: &Path, layout: &Layout) -> Vec<(usize, Damage)> {
    let numbers = layout.folders.iter().copied();
    let missing = numbers.filter_map(|number| {
        let dir = folder(root, number);
        if dir.join("manifest").exists() {
            return None;
        }
        let name = format!("shard-{number}");
        let what = if dir.exists() {
            "the folder has lost its list of files, and perhaps files"
        } else {
            "the folder is missing with all values in it"
        };
        Some((number, Damage::of_any_item(&name, what, Span::ALL, None)))
    });
    missing.collect()
}

/// The damage of the shards below `root`, which are open.
pub fn damages(root: &Path, drivers: &[Embedded]) -> Result<Damages, Error> {
    let layout = read_layout(&root.join("shards"))?;
    Ok(Damages::of(drivers, layout.is_some_and(|layout| layout.mixed)))
}
