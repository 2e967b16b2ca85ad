//! The newest rows of each series of values, kept once more beside the blocks of a segment: a
//! query for the newest values of a thousand items reads some pages instead of a thousand blocks.
//!
//! Pages are columns like blocks, for series in the order of their items. An item lies in one page.
//! A series with long texts is named without its rows: these have to be read from its block.

use model::Timestamp;

use crate::block::{FORM_BYTES, FORM_FLOAT, FORM_WHOLE, UNITS, decimals, float_of, unit_of};
use crate::column::{Cursor, len_u32, pack, pack_any, put_section, put_u32, unpack};
use crate::error::Damaged;
use crate::kind::{Kind, Kinds, at};
use crate::rows::{Raw, Run};

/// Rows of each series: the newest and the one before, which is what monitoring shows.
pub(crate) const NEWEST: usize = 2;
/// Series in a page, about.
const PAGE_SERIES: usize = 4096;
/// Longer texts are left where they are.
const TEXT_MAX: usize = 128;
/// Form of a series whose rows are not here.
const FORM_ELSEWHERE: u16 = 32;

const ZSTD_LEVEL: i32 = 3;

/// Columns of a page; of those in pairs the first is that of the newest rows.
#[derive(Debug, Default)]
struct Columns {
    item: Vec<u64>,
    kind: Vec<u16>,
    form: Vec<u16>,
    /// Of the row before, 0 = there is none; else how many seconds it is older, and one.
    age: Vec<u32>,
    clock: Vec<u32>,
    ns: Vec<u32>,
    /// The nanoseconds of the row before.
    ns_before: Vec<u32>,
    value: Vec<i64>,
    /// The value of the row before, relative to the newest.
    step: Vec<i64>,
    floats: Vec<f64>,
    lens: Vec<u32>,
    bytes: Vec<u8>,
}

/// Gathers the newest rows of a segment that is being written.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    page: Columns,
    /// First item and bytes.
    pages: Vec<(u64, Vec<u8>)>,
    whole: Vec<i64>,
}

impl Builder {
    /// Takes the settled rows of a series; series come sorted by item and kind.
    pub(crate) fn push(&mut self, item: u64, kind: Kind, run: &Run) {
        if kind.is_trend() {
            return;
        }
        if self.page.item.len() >= PAGE_SERIES && self.page.item.last() != Some(&item) {
            self.close();
        }
        let Some(newest) = run.len().checked_sub(1) else { return };
        let page = &mut self.page;
        debug_assert!(
            page.item.last().is_none_or(|last| *last <= item),
            "BUG: series of a page are not sorted by item"
        );
        page.item.push(item);
        page.kind.push(kind.number().into());
        let first = run.len().saturating_sub(NEWEST);
        let texts = text_lens(run, first);
        let age = (run.clock[newest] - run.clock[first]).checked_add(1);
        let (Some(age), false) = (age, kind.is_bytes() && texts.iter().any(|&len| len > TEXT_MAX))
        else {
            page.form.push(FORM_ELSEWHERE);
            return;
        };
        page.clock.push(run.clock[newest]);
        page.ns.push(run.ns[newest]);
        if first < newest {
            page.age.push(age);
            page.ns_before.push(run.ns[first]);
        } else {
            page.age.push(0);
        }
        let bits = &run.bits[first..];
        let form = if kind.is_bytes() {
            FORM_BYTES
        } else if kind.is_float() {
            decimals(bits, &mut self.whole).unwrap_or(FORM_FLOAT)
        } else {
            self.whole.clear();
            self.whole.extend(bits.iter().map(|bits| bits.cast_signed()));
            FORM_WHOLE
        };
        page.form.push(form.into());
        match form {
            FORM_BYTES => {
                page.lens.extend(texts.iter().map(|&len| len_u32(len)));
                let bytes: usize = texts.iter().sum();
                page.bytes.extend_from_slice(&run.bytes[run.bytes.len() - bytes..]);
            }
            FORM_FLOAT => page.floats.extend(bits.iter().map(|&bits| f64::from_bits(bits))),
            _ => {
                let newest = *self.whole.last().expect("BUG: a series has rows");
                page.value.push(newest);
                let before = self.whole[..self.whole.len() - 1].iter();
                page.step.extend(before.map(|before| before.wrapping_sub(newest)));
            }
        }
    }

