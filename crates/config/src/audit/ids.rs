//! Ids of entries.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::db::{DbError, DbResult};

/// Random bytes that are fetched at once.
const RANDOM: usize = 1_024;

/// Random bytes of one id.
const OF_ONE: usize = 8;

/// New ids of 25 characters that sort by time, as `auditid` has them: `c`, milliseconds, a counter, the
/// process, random characters, all to the base of 36.
pub(super) struct Cuids {
    time: String,
    process: String,
    random: [u8; RANDOM],
    /// Bytes of `random` that are used.
    used: usize,
}

impl Cuids {
    /// Ids of that time, in seconds since 1970.
    pub(super) fn new(at_s: u64) -> Self {
        let (mut time, mut process) = (String::new(), String::new());
        base_36(&mut time, at_s * 1_000, 8);
        base_36(&mut process, u64::from(std::process::id()), 4);
        Self { time, process, random: [0; RANDOM], used: RANDOM }
    }

    pub(super) fn next(&mut self) -> DbResult<String> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let count = u64::from(COUNTER.fetch_add(1, Ordering::Relaxed));
        let number = self.number()?;
        let mut id = String::with_capacity(25);
        id.push('c');
        id.push_str(&self.time);
        base_36(&mut id, count, 4);
        id.push_str(&self.process);
        base_36(&mut id, number, 8);
        Ok(id)
    }

    fn number(&mut self) -> DbResult<u64> {
        if self.used == RANDOM {
            getrandom::fill(&mut self.random)
                .map_err(|error| DbError::statement("(random bytes)", error))?;
            self.used = 0;
        }
        let mut bytes = [0; OF_ONE];
        bytes.copy_from_slice(&self.random[self.used..self.used + OF_ONE]);
        self.used += OF_ONE;
        Ok(u64::from_le_bytes(bytes))
    }
}

/// Appends the last digits of a number.
fn base_36(text: &mut String, number: u64, digits: u32) {
    for digit in (0..digits).rev() {
        let value = number / 36_u64.pow(digit) % 36;
        let value = u32::try_from(value).unwrap_or(0);
        text.push(char::from_digit(value, 36).unwrap_or('0'));
    }
}
