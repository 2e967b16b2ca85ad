//! What is known from agents and a restart must not lose: positions in log files, which
//! interfaces answer, which items are not supported. One small file, written when it changed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use collect::positions::{LogPosition, TrapPosition};
use collect::{Context, Remembered};
use model::{Available, InterfaceId, InterfaceState, ItemId};
use pipeline::ShardSet;
use serde_json::{Value as Json, json};

/// A server that is killed has forgotten at most so much.
const EVERY: Duration = Duration::from_secs(5);
/// With a million interfaces the file has 30 MB: writing it takes at most one part in so many of a
/// core, and a killed server has forgotten up to [`EVERY_MAX`].
const SHARE: u32 = 50;
const EVERY_MAX: Duration = Duration::from_secs(60);

/// All that is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) collection: Remembered,
    pub(crate) unsupported: Vec<(ItemId, Box<str>)>,
}

/// Whom to ask for what is known now.
#[derive(Debug, Clone)]
pub(crate) struct Sources {
    pub(crate) collection: Arc<Context>,
    pub(crate) shards: Arc<ShardSet>,
}

/// The file, and what it says.
#[derive(Debug)]
pub(crate) struct Memory {
    path: PathBuf,
    written: Known,
}

impl Memory {
    /// Reads the file. What cannot be read is forgotten: nothing else depends on it.
    pub(crate) fn open(data: &Path) -> Self {
        let path = data.join("state.json");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                tracing::warn!(%error, "cannot read {}: states of items and agents are lost", path.display());
                String::new()
            }
        };
        let written = serde_json::from_str(&text).map(|json| decode(&json)).unwrap_or_default();
        Self { path, written }
    }

    /// What was known.
    pub(crate) fn known(&self) -> Known {
        self.written.clone()
    }

    /// Writes what is known now, if it is something else. Blocks.
    pub(crate) fn save(&mut self, sources: &Sources) {
        // Shards that have ended have nothing new to tell.
        let Ok(unsupported) = sources.shards.unsupported() else { return };
        let now = Known { collection: sources.collection.remembered(), unsupported };
        if now == self.written {
            return;
        }
        if let Err(error) = write(&self.path, &encode(&now)) {
            tracing::warn!(%error, "cannot write {}", self.path.display());
        }
        self.written = now;
    }
}

/// Saves every few seconds until `stop`, then once more; the caller has stopped collection before.
pub(crate) async fn keep(
    mut memory: Memory,
    sources: Sources,
    mut stop: tokio::sync::oneshot::Receiver<()>,
) {
    let mut pause = EVERY;
    loop {
        let ends = tokio::time::timeout(pause, &mut stop).await.is_ok();
        let sources = sources.clone();
        let saving = tokio::task::spawn_blocking(move || {
            let before = stdx::sys::thread_cpu_time();
            memory.save(&sources);
            (memory, stdx::sys::thread_cpu_time().saturating_sub(before))
        });
        let Ok((saved, spent)) = saving.await else { return };
        memory = saved;
        pause = (spent * SHARE).clamp(EVERY, EVERY_MAX);
        if ends {
            return;
        }
    }
}

/// Either the old file or the new one is there, whatever happens.
fn write(path: &Path, json: &Json) -> std::io::Result<()> {
    let new = path.with_extension("new");
    let mut file = std::fs::File::create(&new)?;
    file.write_all(json.to_string().as_bytes())?;
    file.sync_data()?;
    std::fs::rename(&new, path)
}

fn encode(known: &Known) -> Json {
    let positions: Vec<Json> = known
        .collection
        .log_positions
        .iter()
        .map(|(item, at)| json!([item.0, at.lastlogsize, at.mtime]))
        .collect();
    let interfaces: Vec<Json> = known
        .collection
        .interfaces
        .iter()
        .map(|(id, state)| {
            json!([id.0, state.available as u8, state.since, state.errors_from, state.error])
        })
        .collect();
    let unsupported: Vec<Json> =
        known.unsupported.iter().map(|(item, why)| json!([item.0, why])).collect();
    let trap_file = known.collection.trap_file.map(|at| json!([at.inode, at.offset]));
    json!({ "log_positions": positions, "interfaces": interfaces, "unsupported": unsupported,
        "trap_file": trap_file })
}

fn decode(json: &Json) -> Known {
    let rows = |name: &str| json.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
    let number = |row: &Json, at: usize| row.get(at).and_then(Json::as_u64);
    let small = |row: &Json, at: usize| number(row, at).and_then(|n| u32::try_from(n).ok());
    let position = |row: &Json| {
        let lastlogsize = number(row, 1)?;
        Some((ItemId(number(row, 0)?), LogPosition { lastlogsize, mtime: small(row, 2)? }))
    };
    let interface = |row: &Json| {
        let state = InterfaceState {
            available: match number(row, 1)? {
                1 => Available::Yes,
                2 => Available::No,
                _ => Available::Unknown,
            },
            since: small(row, 2)?,
            errors_from: small(row, 3)?,
            error: row.get(4).and_then(Json::as_str)?.into(),
            disable_until: 0,
        };
        Some((InterfaceId(number(row, 0)?), state))
    };
    let item = |row: &Json| Some((ItemId(number(row, 0)?), row.get(1)?.as_str()?.into()));
    let trap_file = json
        .get("trap_file")
        .and_then(|row| Some(TrapPosition { inode: number(row, 0)?, offset: number(row, 1)? }));
    Known {
        collection: Remembered {
            trap_file,
            log_positions: rows("log_positions").iter().filter_map(position).collect(),
            interfaces: rows("interfaces").iter().filter_map(interface).collect(),
        },
        unsupported: rows("unsupported").iter().filter_map(item).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = Memory::open(folder.path());
        assert_eq!(memory.known(), Known::default());
        let collection = Remembered {
            trap_file: Some(TrapPosition { inode: 12, offset: 34 }),
            log_positions: vec![(ItemId(7), LogPosition { lastlogsize: 1 << 40, mtime: 9 })],
            interfaces: vec![(
                InterfaceId(3),
                InterfaceState {
                    available: Available::No,
                    error: "Connection \"refused\"".into(),
                    errors_from: 100,
                    disable_until: 0,
                    since: 160,
                },
            )],
        };
        let known = Known { collection, unsupported: vec![(ItemId(8), "no \u{e4}".into())] };
        write(&memory.path, &encode(&known)).unwrap();
        memory = Memory::open(folder.path());
        assert_eq!(memory.known(), known);
        std::fs::write(&memory.path, "{\"log_positions\":[[1,2],7,[1,2,3]]").unwrap();
        assert_eq!(Memory::open(folder.path()).known(), Known::default());
        std::fs::write(&memory.path, "{\"log_positions\":[[1,2],7,[1,2,3]]}").unwrap();
        assert_eq!(Memory::open(folder.path()).known().collection.log_positions.len(), 1);
    }
}
