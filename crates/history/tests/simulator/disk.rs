//! A disk in memory that fails as a seed says: short writes, no space, errors of every call, bits
//! that flip, the end of the process or of the power at any operation. Files have their full paths.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use tsdb::{Disk, DiskFile, DiskRead};

use crate::random::Random;

/// What can fail, and how often: one in so many calls; 0 = never.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// Writes: part of the bytes, then an error.
    pub write: u64,
    /// `fsync`: nobody knows what is on the disk, and later calls succeed without helping.
    pub sync: u64,
    /// Creating, renaming, removing, cutting, syncing a directory.
    pub name: u64,
    /// Reading and opening.
    pub read: u64,
    /// Bytes that all files together may take; 0 = no limit.
    pub space: usize,
}

#[derive(Debug, Default)]
struct File {
    /// What processes see.
    data: Vec<u8>,
    /// What survives a power cut for sure.
    durable: Vec<u8>,
    /// A sync failed: what was written before it is never made durable.
    doomed: Option<usize>,
}

#[derive(Debug, Clone)]
enum NameChange {
    Create(String, usize),
    Rename(String, String),
    Remove(String),
}

struct State {
    random: Random,
    faults: Faults,
    files: Vec<File>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    pending: Vec<NameChange>,
    /// Operations until the process ends; `None` = it does not.
    left: Option<u64>,
    off: bool,
    injected: u64,
}

/// The disk; clones are the same disk.
#[derive(Clone)]
pub struct SimDisk(Arc<Mutex<State>>);

struct Handle {
    disk: SimDisk,
    file: usize,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "file {}", self.file)
    }
}

