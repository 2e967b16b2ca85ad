//! Reading the newest rows of many items from a segment.

use std::sync::Arc;

use crate::error::{Damaged, Error};
use crate::kind::{Kind, Kinds, Span};
use crate::newest::{Found, NEWEST, Page};
use crate::newest_pages::NewestPages;
use crate::rows::{ItemSink, Run};
use crate::segment::{Segment, hand_over};

impl Segment {
    pub(crate) fn newest_page(&self, page: usize) -> Result<Arc<Page>, Error> {
        let NewestPages { pages, number, cache } = &self.newest;
        if let Some(page) = cache.get((*number, page)) {
            return Ok(page);
        }
        let (first, place) = pages[page];
        let read =
            Page::decode(&self.at(place)?, first).map_err(|damaged| self.damaged(damaged))?;
        let read = Arc::new(read);
        cache.put((*number, page), &read);
        Ok(read)
    }

    /// Reads all pages of newest rows into memory.
    pub(crate) fn load_newest(&self) -> Result<(), Error> {
        (0..self.newest.pages.len()).try_for_each(|page| self.newest_page(page).map(drop))
    }

    /// Hands over the newest `n` rows of each kind of many items, which come sorted: each item's
    /// oldest first.
    pub(crate) fn read_newest(
        &self,
        items: &[u64],
        kinds: Kinds,
        n: usize,
        sink: &mut ItemSink<'_>,
    ) -> Result<(), Error> {
        let trends = Kind::TRENDS.iter().any(|&trend| kinds.has(trend));
        if n > NEWEST || trends || self.newest.pages.is_empty() {
            return self.read_newest_blocks(items, kinds, n, sink);
        }
        let mut elsewhere = Vec::new();
        let mut unreadable = Vec::new();
        let mut rest = items;
        while let Some(&item) = rest.first() {
            let Some(number) = self.newest.page_of(item) else {
                rest = &rest[1..];
                continue;
            };
            let next = self.newest.pages.get(number + 1).map_or(u64::MAX, |&(first, _)| first);
            let last = number + 1 == self.newest.pages.len();
            let (here, others) = if last {
                (rest, &rest[rest.len()..])
            } else {
                rest.split_at(rest.partition_point(|&item| item < next))
            };
            rest = others;
            let page = match self.newest_page(number) {
                Err(error) if self.lose_newest_page(number, &error) => {
                    unreadable.extend_from_slice(here);
                    continue;
                }
                page => page?,
            };
            let mut from = 0;
            for &item in here {
                for found in page.find(item, kinds, &mut from) {
                    match found {
                        Found::Here(kind, rows) => {
                            let newest = rows.into_iter().skip(NEWEST - n).flatten();
                            for (at, raw) in newest {
                                sink(item, kind, at, raw).map_err(|d| self.damaged(d))?;
                            }
                        }
                        Found::Elsewhere(kind) => elsewhere.push((item, kind)),
                    }
                }
            }
        }
        self.read_newest_blocks(&unreadable, kinds, n, sink)?;
        elsewhere.chunk_by(|a, b| a.1 == b.1).try_for_each(|alike| {
            let items: Vec<u64> = alike.iter().map(|&(item, _)| item).collect();
            self.read_newest_blocks(&items, Kinds::from(alike[0].1), n, sink)
        })
    }

    /// The same without pages. Every page of the index and every block is read once.
    fn read_newest_blocks(
        &self,
        items: &[u64],
        kinds: Kinds,
        n: usize,
        sink: &mut ItemSink<'_>,
    ) -> Result<(), Error> {
        let mut wanted: Vec<(u32, u64, Kind)> = Vec::new();
        let mut kept = None;
        for &item in items {
            let entries = self.lookup(item, &mut kept)?;
            let entries = entries.into_iter().filter(|entry| kinds.has(entry.kind));
            wanted.extend(entries.map(|entry| (entry.block, item, entry.kind)));
        }
        wanted.sort_unstable();
        let mut run = Run::default();
        for of_block in wanted.chunk_by(|a, b| a.0 == b.0) {
            let block = match of_block {
                [(block, item, kind)] => self.block_for(*block, *item, *kind),
                _ => self.block(of_block[0].0),
            };
            let block = match block {
                Err(error) if self.lose_block(of_block[0].0, &error) => continue,
                block => block?,
            };
            for &(number, item, kind) in of_block {
                run.clear();
                let read = block
                    .find(item, kind)
                    .ok_or(Damaged("a run is missing"))
                    .and_then(|at| block.read(at, kind, &mut run))
                    .and_then(|()| {
                        let from = run.clock.len().saturating_sub(n);
                        let mut row = 0;
                        hand_over(&run, kind, Span::ALL, &mut |kind, at, raw| {
                            row += 1;
                            if row > from { sink(item, kind, at, raw) } else { Ok(()) }
                        })
                    });
                match read.map_err(|damaged| self.damaged(damaged)) {
                    Err(error) if self.lose_block(number, &error) => {}
                    read => read?,
                }
            }
        }
        Ok(())
    }
}