    fn close(&mut self) {
        let page = std::mem::take(&mut self.page);
        if let Some(&first) = page.item.first() {
            self.pages.push((first, page.encode(first)));
        }
    }

    /// The pages, each with its first item.
    pub(crate) fn finish(mut self) -> Vec<(u64, Vec<u8>)> {
        self.close();
        self.pages
    }
}

/// Bytes of the texts of the rows from `first` on.
fn text_lens(run: &Run, first: usize) -> Vec<usize> {
    let lens = run.bits[first..].iter();
    lens.map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect()
}

impl Columns {
    fn encode(&self, first: u64) -> Vec<u8> {
        let mut out = Vec::new();
        let mut last = first;
        let steps = self.item.iter().map(|&item| item - std::mem::replace(&mut last, item));
        let steps: Vec<u64> = steps.collect();
        // What is youngest is alike; ages are small.
        let youngest = self.clock.iter().copied().max().unwrap_or(0);
        let clock: Vec<u32> = self.clock.iter().map(|clock| youngest - clock).collect();
        let unit = unit_of(&self.ns).max(unit_of(&self.ns_before));
        let scale = UNITS[usize::from(unit)];
        let ns: Vec<u32> = self.ns.iter().map(|ns| ns / scale).collect();
        // An item's stamps are often alike.
        let pairs = self.age.iter().zip(&ns).filter(|(age, _)| **age > 0).zip(&self.ns_before);
        let ns_step: Vec<i32> = pairs
            .map(|((_, ns), before)| (before / scale).wrapping_sub(*ns).cast_signed())
            .collect();
        let lens = [self.item.len(), self.clock.len(), ns_step.len(), self.value.len()];
        for len in lens.into_iter().chain([self.step.len(), self.floats.len(), self.lens.len()]) {
            put_u32(&mut out, len_u32(len));
        }
        put_u32(&mut out, youngest);
        out.push(unit);
        pack(&mut out, &steps);
        pack(&mut out, &self.kind);
        pack(&mut out, &self.form);
        pack(&mut out, &clock);
        pack(&mut out, &ns);
        pack(&mut out, &self.age);
        pack(&mut out, &ns_step);
        pack(&mut out, &self.value);
        pack(&mut out, &self.step);
        pack_any(&mut out, &self.floats);
        pack(&mut out, &self.lens);
        put_u32(&mut out, len_u32(self.bytes.len()));
        let packed = zstd::bulk::compress(&self.bytes, ZSTD_LEVEL)
            .expect("BUG: compression in memory needs no luck");
        put_section(&mut out, &packed);
        out
    }

    fn decode(bytes: &[u8], first: u64) -> Result<Self, Damaged> {
        let cursor = &mut Cursor::new(bytes);
        let mut len = || cursor.u32().map(|len| len as usize);
        let (series, here, pairs, values) = (len()?, len()?, len()?, len()?);
        let (steps, floats, lens) = (len()?, len()?, len()?);
        let youngest = cursor.u32()?;
        let unit = UNITS.get(usize::from(cursor.u8()?)).ok_or(Damaged("an unknown unit"))?;
        let mut item: Vec<u64> = unpack(cursor, series)?;
        let mut last = first;
        for item in &mut item {
            last = last.wrapping_add(*item);
            *item = last;
        }
        if !item.is_sorted() {
            return Err(Damaged("items are not in order"));
        }
        let (kind, form) = (unpack(cursor, series)?, unpack(cursor, series)?);
        let mut clock: Vec<u32> = unpack(cursor, here)?;
        clock.iter_mut().for_each(|clock| *clock = youngest.wrapping_sub(*clock));
        let mut ns: Vec<u32> = unpack(cursor, here)?;
        let age: Vec<u32> = unpack(cursor, here)?;
        let ns_step: Vec<i32> = unpack(cursor, pairs)?;
        let with_before = age.iter().zip(&ns).filter(|(age, _)| **age > 0).zip(ns_step);
        let ns_before: Vec<u32> = with_before
            .map(|((_, ns), step)| ns.wrapping_add_signed(step).wrapping_mul(*unit))
            .collect();
        ns.iter_mut().for_each(|ns| *ns = ns.wrapping_mul(*unit));
        let (value, step) = (unpack(cursor, values)?, unpack(cursor, steps)?);
        let (floats, lens) = (unpack(cursor, floats)?, unpack(cursor, lens)?);
        let text = cursor.u32()? as usize;
        let bytes = zstd::bulk::decompress(cursor.section()?, text)
            .map_err(|_| Damaged("texts do not decompress"))?;
        Ok(Self { item, kind, form, age, clock, ns, ns_before, value, step, floats, lens, bytes })
    }
}

