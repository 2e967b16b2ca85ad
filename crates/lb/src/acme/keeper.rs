//! The automatic certificates of an engine's file.

use std::path::Path;
use std::sync::{Arc, Weak};

use stdx::clock::SharedClock;

use super::orders::{Job, Orders};
use super::slot::Automatic;
use super::state::Folder;
use crate::config::Acme;

/// Certificates of a configuration that is about to be applied.
#[derive(Debug)]
pub(crate) struct Prepared(Option<(Arc<Folder>, Job)>);

/// Orders and renews while it exists.
pub(crate) struct Keeper {
    orders: Orders,
    /// That of the configuration.
    folder: Option<Arc<Folder>>,
    /// Folders that an order may still write to.
    opened: Vec<Weak<Folder>>,
}

impl Keeper {
    pub(crate) fn new(clock: &SharedClock) -> Self {
        Self { orders: Orders::new(clock), folder: None, opened: Vec::new() }
    }

    /// Opens the folder and puts stored certificates into their places, so that the first connection
    /// gets them.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub(crate) fn prepare(
        &self,
        settings: Option<&Acme>,
        automatic: &Automatic,
    ) -> anyhow::Result<Prepared> {
        let Some(settings) = settings else { return Ok(Prepared(None)) };
        let folder = match self.open(&settings.folder) {
            Some(folder) => folder,
            None => Arc::new(Folder::open(&settings.folder)?),
        };
        for slot in &automatic.slots {
            if let Some(issued) = folder.certificate(&slot.wanted.key) {
                slot.offer(Arc::new(issued));
            }
        }
        let job = Job {
            slots: automatic.slots.clone(),
            store: Arc::clone(&folder) as _,
            responder: Arc::clone(&automatic.challenges) as _,
            again: true,
        };
        Ok(Prepared(Some((folder, job))))
    }

    /// A folder that is open already: its lock would refuse a second time.
    fn open(&self, path: &Path) -> Option<Arc<Folder>> {
        self.opened.iter().filter_map(Weak::upgrade).find(|folder| folder.path() == path)
    }

    /// Orders and renews what was prepared, and nothing else any more.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn apply(&mut self, Prepared(prepared): Prepared) -> std::io::Result<()> {
        let (folder, job) = prepared.unzip();
        if let Some(folder) = &folder {
            self.opened.retain(|old| old.upgrade().is_some_and(|old| !Arc::ptr_eq(&old, folder)));
            self.opened.push(Arc::downgrade(folder));
        }
        self.folder = folder;
        self.orders.replace(job)
    }
}