fn key(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn apply(names: &mut BTreeMap<String, usize>, change: &NameChange) {
    match change {
        NameChange::Create(name, file) => drop(names.insert(name.clone(), *file)),
        NameChange::Rename(from, to) => {
            if let Some(file) = names.remove(from) {
                names.insert(to.clone(), file);
            }
        }
        NameChange::Remove(name) => drop(names.remove(name)),
    }
}

fn off() -> io::Error {
    io::Error::other("the process is gone")
}

fn failed() -> io::Error {
    io::Error::other("injected: input/output error")
}

impl State {
    /// Counts an operation; an error if the process is gone. `Ok(true)`: this is its last.
    fn step(&mut self) -> io::Result<bool> {
        if self.off {
            return Err(off());
        }
        let Some(left) = &mut self.left else { return Ok(false) };
        *left = left.saturating_sub(1);
        self.off = *left == 0;
        Ok(self.off)
    }

    fn fails(&mut self, one_in: u64) -> bool {
        let fails = one_in > 0 && self.random.below(one_in) == 0;
        self.injected += u64::from(fails);
        fails
    }

    /// A call that either happens or does not.
    fn whole(&mut self, one_in: u64) -> io::Result<()> {
        if self.step()? {
            return Err(off());
        }
        if self.fails(one_in) { Err(failed()) } else { Ok(()) }
    }

    fn used(&self) -> usize {
        self.names.values().map(|&file| self.files[file].data.len()).sum()
    }

    fn change(&mut self, change: NameChange) {
        apply(&mut self.names, &change);
        self.pending.push(change);
    }

    fn find(&self, path: &Path) -> io::Result<usize> {
        self.names.get(&key(path)).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn append(&mut self, file: usize, bytes: &[u8]) -> io::Result<()> {
        let last = self.step()?;
        let room = match self.faults.space {
            0 => bytes.len(),
            space => space.saturating_sub(self.used()).min(bytes.len()),
        };
        let fails = !last && self.fails(self.faults.write);
        let most = if last || fails { self.random.below(bytes.len() as u64 + 1) } else { u64::MAX };
        let len = room.min(usize::try_from(most).unwrap_or(usize::MAX));
        self.files[file].data.extend_from_slice(&bytes[..len]);
        if last {
            Err(off())
        } else if fails {
            Err(failed())
        } else if len < bytes.len() {
            self.injected += 1;
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    }

    fn sync(&mut self, file: usize) -> io::Result<()> {
        let failed = self.whole(self.faults.sync);
        let off = self.off;
        let file = &mut self.files[file];
        match (failed, file.doomed) {
            (Err(error), _) => {
                if !off {
                    file.doomed = Some(file.data.len());
                }
                Err(error)
            }
            // What was written before the failure is clean for the kernel, and lost.
            (Ok(()), Some(_)) => Ok(()),
            (Ok(()), None) => {
                file.durable.clone_from(&file.data);
                Ok(())
            }
        }
    }
}

impl SimDisk {
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(State {
            random: Random::new(seed),
            faults: Faults::default(),
            files: Vec::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            pending: Vec::new(),
            left: None,
            off: false,
            injected: 0,
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// From now on calls fail so often.
    pub fn set_faults(&self, faults: Faults) {
        self.state().faults = faults;
    }

    /// The process ends at the operation so many from now.
    pub fn end_after(&self, operations: u64) {
        self.state().left = Some(operations);
    }

    /// Did it?
    pub fn is_off(&self) -> bool {
        self.state().off
    }

    /// Errors given so far.
    pub fn injected(&self) -> u64 {
        self.state().injected
    }

    /// Bytes of all files.
    pub fn used(&self) -> usize {
        self.state().used()
    }

    /// The machine is there again after `kill -9`: nothing is lost.
    pub fn restart(&self) {
        let mut state = self.state();
        (state.off, state.left, state.faults) = (false, None, Faults::default());
        drop(state);
        self.process_ends();
    }

    /// A failed sync, the end of the process before it could put that right, and a power cut
    /// before it was sealed: against all three together there is no promise.
    pub fn process_ends(&self) {
        self.state().files.iter_mut().for_each(|file| file.doomed = None);
    }

    /// The machine is there again after a power cut: of what no sync had reached, some is there.
    pub fn cut_power(&self) {
        let mut state = self.state();
        let State { random, files, names, durable_names, pending, .. } = &mut *state;
        for file in files.iter_mut() {
            let safe = file.durable.len();
            if file.data.starts_with(&file.durable) && file.doomed.is_none() {
                // Writes reach the disk in any amount, sometimes with rubbish at the end.
                let more = (file.data.len() - safe) as u64;
                let kept = safe + usize::try_from(random.below(more + 1)).unwrap();
                file.data.truncate(kept);
                if kept > safe && random.below(4) == 0 {
                    file.data[kept - 1] ^= 0x55;
                }
            } else {
                file.data.clone_from(&file.durable);
            }
            file.durable.clone_from(&file.data);
            file.doomed = None;
        }
        // A journal: of changes of names, some of the first are there.
        let kept = usize::try_from(random.below(pending.len() as u64 + 1)).unwrap();
        *names = durable_names.clone();
        pending[..kept].iter().for_each(|change| apply(names, change));
        pending.clear();
        *durable_names = names.clone();
        drop(state);
        self.restart();
    }

    /// Flips a bit of some file whose name the filter takes; returns the name.
    pub fn flip(&self, is_meant: impl Fn(&str) -> bool) -> Option<String> {
        let mut state = self.state();
        let names: Vec<(String, usize)> = state
            .names
            .iter()
            .filter(|(name, file)| is_meant(name) && !state.files[**file].data.is_empty())
            .map(|(name, file)| (name.clone(), *file))
            .collect();
        if names.is_empty() {
            return None;
        }
        let pick = usize::try_from(state.random.below(names.len() as u64)).unwrap();
        let (name, file) = names[pick].clone();
        let bits = state.files[file].data.len() as u64 * 8;
        let bit = usize::try_from(state.random.below(bits)).unwrap();
        let file = &mut state.files[file];
        file.data[bit / 8] ^= 1 << (bit % 8);
        if let Some(byte) = file.durable.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
        Some(name)
    }

    /// Names of all files.
    pub fn names(&self) -> Vec<String> {
        self.state().names.keys().cloned().collect()
    }
}

impl DiskFile for Handle {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.disk.state().append(self.file, bytes)
    }
    fn truncate(&self, len: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let faults = state.faults.name;
        state.whole(faults)?;
        let len = usize::try_from(len).unwrap();
        let file = &mut state.files[self.file];
        file.data.truncate(len);
        file.durable.truncate(len);
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        self.disk.state().sync(self.file)
    }
}

impl DiskRead for Handle {
    fn size(&self) -> io::Result<u64> {
        Ok(self.disk.state().files[self.file].data.len() as u64)
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let faults = state.faults.read;
        state.whole(faults)?;
        let start = usize::try_from(offset).unwrap();
        let data = &state.files[self.file].data;
        let bytes = data.get(start..start + buffer.len());
        buffer.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl Disk for SimDisk {
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state();
        let faults = state.faults.name;
        state.whole(faults)?;
        let file = state.files.len();
        state.files.push(File::default());
        state.change(NameChange::Create(key(path), file));
        Ok(Arc::new(Handle { disk: self.clone(), file }))
    }
    fn reopen(&self, path: &Path, len: u64) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.state().find(path)?;
        let handle = Handle { disk: self.clone(), file };
        handle.truncate(len)?;
        Ok(Arc::new(handle))
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        let faults = state.faults.name;
        state.whole(faults)?;
        state.find(from)?;
        state.change(NameChange::Rename(key(from), key(to)));
        Ok(())
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        let faults = state.faults.name;
        state.whole(faults)?;
        state.find(path)?;
        state.change(NameChange::Remove(key(path)));
        Ok(())
    }
    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        let mut state = self.state();
        let faults = state.faults.sync;
        state.whole(faults)?;
        state.durable_names = state.names.clone();
        state.pending.clear();
        Ok(())
    }
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut state = self.state();
        let faults = state.faults.read;
        state.whole(faults)?;
        let inside = |path: &&Path| path.parent() == Some(folder);
        let files = state.names.keys().map(Path::new).filter(inside).filter_map(Path::file_name);
        Ok(files.map(|name| name.to_str().unwrap().to_owned()).collect())
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut state = self.state();
        let faults = state.faults.read;
        state.whole(faults)?;
        let file = state.find(path)?;
        Ok(state.files[file].data.clone())
    }
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskRead>> {
        let mut state = self.state();
        let faults = state.faults.read;
        state.whole(faults)?;
        let file = state.find(path)?;
        Ok(Arc::new(Handle { disk: self.clone(), file }))
    }
}
