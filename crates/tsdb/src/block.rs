//! Blocks of a segment: runs of many series whose numbers are alike, column by column.
//!
//! Per run the block's directory holds item, kind, form, count, first clock, nanoseconds and value,
//! and the mean step (slope); the columns hold what is left: second differences of clocks,
//! nanoseconds relative to the first, steps relative to the slope. Decimal floats become whole
//! numbers where that gives back the very same bits. Runs whose steps need as many bits share a
//! block, so that one entropy table serves thousands of numbers even if each run is short.

use crate::column::{Cursor, len_u32, pack, pack_any, put_section, put_u32, unpack, unpack_first};
use crate::error::Damaged;
use crate::kind::{Kind, at};
use crate::rows::{Raw, Run};

/// A block is closed at so many rows. Half as many cost 2 % more bytes, twice as many double
/// the time of reading one item.
pub(crate) const ROWS_MAX: usize = 8192;
/// A block is closed at so many bytes of texts. Four times as many save 2 % of them, and who reads
/// one item decompresses all.
pub(crate) const BYTES_MAX: usize = 64 << 10;

const ZSTD_LEVEL: i32 = 3;
/// More decimals are not tried.
const DECIMALS_MAX: u8 = 9;
/// Exact in a float: whole numbers below this.
const WHOLE_MAX: f64 = 9.0e15;

/// Forms: 0..=9 are floats with so many decimals.
pub(crate) const FORM_WHOLE: u8 = 16;
pub(crate) const FORM_FLOAT: u8 = 17;
pub(crate) const FORM_BYTES: u8 = 18;

/// Units of the nanosecond column; a block has one.
pub(crate) const UNITS: [u32; 4] = [1_000_000_000, 1_000_000, 1_000, 1];

const POW10: [f64; 10] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// Which runs share a block: form group, bits of the steps (in pairs), unit of nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Likeness {
    group: u8,
    width: u8,
    unit: u8,
}

/// How one run is to be stored. `whole` is filled for numbers that are stored as such.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) likeness: Likeness,
    form: u8,
    slope: i64,
}

/// A float as a whole number of `10^-decimals`, if that gives the same bits back.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "checked")]
fn decimal(value: f64, decimals: u8) -> Option<i64> {
    let scale = POW10[usize::from(decimals)];
    let whole = (value * scale).round();
    if whole.abs() >= WHOLE_MAX {
        return None;
    }
    let whole = whole as i64;
    ((whole as f64 / scale).to_bits() == value.to_bits()).then_some(whole)
}

/// Finds the fewest decimals that all floats have.
pub(crate) fn decimals(bits: &[u64], whole: &mut Vec<i64>) -> Option<u8> {
    let mut digits = 0;
    'again: while digits <= DECIMALS_MAX {
        whole.clear();
        for &bits in bits {
            let Some(number) = decimal(f64::from_bits(bits), digits) else {
                digits += 1;
                continue 'again;
            };
            whole.push(number);
        }
        return Some(digits);
    }
    None
}

/// The float that is a whole number of `10^-form`; `None` = no such form.
#[expect(clippy::cast_precision_loss, reason = "was checked bit for bit")]
pub(crate) fn float_of(whole: i64, form: u8) -> Option<f64> {
    POW10.get(usize::from(form)).map(|scale| whole as f64 / scale)
}

/// The mean step, and the number of bits that the steps need beside it.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a guess")]
fn slope_and_width(whole: &[i64]) -> (i64, u8) {
    let [first, .., last] = whole else { return (0, u8::MAX) };
    let slope = (last.wrapping_sub(*first) as f64 / (whole.len() - 1) as f64).round() as i64;
    let mut bits = 0;
    for pair in whole.windows(2) {
        let left = pair[1].wrapping_sub(pair[0]).wrapping_sub(slope);
        bits |= left << 1 ^ left >> 63;
    }
    let width = (64 - bits.leading_zeros()).div_ceil(2);
    (slope, width.to_le_bytes()[0])
}

