//! The last two values of every item, in as few bytes as possible.

use hashbrown::HashTable;
use model::{ItemId, Sample, SampleValue, Timestamp};
use stdx::memory;
use stdx::sys::prefetch;

use super::Point;

/// Entries get room by so many, so that growing neither copies nor doubles. It is used entry by entry.
const PAGE: usize = 1 << 18;

/// Samples whose entries are looked at before they are put in.
const SAMPLES_AHEAD: usize = 32;

/// Tells how the 64 bits of a slot are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Form {
    Empty,
    Float,
    Unsigned,
    /// The bits are an index into `boxed`.
    Boxed,
}

/// 48 bytes an item; with its place in the hash table about 56.
#[derive(Debug, Clone, Copy)]
struct Entry {
    item: ItemId,
    /// Newest first.
    at: [Timestamp; 2],
    bits: [u64; 2],
    form: [Form; 2],
}

const FREE: Entry = Entry {
    item: ItemId(0),
    at: [Timestamp { clock: 0, ns: 0 }; 2],
    bits: [0; 2],
    form: [Form::Empty; 2],
};

#[derive(Debug, Default)]
pub(super) struct Latest {
    index: HashTable<u32>,
    pages: Vec<Vec<Entry>>,
    free: Vec<u32>,
    /// Texts and logs; `None` = free.
    boxed: Vec<Option<Box<SampleValue>>>,
    boxed_free: Vec<u32>,
}

fn place(at: u32) -> (usize, usize) {
    (at as usize / PAGE, at as usize % PAGE)
}

