//! Files of the embedded engine, damaged.

use std::path::Path;
use std::sync::OnceLock;

use model::{ItemId, Sample, SampleValue, Timestamp};
use stdx::clock::{SharedClock, SimClock};
use tsdb::{Engine, Kinds, Options, Span};

const NOW_S: u32 = 1_700_000_000;

fn clock() -> SharedClock {
    SimClock::at(std::time::Duration::from_secs(NOW_S.into()))
}

/// Names and bytes of the files of a small, sound store: blocks in segments, rows in the WAL.
fn sound() -> &'static [(String, Vec<u8>)] {
    static FILES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a folder for files");
        fill(dir.path());
        let entries = std::fs::read_dir(dir.path()).expect("the folder is there");
        let mut files: Vec<(String, Vec<u8>)> = entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let bytes = path.is_file().then(|| std::fs::read(&path).ok()).flatten()?;
                Some((path.file_name()?.to_str()?.to_owned(), bytes))
            })
            .collect();
        files.sort();
        files
    })
}

fn fill(dir: &Path) {
    let (mut engine, _) = Engine::open(dir, Options::default(), clock()).expect("a new store");
    for part in 0..3u32 {
        let sample = |n: u32| Sample {
            item: ItemId(u64::from(n % 5)),
            at: Timestamp { clock: NOW_S - 1000 + part * 100 + n, ns: n },
            value: match n % 3 {
                0 => SampleValue::Float(f64::from(n) / 3.0),
                1 => SampleValue::Unsigned(n.into()),
                _ => SampleValue::Text(format!("text {n}").into()),
            },
        };
        let samples: Vec<Sample> = (0..60).map(sample).collect();
        engine.append(&samples).expect("a sound disk");
        if part == 0 {
            engine.flush().expect("a sound disk");
        }
    }
}

/// The first byte picks a file, the second where in it the rest is written over. The store opens
/// or says why not, and what it gives can be read or is reported as damaged.
pub(crate) fn recovery(data: &[u8]) {
    let [which, place, new @ ..] = data else { return };
    let files = sound();
    let Ok(dir) = tempfile::tempdir() else { return };
    for (at, (name, bytes)) in files.iter().enumerate() {
        let mut bytes = bytes.clone();
        if at == usize::from(*which) % files.len() && !bytes.is_empty() {
            let start = usize::from(*place) * bytes.len() / 256;
            for (to, from) in bytes[start..].iter_mut().zip(new) {
                *to ^= *from;
            }
            if new.is_empty() {
                bytes.truncate(start);
            }
        }
        if std::fs::write(dir.path().join(name), bytes).is_err() {
            return;
        }
    }
    if let Ok((engine, _)) = Engine::open(dir.path(), Options::default(), clock()) {
        let items: Vec<ItemId> = (0..5).map(ItemId).collect();
        let view = engine.view(&items, Span::ALL);
        for item in items {
            drop(view.samples(item, Kinds::VALUES));
        }
    }
}
