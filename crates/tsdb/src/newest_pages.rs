//! The directory of a segment's pages of newest rows.

use std::path::Path;
use std::sync::Arc;

use crate::column::Cursor;
use crate::disk::DiskRead;
use crate::error::{Damaged, Error};
use crate::layout::{Footer, PAGE_ENTRY, Place, place};
use crate::newest_cache::Cache;

/// Where the pages of newest rows of a segment lie.
#[derive(Debug)]
pub(crate) struct NewestPages {
    /// First item and place of each.
    pub(crate) pages: Vec<(u64, Place)>,
    /// The segment's number there.
    pub(crate) number: u64,
    pub(crate) cache: Arc<Cache>,
}

impl Drop for NewestPages {
    fn drop(&mut self) {
        self.cache.forget(self.number);
    }
}

impl NewestPages {
    /// Reads the directory.
    pub(crate) fn open(
        file: &dyn DiskRead,
        path: &Path,
        footer: &Footer,
        cache: &Arc<Cache>,
    ) -> Result<Self, Error> {
        let fail = |damaged: Damaged| damaged.of(path);
        let mut pages = Vec::new();
        if footer.newest_pages > 0 {
            let len = u64::from(footer.newest_pages) * PAGE_ENTRY as u64;
            let start = footer.tables_at.checked_sub(len);
            let start = start.ok_or_else(|| fail(Damaged("newest rows do not fit the file")))?;
            let mut bytes = vec![0; footer.newest_pages as usize * PAGE_ENTRY];
            file.read_at(&mut bytes, start).map_err(Error::io("read", path))?;
            if crc32fast::hash(&bytes) != footer.newest_crc {
                return Err(fail(Damaged("the checksum of newest rows does not fit")));
            }
            let mut cursor = Cursor::new(&bytes);
            for _ in 0..footer.newest_pages {
                let first = cursor.u64().map_err(fail)?;
                pages.push((first, place(&mut cursor).map_err(fail)?));
            }
        }
        Ok(Self { pages, number: cache.register(), cache: Arc::clone(cache) })
    }

    /// Number of pages.
    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    /// The only page that may hold the item.
    pub(crate) fn page_of(&self, item: u64) -> Option<usize> {
        self.pages.partition_point(|&(first, _)| first <= item).checked_sub(1)
    }
}
