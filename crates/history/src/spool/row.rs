//! What a store is given in parts: values, and trends of hours.

use model::{ItemId, LogMeta, Sample, SampleValue, Timestamp, Trend, TrendValues};

use crate::{Driver, Error};

/// A value, or the trend of an hour.
pub(crate) trait Row: Clone {
    /// Whose it is.
    fn item(&self) -> ItemId;
    /// Writes some.
    fn write(driver: &mut dyn Driver, rows: &[Self]) -> Result<(), Error>;
    /// Its moment, and all that it says, for people.
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
            SampleValue::Text(text) => format!("{text:?}"),
            SampleValue::Log(log) => {
                let (line, meta) = log.as_ref();
                let LogMeta { timestamp, source, severity, eventid } = meta;
                format!("{line:?} {timestamp} {source:?} {severity} {eventid}")
            }
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