/// The largest unit that fits all these nanoseconds.
pub(crate) fn unit_of(all_ns: &[u32]) -> u8 {
    let mut unit = 0;
    for &ns in all_ns {
        while ns % UNITS[usize::from(unit)] != 0 {
            unit += 1;
        }
    }
    unit
}

/// Decides how a run is stored.
pub(crate) fn shape(kind: Kind, run: &Run, whole: &mut Vec<i64>) -> Shape {
    let unit = unit_of(&run.ns);
    let form = if kind.is_bytes() {
        FORM_BYTES
    } else if kind.is_float() {
        decimals(&run.bits, whole).unwrap_or(FORM_FLOAT)
    } else {
        whole.clear();
        whole.extend(run.bits.iter().map(|bits| bits.cast_signed()));
        FORM_WHOLE
    };
    let (group, (slope, width)) = match form {
        FORM_BYTES => (2, (0, 0)),
        FORM_FLOAT => (1, (0, 0)),
        _ => (0, slope_and_width(whole)),
    };
    Shape { likeness: Likeness { group, width, unit }, form, slope }
}

/// A block being filled.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    item: Vec<u64>,
    kind: Vec<u16>,
    form: Vec<u16>,
    count: Vec<u32>,
    first_clock: Vec<u32>,
    first_ns: Vec<u32>,
    first_value: Vec<u64>,
    slope: Vec<i64>,
    clocks: Vec<i32>,
    ns: Vec<i32>,
    steps: Vec<i64>,
    floats: Vec<f64>,
    lens: Vec<u32>,
    bytes: Vec<u8>,
    rows: usize,
    last_item: u64,
}

impl Builder {
    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub(crate) fn is_full(&self) -> bool {
        self.rows >= ROWS_MAX || self.bytes.len() >= BYTES_MAX
    }

    /// Adds a run of at least one row. `whole` is what [`shape`] filled.
    pub(crate) fn add(&mut self, item: u64, kind: Kind, run: &Run, shape: &Shape, whole: &[i64]) {
        let unit = UNITS[usize::from(shape.likeness.unit)];
        debug_assert!(
            self.item.is_empty() || self.last_item <= item,
            "BUG: runs of a block are not sorted by item"
        );
        let (first_clock, first_ns) = (run.clock[0], run.ns[0] / unit);
        self.item.push(item.wrapping_sub(self.last_item));
        self.last_item = item;
        self.kind.push(kind.number().into());
        self.form.push(shape.form.into());
        self.count.push(len_u32(run.len()));
        self.first_clock.push(first_clock);
        self.first_ns.push(first_ns);
        self.slope.push(shape.slope);
        let mut step = 0;
        for pair in run.clock.windows(2) {
            let next = pair[1].wrapping_sub(pair[0]).cast_signed();
            self.clocks.push(next.wrapping_sub(step));
            step = next;
        }
        let left = run.ns[1..].iter().map(|ns| (ns / unit).wrapping_sub(first_ns).cast_signed());
        self.ns.extend(left);
        match shape.form {
            FORM_BYTES => {
                self.first_value.push(0);
                let lens = run.bits.iter().map(|&len| u32::try_from(len).expect("BUG: a text"));
                self.lens.extend(lens);
                self.bytes.extend_from_slice(&run.bytes);
            }
            FORM_FLOAT => {
                self.first_value.push(0);
                self.floats.extend(run.bits.iter().map(|&bits| f64::from_bits(bits)));
            }
            _ => {
                self.first_value.push(whole[0].cast_unsigned());
                let slope = shape.slope;
                let steps = whole.windows(2).map(|p| p[1].wrapping_sub(p[0]).wrapping_sub(slope));
                self.steps.extend(steps);
            }
        }
        self.rows += run.len();
    }

