//! Copies of requests for another pool.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Copies of requests for another pool, whose responses are read and dropped.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Mirror {
    /// Name of the pool or pool group that gets the copies.
    pub pool: String,
    /// Percentage of the requests that are copied; 0: none.
    #[serde(default)]
    pub percent: Percent,
    /// Bytes of content up to which a request is copied.
    #[serde(default = "Mirror::max_body")]
    pub max_body: u64,
    /// Copies of the service that are being sent at once, of all threads together; requests beyond it are not copied.
    #[serde(default = "Mirror::concurrent")]
    pub concurrent: u32,
}

impl Mirror {
    /// Largest `max_body`, in bytes.
    pub const BODY_MOST: u64 = 1 << 20;
    /// Largest `concurrent`.
    const CONCURRENT_MOST: u32 = 1024;

    const fn max_body() -> u64 {
        64 << 10
    }

    const fn concurrent() -> u32 {
        64
    }

    /// A mirror with the defaults.
    #[must_use]
    pub fn to(pool: String) -> Self {
        let (max_body, concurrent) = (Self::max_body(), Self::concurrent());
        Self { pool, percent: Percent::default(), max_body, concurrent }
    }

    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), String> {
        if self.max_body > Self::BODY_MOST {
            return Err(format!("'mirror.max_body' is limited to {} bytes", Self::BODY_MOST));
        }
        if !(1..=Self::CONCURRENT_MOST).contains(&self.concurrent) {
            return Err(format!("'mirror.concurrent' is between 1 and {}", Self::CONCURRENT_MOST));
        }
        Ok(())
    }

    /// Checks that copies do not go where the requests go.
    pub(crate) fn check_beside(&self, pool: &str) -> Result<(), String> {
        if self.pool == pool && self.percent.parts() > 0 {
            return Err(format!(
                "'mirror.pool' is '{pool}', which gets the requests themselves; choose a separate pool for copies"
            ));
        }
        Ok(())
    }
}

/// A percentage in steps of 0.01.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percent(u16);

impl Percent {
    /// 100 %.
    pub const WHOLE: Self = Self(10_000);

    /// The percentage in hundredths, up to 10,000.
    #[must_use]
    pub const fn parts(self) -> u16 {
        self.0
    }
}

impl Default for Percent {
    fn default() -> Self {
        Self::WHOLE
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let percent = f64::deserialize(deserializer)?;
        let same = |parts: &u16| (f64::from(*parts) / 100.0).total_cmp(&percent).is_eq();
        let parts = (0..=Self::WHOLE.0).find(same);
        parts.map(Self).ok_or_else(|| {
            de::Error::custom(format!(
                "the percentage is {percent}; write a number from 0 to 100 with at most two decimals"
            ))
        })
    }
}

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(100) {
            serializer.serialize_u16(self.0 / 100)
        } else {
            serializer.serialize_f64(f64::from(self.0) / 100.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_beyond_the_limits_are_refused() {
        let check = |text: &str| match serde_saphyr::from_str::<Mirror>(text) {
            Ok(mirror) => mirror.check().err().unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        assert_eq!(check("pool: p"), "");
        assert_eq!(check("{pool: p, percent: 0, max_body: 0, concurrent: 1}"), "");
        assert_eq!(check("{pool: p, percent: 99.99}"), "");
        assert!(check("{pool: p, percent: 101}").contains("from 0 to 100"));
        assert!(check("{pool: p, percent: -1}").contains("from 0 to 100"));
        assert!(check("{pool: p, percent: .nan}").contains("from 0 to 100"));
        assert!(check("{pool: p, percent: 0.001}").contains("at most two decimals"));
        assert!(check("{pool: p, max_body: 1048577}").contains("limited to 1048576"));
        assert!(check("{pool: p, concurrent: 0}").contains("between 1 and 1024"));
        assert!(check("{pool: p, concurrent: 1025}").contains("between 1 and 1024"));
    }

    #[test]
    fn percentages_are_written_as_they_are_read() {
        for text in ["0", "0.01", "0.1", "12.5", "33.33", "100"] {
            let percent: Percent = serde_json::from_str(text).expect("a percentage");
            assert_eq!(serde_json::to_string(&percent).expect("JSON"), text);
        }
    }
}
