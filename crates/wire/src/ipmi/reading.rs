//! Readings: bytes of a sensor, and the numbers that they mean (sections 35.14 and 36.3).

use super::IpmiError;
use super::sdr::Sensor;

/// Limits in the order of the protocol: its bits, and the bytes of its answer.
pub const LIMITS: [Limit; 6] = [
    Limit { upper: false, name: "non_crit" },
    Limit { upper: false, name: "crit" },
    Limit { upper: false, name: "non_recover" },
    Limit { upper: true, name: "non_crit" },
    Limit { upper: true, name: "crit" },
    Limit { upper: true, name: "non_recover" },
];

/// A limit of a sensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Above it, else below it, something is wrong.
    pub upper: bool,
    /// How serious that is, in the words of the field's servers.
    pub name: &'static str,
}

/// What a raw byte is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// 0 to 255.
    Unsigned,
    /// A negative number has all bits turned.
    OnesComplement,
    /// As processors have it.
    TwosComplement,
}

impl Format {
    /// By the first byte of a record's units; `None` = the byte is not a number.
    pub const fn from_units(byte: u8) -> Option<Self> {
        match byte >> 6 {
            0 => Some(Self::Unsigned),
            1 => Some(Self::OnesComplement),
            2 => Some(Self::TwosComplement),
            _ => None,
        }
    }

    fn number(self, raw: u8) -> f64 {
        match self {
            Self::Unsigned => f64::from(raw),
            Self::TwosComplement => f64::from(raw.cast_signed()),
            Self::OnesComplement if raw & 0x80 != 0 => -f64::from(!raw),
            Self::OnesComplement => f64::from(raw),
        }
    }
}

/// What is made of the number that the factors give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linearization {
    /// One of the functions of table 43-1; 0 = none.
    Function(u8),
    /// Each reading has factors of its own, which the device is asked for.
    ByReading,
}

impl Linearization {
    /// By the record's number; `None` = unknown.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number & 0x7F {
            function @ 0..=11 => Some(Self::Function(function)),
            0x70..=0x7F => Some(Self::ByReading),
            _ => None,
        }
    }

    fn apply(self, x: f64) -> f64 {
        let Self::Function(function) = self else { return x };
        match function {
            1 => x.ln(),
            2 => x.log10(),
            3 => x.log2(),
            4 => x.exp(),
            5 => 10_f64.powf(x),
            6 => x.exp2(),
            7 => x.recip(),
            8 => x * x,
            9 => x * x * x,
            10 => x.sqrt(),
            11 => x.powi(-3),
            _ => x,
        }
    }
}

/// `(m * raw + b * 10^b_exponent) * 10^r_exponent`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factors {
    /// Ten bits with a sign.
    pub m: i16,
    /// Ten bits with a sign.
    pub b: i16,
    /// Four bits with a sign.
    pub b_exponent: i8,
    /// Four bits with a sign.
    pub r_exponent: i8,
}

impl Factors {
    /// Of six bytes: m, its high bits, b, its high bits, accuracy, exponents.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        // The sign moves into its place of the larger number and back.
        let ten = |low: u8, high: u8| (i16::from_be_bytes([high, low]) & 0x3FF) << 6 >> 6;
        let four = |bits: u8| (bits << 4).cast_signed() >> 4;
        Self {
            m: ten(byte(0), byte(1) >> 6),
            b: ten(byte(2), byte(3) >> 6),
            b_exponent: four(byte(5)),
            r_exponent: four(byte(5) >> 4),
        }
    }

    /// Of the answer to [`super::commands::GET_READING_FACTORS`].
    pub fn of_answer(data: &[u8]) -> Result<Self, IpmiError> {
        let factors = data.get(1..7).ok_or(IpmiError::Truncated)?;
        Ok(Self::parse(factors))
    }

    /// The number that a raw byte means; `None` = none (a logarithm of nothing, a division by it).
    pub fn value(&self, format: Format, by: Linearization, raw: u8) -> Option<f64> {
        let b = f64::from(self.b) * 10_f64.powi(self.b_exponent.into());
        let sum = f64::from(self.m) * format.number(raw) + b;
        // Dividing gives the nearest number where multiplying by a fraction does not.
        let x = match i32::from(self.r_exponent) {
            down @ ..0 => sum / 10_f64.powi(-down),
            up => sum * 10_f64.powi(up),
        };
        let value = by.apply(x);
        value.is_finite().then_some(value)
    }
}

/// The answer to [`super::commands::GET_READING`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The raw value of a sensor with thresholds.
    pub raw: u8,
    /// One bit for each state.
    pub states: u16,
    /// The sensor is watched and has a reading.
    pub available: bool,
}

impl Reading {
    /// Reads it.
    pub fn parse(data: &[u8]) -> Result<Self, IpmiError> {
        let [raw, flags, states @ ..] = data else { return Err(IpmiError::Truncated) };
        let byte = |at: usize| states.get(at).copied().unwrap_or(0);
        Ok(Self {
            raw: *raw,
            // The highest bit is not one of them.
            states: u16::from_le_bytes([byte(0), byte(1)]) & 0x7FFF,
            available: flags & 0x40 != 0 && flags & 0x20 == 0,
        })
    }
}

/// Raw limits of the answer to [`super::commands::GET_THRESHOLDS`]; `None` = not there.
pub fn thresholds(data: &[u8]) -> Result<[Option<u8>; 6], IpmiError> {
    let [readable, values @ ..] = data else { return Err(IpmiError::Truncated) };
    Ok(std::array::from_fn(|limit| {
        values.get(limit).copied().filter(|_| readable & (1 << limit) != 0)
    }))
}

impl Sensor {
    /// The number that a raw byte of this sensor means; `own` = factors of just this reading.
    pub fn value(&self, raw: u8, own: Option<&Factors>) -> Option<f64> {
        let (format, by, factors) = self.factors.as_ref()?;
        own.unwrap_or(factors).value(*format, *by, raw)
    }

    /// Each reading has factors of its own.
    pub const fn needs_factors(&self) -> bool {
        matches!(self.factors, Some((_, Linearization::ByReading, _)))
    }
}