    /// The block's bytes; the builder is empty then.
    pub(crate) fn finish(&mut self, likeness: Likeness, out: &mut Vec<u8>) {
        out.clear();
        put_u32(out, len_u32(self.item.len()));
        put_u32(out, len_u32(self.rows));
        out.extend_from_slice(&[likeness.group, likeness.unit]);
        pack(out, &self.item);
        pack(out, &self.kind);
        pack(out, &self.form);
        pack(out, &self.count);
        pack(out, &self.first_clock);
        pack(out, &self.first_ns);
        pack(out, &self.first_value);
        pack(out, &self.slope);
        pack(out, &self.clocks);
        pack(out, &self.ns);
        match likeness.group {
            0 => pack(out, &self.steps),
            1 => pack_any(out, &self.floats),
            _ => {
                pack(out, &self.lens);
                put_u32(out, len_u32(self.bytes.len()));
                let packed = zstd::bulk::compress(&self.bytes, ZSTD_LEVEL)
                    .expect("BUG: compression in memory needs no luck");
                put_section(out, &packed);
            }
        }
        *self = Self::default();
    }
}

/// The values of a block.
#[derive(Debug)]
enum Values {
    Steps(Vec<i64>),
    Floats(Vec<f64>),
    /// Where each row's bytes start, and the end of the last.
    Bytes(Vec<usize>, Vec<u8>),
}

/// A block in memory.
#[derive(Debug)]
pub(crate) struct Block {
    item: Vec<u64>,
    kind: Vec<u16>,
    form: Vec<u16>,
    /// Row at which each run starts, and the end of the last.
    start: Vec<usize>,
    first_clock: Vec<u32>,
    first_ns: Vec<u32>,
    first_value: Vec<u64>,
    slope: Vec<i64>,
    clocks: Vec<i32>,
    ns: Vec<i32>,
    unit: u32,
    values: Values,
}