/// A row; of a text `bits` has where its bytes start (upper half) and how many (lower half).
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    clock: u32,
    ns: u32,
    bits: u64,
}

#[derive(Debug, Clone, Copy)]
struct Series {
    kind: Kind,
    /// Rows here; 0 = they are to be read from the block.
    count: u8,
    /// Newest first.
    rows: [Row; NEWEST],
}

/// The newest rows of a series.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// Oldest first.
    Here(Kind, [Option<(Timestamp, Raw<'a>)>; NEWEST]),
    /// They have to be read from the block.
    Elsewhere(Kind),
}

/// A page in memory.
#[derive(Debug)]
pub(crate) struct Page {
    item: Vec<u64>,
    series: Vec<Series>,
    bytes: Vec<u8>,
}

impl Page {
    /// Reads a page and checks that its columns fit each other.
    pub(crate) fn decode(bytes: &[u8], first: u64) -> Result<Self, Damaged> {
        let columns = Columns::decode(bytes, first)?;
        let series = Unfold { columns: &columns, text_at: 0, at: Places::default() }.all()?;
        Ok(Self { item: columns.item, series, bytes: columns.bytes })
    }

    /// Bytes of memory, about.
    pub(crate) fn memory(&self) -> usize {
        self.item.len() * 8 + self.series.len() * size_of::<Series>() + self.bytes.len()
    }

    /// What there is of an item. `from` is a place not behind the item's; it is moved on.
    pub(crate) fn find(
        &self,
        item: u64,
        kinds: Kinds,
        from: &mut usize,
    ) -> impl Iterator<Item = Found<'_>> {
        let start = self.place_of(item, *from);
        *from = start;
        let of_item = self.item[start..].iter().take_while(move |&&other| other == item).count();
        let series = &self.series[start..start + of_item];
        series.iter().filter(move |series| kinds.has(series.kind)).map(|series| self.found(series))
    }

    /// The first place from `from` on whose item is not before this one. Items lie nearly evenly
    /// in their page: a guess saves the steps of a search, each of which would wait for memory.
    fn place_of(&self, item: u64, from: usize) -> usize {
        let (Some(&first), Some(&last)) = (self.item.first(), self.item.last()) else { return 0 };
        let is_before = |place: usize| self.item.get(place).is_some_and(|&other| other < item);
        let len = self.item.len();
        let share = |n: u64| u128::from(n) * (len as u128 - 1);
        let guess = share(item.clamp(first, last) - first) / u128::from((last - first).max(1));
        let guess = usize::try_from(guess).unwrap_or(0);
        // Between the guess and a place on the other side of the item, at growing distance.
        let (mut low, mut high, mut step) = (guess, guess, 1);
        while low > from && !is_before(low - 1) {
            high = low;
            low = low.saturating_sub(step);
            step *= 2;
        }
        let low = low.max(from);
        step = 1;
        while high < len && is_before(high) {
            high = (high + step).min(len);
            step *= 2;
        }
        let high = high.max(low);
        low + self.item[low..high].partition_point(|&other| other < item)
    }

    fn found(&self, series: &Series) -> Found<'_> {
        if series.count == 0 {
            return Found::Elsewhere(series.kind);
        }
        let row = |place: usize| {
            let row = series.rows[place];
            let raw = if series.kind.is_bytes() {
                let start = usize::try_from(row.bits >> 32).unwrap_or(usize::MAX);
                let len = usize::try_from(row.bits & 0xffff_ffff).unwrap_or(usize::MAX);
                Raw::Bytes(self.bytes.get(start..start + len).unwrap_or_default())
            } else {
                Raw::Bits(row.bits)
            };
            (usize::from(series.count) > place).then(|| (at(row.clock, row.ns), raw))
        };
        Found::Here(series.kind, [row(1), row(0)])
    }
}

