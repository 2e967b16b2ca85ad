//! What a store is given in parts: values, and trends of hours.

use model::{ItemId, Sample, SampleValue, Timestamp, Trend, TrendValues};

use crate::{Driver, Error};

/// Of a text so many characters are told; the embedded store has all of it.
const TEXT_MAX: usize = 1_000;

/// A value, or the trend of an hour.
pub(crate) trait Row: Clone {
    /// Whose it is.
    fn item(&self) -> ItemId;
    /// Writes some.
    fn write(driver: &mut dyn Driver, rows: &[Self]) -> Result<(), Error>;
    /// Its moment, and for people what it says.
    fn to_text(&self) -> (Timestamp, String);
}

impl Row for Sample {
    fn item(&self) -> ItemId {
        self.item
    }
    fn write(driver: &mut dyn Driver, rows: &[Self]) -> Result<(), Error> {
        driver.write(rows)
    }
    fn to_text(&self) -> (Timestamp, String) {
        let value = match &self.value {
            SampleValue::Float(value) => value.to_string(),
            SampleValue::Unsigned(value) => value.to_string(),
            SampleValue::Text(text) => format!("{:?}", cut(text)),
            SampleValue::Log(log) => format!("{:?}", cut(&log.0)),
        };
        (self.at, value)
    }
}

impl Row for Trend {
    fn item(&self) -> ItemId {
        self.item
    }
    fn write(driver: &mut dyn Driver, rows: &[Self]) -> Result<(), Error> {
        driver.write_trends(rows)
    }
    fn to_text(&self) -> (Timestamp, String) {
        let num = self.num;
        let values = match self.values {
            TrendValues::Float { min, avg, max } => format!("{min} {avg} {max}"),
            TrendValues::Unsigned { min, avg, max } => format!("{min} {avg} {max}"),
        };
        (Timestamp::from_s(self.hour), format!("trend of {num}: {values}"))
    }
}

/// The beginning of a text.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}