impl Latest {
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.pages.iter().map(Vec::len).sum::<usize>() * size_of::<Entry>()
            + self.index.capacity() * (size_of::<u32>() + 1)
            + self.boxed.iter().flatten().count() * (size_of::<SampleValue>() + 16)
    }

    fn find(&self, item: ItemId) -> Option<u32> {
        let entry = |&at: &u32| self.entry(at).item == item;
        self.index.find(item.near_hash(), entry).copied()
    }

    fn entry(&self, at: u32) -> &Entry {
        let (page, row) = place(at);
        &self.pages[page][row]
    }

    /// Takes in samples, some at a time: the searches then do not wait for each other's memory.
    pub(super) fn put_all(&mut self, samples: &[Sample]) {
        let mut likely = [None; SAMPLES_AHEAD];
        for samples in samples.chunks(SAMPLES_AHEAD) {
            for (sample, likely) in samples.iter().zip(&mut likely) {
                *likely = self.index.find(sample.item.near_hash(), |_| true).copied();
                if let Some(at) = *likely {
                    prefetch(self.entry(at));
                }
            }
            for (sample, likely) in samples.iter().zip(likely) {
                match likely.filter(|&at| self.entry(at).item == sample.item) {
                    Some(at) => self.put_at(at, sample, false),
                    None => self.put(sample),
                }
            }
        }
    }

    pub(super) fn put(&mut self, sample: &Sample) {
        let at = self.find(sample.item).unwrap_or_else(|| self.add(sample.item));
        self.put_at(at, sample, false);
    }

    /// Takes in the newest two values of history, the older one first.
    pub(super) fn warm(&mut self, sample: &Sample) {
        let at = self.find(sample.item).unwrap_or_else(|| self.add(sample.item));
        self.put_at(at, sample, true);
    }

    /// A late value of an item with one value is only known to be the one before it if it comes
    /// from history, which may have others in between.
    fn put_at(&mut self, at: u32, sample: &Sample, from_history: bool) {
        let (page, row) = place(at);
        let mut entry = self.pages[page][row];
        // Which of the two it becomes: newest, the one before, or neither.
        let taken = |slot: usize| entry.form[slot] != Form::Empty;
        let slot = if !taken(0) || sample.at >= entry.at[0] {
            0
        } else if (!taken(1) && from_history) || (taken(1) && sample.at >= entry.at[1]) {
            1
        } else {
            return;
        };
        let replaces = taken(slot) && sample.at == entry.at[slot];
        if slot == 0 && taken(0) && !replaces {
            self.release(entry, 1);
            entry.at[1] = entry.at[0];
            entry.bits[1] = entry.bits[0];
            entry.form[1] = entry.form[0];
        } else {
            self.release(entry, slot);
        }
        entry.at[slot] = sample.at;
        (entry.form[slot], entry.bits[slot]) = self.pack(&sample.value);
        self.pages[page][row] = entry;
    }

    fn add(&mut self, item: ItemId) -> u32 {
        let at = self.free.pop().unwrap_or_else(|| {
            if self.pages.last().is_none_or(|page| page.len() == PAGE) {
                // With few items, a huge page would be more than they need.
                let first = self.pages.is_empty();
                let page =
                    if first { Vec::with_capacity(PAGE) } else { memory::with_capacity(PAGE) };
                self.pages.push(page);
            }
            let last = self.pages.len() - 1;
            self.pages[last].push(FREE);
            u32::try_from(last * PAGE + self.pages[last].len() - 1).expect("BUG: 4 billion items")
        });
        let (page, row) = place(at);
        self.pages[page][row] = Entry { item, ..FREE };
        let Self { index, pages, .. } = self;
        let rehash = |&at: &u32| {
            let (page, row) = place(at);
            pages[page][row].item.near_hash()
        };
        index.insert_unique(item.near_hash(), at, rehash);
        at
    }

    pub(super) fn remove(&mut self, item: ItemId) {
        let Some(at) = self.find(item) else { return };
        let entry = *self.entry(at);
        self.release(entry, 0);
        self.release(entry, 1);
        if let Ok(found) = self.index.find_entry(item.near_hash(), |&other| other == at) {
            found.remove();
        }
        self.free.push(at);
    }

    /// Gives the box of a slot free that is about to be overwritten.
    fn release(&mut self, entry: Entry, slot: usize) {
        if entry.form[slot] == Form::Boxed
            && let Ok(at) = u32::try_from(entry.bits[slot])
        {
            self.boxed[at as usize] = None;
            self.boxed_free.push(at);
        }
    }

    fn pack(&mut self, value: &SampleValue) -> (Form, u64) {
        match value {
            SampleValue::Float(v) => (Form::Float, v.to_bits()),
            SampleValue::Unsigned(v) => (Form::Unsigned, *v),
            SampleValue::Text(_) | SampleValue::Log(_) => {
                let boxed = Some(Box::new(value.clone()));
                let at = if let Some(at) = self.boxed_free.pop() {
                    self.boxed[at as usize] = boxed;
                    u64::from(at)
                } else {
                    self.boxed.push(boxed);
                    self.boxed.len() as u64 - 1
                };
                (Form::Boxed, at)
            }
        }
    }

    fn unpack(&self, entry: &Entry, slot: usize) -> Option<Point> {
        let bits = entry.bits[slot];
        let value = match entry.form[slot] {
            Form::Empty => return None,
            Form::Float => SampleValue::Float(f64::from_bits(bits)),
            Form::Unsigned => SampleValue::Unsigned(bits),
            Form::Boxed => {
                let at = usize::try_from(bits).ok()?;
                self.boxed.get(at)?.as_deref()?.clone()
            }
        };
        Some(Point { at: entry.at[slot], value })
    }

    pub(super) fn get(&self, item: ItemId) -> [Option<Point>; 2] {
        let Some(at) = self.find(item) else { return [None, None] };
        let entry = self.entry(at);
        [self.unpack(entry, 0), self.unpack(entry, 1)]
    }

    /// The newest `n` (at most 2) not after `till`, oldest first, if they are all here.
    pub(super) fn newest(&self, item: ItemId, n: usize, till: Timestamp) -> Option<Vec<Point>> {
        let entry = self.entry(self.find(item)?);
        let is_in = |&slot: &usize| entry.form[slot] != Form::Empty && entry.at[slot] <= till;
        let slots: Vec<usize> = (0..2).filter(is_in).take(n).collect();
        if slots.len() < n {
            return None;
        }
        slots.iter().rev().map(|&slot| self.unpack(entry, slot)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_item_takes_at_most_64_bytes() {
        assert_eq!(size_of::<Entry>(), 48);
        let mut latest = Latest::default();
        for item in 0..100_000 {
            let value = SampleValue::Unsigned(item);
            latest.put(&Sample { item: ItemId(item), at: Timestamp::from_s(7), value });
        }
        assert!(latest.bytes() <= 64 * 100_000, "{}", latest.bytes());
    }

    #[test]
    fn texts_that_are_pushed_out_give_their_place_free() {
        let mut latest = Latest::default();
        for clock in 0..100 {
            let value = SampleValue::Text(format!("text {clock}").into());
            latest.put(&Sample { item: ItemId(1), at: Timestamp::from_s(clock), value });
        }
        assert!(latest.boxed.len() <= 3, "{}", latest.boxed.len());
        latest.remove(ItemId(1));
        assert_eq!(latest.boxed.iter().flatten().count(), 0);
        assert_eq!(latest.len(), 0);
        assert_eq!(latest.get(ItemId(1)), [None, None]);
    }
}