/// How far the columns have been read that not all series have.
#[derive(Debug, Default)]
struct Places {
    here: usize,
    pair: usize,
    value: usize,
    step: usize,
    float: usize,
    len: usize,
}

/// Makes series of columns.
struct Unfold<'a> {
    columns: &'a Columns,
    text_at: usize,
    at: Places,
}

/// The next of a column.
fn next<T: Copy>(column: &[T], place: &mut usize) -> Result<T, Damaged> {
    let found = column.get(*place).copied().ok_or(Damaged("newest rows do not fit"))?;
    *place += 1;
    Ok(found)
}

impl Unfold<'_> {
    fn all(mut self) -> Result<Vec<Series>, Damaged> {
        let columns = self.columns;
        let kinds = columns.kind.iter().zip(&columns.form);
        let series: Result<Vec<Series>, Damaged> =
            kinds.map(|(&kind, &form)| self.next(kind, form)).collect();
        let series = series?;
        let left = self.at.here != columns.clock.len() || self.text_at != columns.bytes.len();
        if left { Err(Damaged("newest rows do not fit")) } else { Ok(series) }
    }

    fn next(&mut self, kind: u16, form: u16) -> Result<Series, Damaged> {
        let kind = u8::try_from(kind).ok().and_then(Kind::from_number);
        let kind = kind.ok_or(Damaged("newest rows of an unknown kind"))?;
        let mut rows = [Row::default(); NEWEST];
        if form == FORM_ELSEWHERE {
            return Ok(Series { kind, count: 0, rows });
        }
        let columns = self.columns;
        let place = self.at.here;
        let clock = next(&columns.clock, &mut self.at.here)?;
        let (ns, age) = (columns.ns[place], columns.age[place]);
        let count = if age > 0 { 2 } else { 1 };
        rows[0] = Row { clock, ns, bits: 0 };
        if count > 1 {
            let before = next(&columns.ns_before, &mut self.at.pair)?;
            rows[1] = Row { clock: clock.wrapping_sub(age - 1), ns: before, bits: 0 };
        }
        let form = u8::try_from(form).map_err(|_| Damaged("an unknown form"))?;
        let is_known = match form {
            FORM_BYTES => kind.is_bytes(),
            FORM_WHOLE => !kind.is_bytes() && !kind.is_float(),
            _ => kind.is_float(),
        };
        if !is_known {
            return Err(Damaged("a form does not fit its kind"));
        }
        match form {
            FORM_BYTES | FORM_FLOAT => {
                // The older row comes first.
                for row in rows[..count].iter_mut().rev() {
                    row.bits = match form {
                        FORM_BYTES => self.text()?,
                        _ => next(&columns.floats, &mut self.at.float)?.to_bits(),
                    };
                }
            }
            _ => {
                let newest = next(&columns.value, &mut self.at.value)?;
                rows[0].bits = bits_of(newest, form)?;
                if count > 1 {
                    let step = next(&columns.step, &mut self.at.step)?;
                    rows[1].bits = bits_of(newest.wrapping_add(step), form)?;
                }
            }
        }
        Ok(Series { kind, count: if count > 1 { 2 } else { 1 }, rows })
    }

    fn text(&mut self) -> Result<u64, Damaged> {
        let len = next(&self.columns.lens, &mut self.at.len)? as usize;
        let start = self.text_at;
        self.text_at += len;
        if self.text_at > self.columns.bytes.len() {
            return Err(Damaged("a text is cut"));
        }
        Ok((start as u64) << 32 | len as u64)
    }
}

fn bits_of(whole: i64, form: u8) -> Result<u64, Damaged> {
    if form == FORM_WHOLE {
        return Ok(whole.cast_unsigned());
    }
    float_of(whole, form).map(f64::to_bits).ok_or(Damaged("an unknown form"))
}

#[cfg(test)]
#[path = "newest_tests.rs"]
mod tests;
