//! Which rows of a block meet a filter.

use std::ops::RangeInclusive;

use crate::block::{Block, ReadAt};
use crate::columns::Column;
use crate::condition::{Condition, Verdict};
use crate::error::Damage;
use crate::filter::Filter;

/// Rows of a block that are still in question.
#[derive(Debug)]
pub(crate) enum Rows {
    All(usize),
    /// In ascending order.
    These(Vec<u16>),
}

impl Rows {
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::These(rows) => rows.len(),
        }
    }

    /// Calls `each` with the place of each row.
    pub(crate) fn for_each(&self, mut each: impl FnMut(usize)) {
        match self {
            Self::All(count) => (0..*count).for_each(each),
            Self::These(rows) => rows.iter().for_each(|row| each(usize::from(*row))),
        }
    }

    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        match self {
            Self::All(count) => {
                let kept = (0..*count).filter(|row| keep(*row));
                // A block has at most 16,384 rows.
                let kept = kept.filter_map(|row| u16::try_from(row).ok());
                *self = Self::These(kept.collect());
            }
            Self::These(rows) => rows.retain(|row| keep(usize::from(*row))),
        }
    }

    fn clear(&mut self) {
        *self = Self::These(Vec::new());
    }
}

/// The rows that meet all conditions and began within this time.
pub(crate) fn select<R: ReadAt + ?Sized>(
    block: &Block<'_, R>,
    filter: &Filter,
    began_within: &RangeInclusive<u64>,
) -> Result<Rows, Damage> {
    let mut rows = Rows::All(block.rows());
    let began = Column::named("began").ok_or(Damage("BUG: no column began"))?;
    let range = block.range(began);
    if !began_within.contains(range.start()) || !began_within.contains(range.end()) {
        let times = block.numbers(began)?;
        rows.retain(|row| began_within.contains(&times[row]));
    }
    for condition in &filter.conditions {
        if rows.is_empty() {
            break;
        }
        match condition.column.is_number() {
            true => by_number(block, condition, &mut rows)?,
            false => by_text(block, condition, &mut rows)?,
        }
    }
    Ok(rows)
}

fn by_number<R: ReadAt + ?Sized>(
    block: &Block<'_, R>,
    condition: &Condition,
    rows: &mut Rows,
) -> Result<(), Damage> {
    match condition.verdict(&block.range(condition.column)) {
        Verdict::All => {}
        Verdict::None => rows.clear(),
        Verdict::Some => {
            let numbers = block.numbers(condition.column)?;
            rows.retain(|row| condition.accepts_number(numbers[row]));
        }
    }
    Ok(())
}

fn by_text<R: ReadAt + ?Sized>(
    block: &Block<'_, R>,
    condition: &Condition,
    rows: &mut Rows,
) -> Result<(), Damage> {
    let texts = block.texts(condition.column)?;
    let accepted: Vec<bool> =
        (0..texts.len()).map(|place| condition.accepts_entry(texts.get(place))).collect();
    if accepted.iter().all(|accepted| *accepted) {
        return Ok(());
    }
    if !accepted.contains(&true) {
        rows.clear();
        return Ok(());
    }
    if let Some(places) = block.places(condition.column)? {
        rows.retain(|row| accepted.get(usize::from(places[row])).copied().unwrap_or(false));
    }
    Ok(())
}