impl Block {
    /// Reads a block and checks that all columns fit each other.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Damaged> {
        Self::decode_till(bytes, None)
    }

    /// Reads a block only as far as the run of this series; others must not be read of it then.
    pub(crate) fn decode_run(bytes: &[u8], item: u64, kind: Kind) -> Result<Self, Damaged> {
        Self::decode_till(bytes, Some((item, kind)))
    }

    fn decode_till(bytes: &[u8], upto: Option<(u64, Kind)>) -> Result<Self, Damaged> {
        let cursor = &mut Cursor::new(bytes);
        let (runs, rows) = (cursor.u32()? as usize, cursor.u32()? as usize);
        let (group, unit) = (cursor.u8()?, cursor.u8()?);
        let unit = *UNITS.get(usize::from(unit)).ok_or(Damaged("an unknown unit"))?;
        let steps = rows.checked_sub(runs).ok_or(Damaged("more runs than rows"))?;
        let mut item: Vec<u64> = unpack(cursor, runs)?;
        let mut last = 0u64;
        for item in &mut item {
            last = last.wrapping_add(*item);
            *item = last;
        }
        let kind: Vec<u16> = unpack(cursor, runs)?;
        let form = unpack(cursor, runs)?;
        let start = sums(&unpack::<u32>(cursor, runs)?);
        if start.last() != Some(&rows) || start.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Damaged("runs do not fill their block"));
        }
        let (wanted_rows, wanted_steps) = match upto {
            None => (rows, steps),
            Some((of, its_kind)) => match find(&item, &kind, of, its_kind) {
                // Each run up to here has one step less than rows.
                Some(run) => (start[run + 1], start[run + 1] - run - 1),
                None => (0, 0),
            },
        };
        Ok(Self {
            item,
            kind,
            form,
            start,
            first_clock: unpack(cursor, runs)?,
            first_ns: unpack(cursor, runs)?,
            first_value: unpack(cursor, runs)?,
            slope: unpack(cursor, runs)?,
            clocks: unpack_first(cursor, steps, wanted_steps)?,
            ns: unpack_first(cursor, steps, wanted_steps)?,
            unit,
            values: decode_values(cursor, group, (rows, wanted_rows), (steps, wanted_steps))?,
        })
    }

    /// Number of runs.
    pub(crate) fn runs(&self) -> usize {
        self.item.len()
    }

    /// Item and number of the kind of each run.
    pub(crate) fn series(&self) -> impl Iterator<Item = (u64, u16)> {
        self.item.iter().copied().zip(self.kind.iter().copied())
    }

    /// The same with the first second of each run.
    pub(crate) fn starts(&self) -> impl Iterator<Item = (u64, u16, u32)> {
        self.series().zip(&self.first_clock).map(|((item, kind), clock)| (item, kind, *clock))
    }

    /// The place of a series' run.
    pub(crate) fn find(&self, item: u64, kind: Kind) -> Option<usize> {
        find(&self.item, &self.kind, item, kind)
    }

    /// Appends the rows of a run.
    pub(crate) fn read(&self, run: usize, kind: Kind, out: &mut Run) -> Result<(), Damaged> {
        let (start, end) = (self.start[run], self.start[run + 1]);
        let form = self.form[run];
        let decimals = POW10.get(usize::from(form));
        let mut clock = self.first_clock[run];
        let mut step = 0i32;
        let mut value = self.first_value[run].cast_signed();
        for row in start..end {
            let mut ns = self.first_ns[run];
            if row > start {
                // Each run before this one has one step less than rows.
                let at = row - run - 1;
                step = step.wrapping_add(self.clocks[at]);
                clock = clock.wrapping_add_signed(step);
                ns = ns.wrapping_add_signed(self.ns[at]);
                if let Values::Steps(steps) = &self.values {
                    value = value.wrapping_add(steps[at]).wrapping_add(self.slope[run]);
                }
            }
            let raw = match &self.values {
                Values::Bytes(starts, bytes) if kind.is_bytes() => {
                    Raw::Bytes(&bytes[starts[row]..starts[row + 1]])
                }
                Values::Floats(floats) if kind.is_float() => Raw::Bits(floats[row].to_bits()),
                Values::Steps(_) if kind.is_float() => {
                    let scale = decimals.ok_or(Damaged("an unknown form"))?;
                    #[expect(clippy::cast_precision_loss, reason = "was checked bit for bit")]
                    Raw::Bits((value as f64 / scale).to_bits())
                }
                Values::Steps(_) if !kind.is_bytes() => Raw::Bits(value.cast_unsigned()),
                _ => return Err(Damaged("a run's form does not fit its kind")),
            };
            out.push(at(clock, ns.wrapping_mul(self.unit)), raw);
        }
        Ok(())
    }
}

/// The place of a series' run: runs are sorted by item, then kind.
fn find(items: &[u64], kinds: &[u16], item: u64, kind: Kind) -> Option<usize> {
    let first = items.partition_point(|&other| other < item);
    (first..items.len())
        .take_while(|&run| items[run] == item)
        .find(|&run| kinds[run] == u16::from(kind.number()))
}

fn sums(counts: &[u32]) -> Vec<usize> {
    let mut end = 0usize;
    let ends = counts.iter().map(|&count| {
        end = end.saturating_add(count as usize);
        end
    });
    std::iter::once(0).chain(ends).collect()
}

fn decode_values(
    cursor: &mut Cursor<'_>,
    group: u8,
    (rows, wanted_rows): (usize, usize),
    (steps, wanted_steps): (usize, usize),
) -> Result<Values, Damaged> {
    match group {
        0 => unpack_first(cursor, steps, wanted_steps).map(Values::Steps),
        1 => unpack_first(cursor, rows, wanted_rows).map(Values::Floats),
        2 => {
            let starts = sums(&unpack::<u32>(cursor, rows)?);
            let len = cursor.u32()? as usize;
            let bytes = zstd::bulk::decompress(cursor.section()?, len)
                .map_err(|_| Damaged("texts do not decompress"))?;
            if starts.last() != Some(&bytes.len()) {
                return Err(Damaged("texts do not fit their lengths"));
            }
            Ok(Values::Bytes(starts, bytes))
        }
        _ => Err(Damaged("an unknown group of values")),
    }
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
