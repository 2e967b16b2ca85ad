//! Parts of an open segment that cannot be read: reading goes on without them, and each is recorded
//! once.
//!
//! - A damaged block costs its rows. All others, also newer values of the same items, stay readable.
//! - A damaged page of the index costs nothing: it is made again in memory from the blocks.
//! - A damaged page of newest rows costs nothing: the rows are read from their blocks.

use std::collections::BTreeSet;
use std::sync::Arc;

use stdx::sync::lock;

use crate::damage::{Damage, ranges};
use crate::error::Error;
use crate::kind::{Kind, Span};
use crate::layout::Entry;
use crate::segment::{Segment, Unreadable};

impl Segment {
    /// Some of its blocks or pages were found damaged: merging would lose them for good.
    pub(crate) fn is_damaged(&self) -> bool {
        let Unreadable { blocks, pages, .. } = &self.unreadable;
        !lock(blocks).is_empty() || !lock(pages).is_empty()
    }

    /// Records a block that cannot be read; false = the error is of another kind.
    pub(crate) fn lose_block(&self, block: u32, error: &Error) -> bool {
        if !error.is_lost() {
            return false;
        }
        if lock(&self.unreadable.blocks).insert(block) {
            self.unreadable.log.add(self.damage_of_block(block));
        }
        true
    }

    fn damage_of_block(&self, block: u32) -> Damage {
        let name = self.id.file_name();
        let what = format!("block {block} is damaged");
        let (first, last) = (self.footer.first, self.footer.last);
        let (mut items, mut from, mut till) = (Vec::new(), last, first);
        let mut open = None;
        for page in 0..self.footer.pages as usize {
            let Ok(entries) = self.any_page(page) else {
                return Damage::of_any_item(&name, &what, Span::new(first, last), None);
            };
            for entry in entries.iter() {
                let series = (entry.item, entry.kind);
                if let Some(before) = open.take() {
                    till = till.max(if before == series { entry.start } else { last });
                }
                if entry.block == block {
                    items.push(entry.item);
                    from = from.min(entry.start.max(first));
                    open = Some(series);
                }
            }
        }
        if open.is_some() {
            till = last;
        }
        let span = Span::new(from, till.max(from));
        Damage { items: Some(ranges(items)), ..Damage::of_any_item(&name, &what, span, None) }
    }

    /// A page of the index; one that is damaged is made from the blocks.
    pub(crate) fn any_page(&self, page: usize) -> Result<Arc<Vec<Entry>>, Error> {
        if let Some(entries) = lock(&self.unreadable.pages).get(&page) {
            return Ok(Arc::clone(entries));
        }
        match self.page(page) {
            Err(error) if error.is_lost() => {}
            read => return read.map(Arc::new),
        }
        let entries = Arc::new(self.page_from_blocks(page)?);
        lock(&self.unreadable.pages).insert(page, Arc::clone(&entries));
        let what = format!("page {page} of the index is damaged; its blocks were read instead");
        self.unreadable.log.add(Damage::harmless(&self.id.file_name(), &what));
        Ok(entries)
    }

    /// What the page would hold. Two pages may hold runs of one series: the page gets those that the
    /// pages before it do not have, as many as a page has.
    fn page_from_blocks(&self, page: usize) -> Result<Vec<Entry>, Error> {
        let first = self.first_of(page);
        let next = self.first_of(page + 1);
        let mut runs: Vec<(u64, Kind, u32, u32)> = Vec::new();
        for number in 0..self.footer.blocks {
            let block = match self.block(number) {
                Err(error) if error.is_lost() => {
                    // Its items are not known without the page.
                    self.lose_unknown(number, (first, next));
                    continue;
                }
                block => block?,
            };
            for (item, kind, clock) in block.starts() {
                let kind = u8::try_from(kind).ok().and_then(Kind::from_number);
                if let Some(kind) = kind.filter(|_| first <= item && item <= next) {
                    runs.push((item, kind, clock, number));
                }
            }
        }
        runs.sort_unstable();
        let mut before = None;
        let entries = runs.into_iter().map(|(item, kind, clock, block)| {
            let is_first = before.replace((item, kind)) != Some((item, kind));
            Entry { item, kind, block, start: if is_first { 0 } else { clock } }
        });
        let elsewhere = self.entries_of_neighbours(page);
        let key = |entry: &Entry| (entry.item, entry.kind, entry.block);
        Ok(entries.filter(|entry| !elsewhere.contains(&key(entry))).collect())
    }

    /// Runs of the first and the last item of a page that the pages beside it name.
    fn entries_of_neighbours(&self, page: usize) -> BTreeSet<(u64, Kind, u32)> {
        let before = page.checked_sub(1);
        let behind = Some(page + 1).filter(|&page| page < self.footer.pages as usize);
        let pages = before.into_iter().chain(behind).filter_map(|page| self.page(page).ok());
        pages.flatten().map(|entry| (entry.item, entry.kind, entry.block)).collect()
    }

    fn lose_unknown(&self, block: u32, (first, next): (u64, u64)) {
        if lock(&self.unreadable.blocks).insert(block) {
            let what = format!("block {block} and its page of the index are damaged");
            let span = Span::new(self.footer.first, self.footer.last);
            let items = Some(vec![(model::ItemId(first), model::ItemId(next))]);
            let any = Damage::of_any_item(&self.id.file_name(), &what, span, None);
            self.unreadable.log.add(Damage { items, ..any });
        }
    }

    /// Records a page of newest rows that cannot be read; false = the error is of another kind.
    pub(crate) fn lose_newest_page(&self, page: usize, error: &Error) -> bool {
        if !error.is_lost() {
            return false;
        }
        if lock(&self.unreadable.newest).insert(page) {
            let what = format!("page {page} of newest rows is damaged; blocks are read instead");
            self.unreadable.log.add(Damage::harmless(&self.id.file_name(), &what));
        }
        true
    }
}
