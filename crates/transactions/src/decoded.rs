//! The rows of a block one by one, for stores that have another form.

use std::net::IpAddr;

use crate::block::{Block, Header, Texts};
use crate::columns::{COLUMNS, Column, TEXT_MAX, address};
use crate::error::Damage;

/// Bytes of the distinct texts of all columns: a builder makes no more than 3 MiB.
const TEXTS_MAX: usize = 8 << 20;

/// All columns of a block.
pub struct Decoded {
    rows: usize,
    columns: Vec<Values>,
}

enum Values {
    Numbers(Vec<u64>),
    /// The texts, and the rows' places in them; `None` = all have the first.
    Texts(Texts, Option<Vec<u16>>),
}

/// A value of one row, as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'d> {
    Number(u64),
    /// Any bytes.
    Text(&'d [u8]),
    Address(IpAddr),
}

impl std::fmt::Debug for Decoded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoded").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl Decoded {
    /// Reads a block.
    ///
    /// # Errors
    /// A part of it is damaged, or has more texts than any engine writes.
    pub fn read(block: &[u8]) -> Result<Self, Damage> {
        let header = Header::read(block)?;
        let block = Block::open(block, 0, header)?;
        let mut bytes = 0;
        let values = |column: &Column| {
            if column.is_number() {
                return Ok(Values::Numbers(block.numbers(column)?));
            }
            let texts = block.texts(column)?;
            bytes += texts.bytes();
            match bytes <= TEXTS_MAX {
                true => Ok(Values::Texts(texts, block.places(column)?)),
                false => Err(Damage("a block has too many texts")),
            }
        };
        let columns = COLUMNS.iter().map(values).collect::<Result<_, Damage>>()?;
        Ok(Self { rows: block.rows(), columns })
    }

    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The values of a row, in the order of [`COLUMNS`].
    pub fn row(&self, row: usize) -> impl Iterator<Item = Field<'_>> {
        COLUMNS.iter().zip(&self.columns).map(move |(column, values)| match values {
            Values::Numbers(numbers) => Field::Number(numbers.get(row).copied().unwrap_or(0)),
            Values::Texts(texts, places) => {
                let place = places.as_ref().and_then(|places| places.get(row)).copied();
                let text = texts.get(place.unwrap_or(0).into());
                match column.is_address() {
                    true => Field::Address(address(text)),
                    false => Field::Text(&text[..text.len().min(TEXT_MAX)]),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::transaction;
    use crate::{Builder, Encoder};

    #[test]
    fn rows_come_back_as_they_were_recorded() {
        let mut builder = Builder::default();
        (0..500).for_each(|number| builder.push(&transaction(number)));
        let block = builder.finish(&mut Encoder::new().unwrap());
        let decoded = Decoded::read(&block).unwrap();
        assert_eq!(decoded.rows(), 500);
        let of = |row: usize, name: &str| {
            let column = Column::named(name).unwrap();
            decoded.row(row).nth(column.place()).unwrap()
        };
        for (row, number) in (0..500).zip(0..) {
            let transaction = transaction(number);
            assert_eq!(of(row, "began"), Field::Number(transaction.began_us));
            assert_eq!(of(row, "client"), Field::Address(transaction.client.address));
            assert_eq!(of(row, "user"), Field::Text(transaction.client.user));
            assert_eq!(of(row, "end"), Field::Text(transaction.course.end.word().as_bytes()));
            assert_eq!(of(row, "query"), Field::Text(b""), "it is in no row");
        }
        assert!(Decoded::read(&block[..block.len() - 1]).is_err());
    }

    #[test]
    fn more_texts_than_an_engine_writes_are_damage() {
        let text = "x".repeat(9 << 20);
        let ends = [u32::try_from(text.len()).unwrap()];
        let (none, numbers) = ([0_u16], [1_u64]);
        let texts = crate::block::TextValues { rows: &none, bytes: text.as_bytes(), ends: &ends };
        let values: Vec<_> = COLUMNS
            .iter()
            .map(|column| match column.is_number() {
                true => crate::block::Values::Numbers(&numbers),
                false => crate::block::Values::Texts(texts),
            })
            .collect();
        let block = crate::block::encode(&values, 1, &mut Encoder::new().unwrap());
        assert_eq!(Decoded::read(&block).unwrap_err().0, "a block has too many texts");
    }
}
