//! Rows on their way into a block.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::block::{self, Encoder, ROWS_MAX, TextValues, Values};
use crate::columns::{COLUMNS, Source, TEXT_MAX, octets};
use crate::record::Transaction;

/// Bytes of a block's texts: bounds the memory of a thread that records.
const TEXTS_MAX: usize = 1 << 20;

/// The distinct texts of a column, and which of them each row has.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    rows: Vec<u16>,
    table: HashTable<u16>,
    bytes: Vec<u8>,
    /// End of each entry within `bytes`.
    ends: Vec<u32>,
}

impl Dictionary {
    fn entry<'d>(bytes: &'d [u8], ends: &[u32], place: u16) -> &'d [u8] {
        let place = usize::from(place);
        let start = place.checked_sub(1).map_or(0, |before| ends[before] as usize);
        &bytes[start..ends[place] as usize]
    }

    /// Adds a row; returns the bytes that it added to the dictionary.
    fn push(&mut self, text: &[u8]) -> usize {
        let text = &text[..text.len().min(TEXT_MAX)];
        let (bytes, ends) = (&self.bytes, &self.ends);
        // Most rows repeat the row before.
        if let Some(last) = self.rows.last().copied()
            && Self::entry(bytes, ends, last) == text
        {
            self.rows.push(last);
            return 0;
        }
        let hasher = FixedState::default();
        let hash = hasher.hash_one(text);
        let found = self.table.find(hash, |place| Self::entry(bytes, ends, *place) == text);
        if let Some(place) = found {
            self.rows.push(*place);
            return 0;
        }
        let place = u16::try_from(self.ends.len()).expect("BUG: a block of too many rows");
        self.table
            .insert_unique(hash, place, |place| hasher.hash_one(Self::entry(bytes, ends, *place)));
        self.bytes.extend_from_slice(text);
        self.ends.push(u32::try_from(self.bytes.len()).expect("BUG: a dictionary beyond 4 GiB"));
        self.rows.push(place);
        text.len()
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.table.clear();
        self.bytes.clear();
        self.ends.clear();
    }
}

#[derive(Debug)]
enum Building {
    Numbers(Vec<u64>),
    Texts(Dictionary),
}

impl Building {
    fn values(&self) -> Values<'_> {
        match self {
            Self::Numbers(numbers) => Values::Numbers(numbers),
            Self::Texts(Dictionary { rows, bytes, ends, .. }) => {
                Values::Texts(TextValues { rows, bytes, ends })
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Numbers(numbers) => numbers.clear(),
            Self::Texts(texts) => texts.clear(),
        }
    }
}

/// Collects rows. It keeps its memory when it is emptied.
#[derive(Debug)]
pub struct Builder {
    columns: Vec<Building>,
    rows: usize,
    text_bytes: usize,
}

impl Default for Builder {
    fn default() -> Self {
        let building = |source| match source {
            Source::Number(_) => Building::Numbers(Vec::new()),
            _ => Building::Texts(Dictionary::default()),
        };
        let columns = COLUMNS.iter().map(|column| building(column.source)).collect();
        Self { columns, rows: 0, text_bytes: 0 }
    }
}

impl Builder {
    pub const fn len(&self) -> usize {
        self.rows
    }

    pub const fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// No more rows: it must become a block.
    pub const fn is_full(&self) -> bool {
        self.rows >= ROWS_MAX || self.text_bytes >= TEXTS_MAX
    }

    /// Adds a row. Panics if it is full.
    pub fn push(&mut self, transaction: &Transaction<'_>) {
        assert!(!self.is_full(), "BUG: a row for a full block");
        for (column, building) in COLUMNS.iter().zip(&mut self.columns) {
            match (building, column.source) {
                (Building::Numbers(numbers), Source::Number(read)) => {
                    numbers.push(read(transaction));
                }
                (Building::Texts(texts), Source::Text(read)) => {
                    self.text_bytes += texts.push(read(transaction));
                }
                (Building::Texts(texts), Source::Word(read)) => {
                    texts.push(read(transaction).as_bytes());
                }
                (Building::Texts(texts), Source::Address(read)) => {
                    self.text_bytes += texts.push(&octets(read(transaction)));
                }
                (Building::Numbers(_), _) | (Building::Texts(_), Source::Number(_)) => {}
            }
        }
        self.rows += 1;
    }

    /// The rows as a block. The builder is empty afterwards.
    pub fn finish(&mut self, encoder: &mut Encoder) -> Vec<u8> {
        let columns: Vec<_> = self.columns.iter().map(Building::values).collect();
        let block = block::encode(&columns, self.rows, encoder);
        self.clear();
        block
    }

    /// Forgets the rows.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Building::clear);
        self.rows = 0;
        self.text_bytes = 0;
    }
}
