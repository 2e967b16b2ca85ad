//! A cache of responses.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::syntax::is_token;
use super::{Bytes, Time};

/// Responses of servers that are kept in memory for the next requests (RFC 9111).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Bytes that responses take in memory, of all threads together.
    pub size: Bytes,
    /// Largest response that is stored, in bytes of its content.
    #[serde(default = "Cache::max_object")]
    pub max_object: Bytes,
    /// Responses that are stored at once.
    #[serde(default = "Cache::max_objects")]
    pub max_objects: u32,
    /// Request headers whose values have responses of their own, as if each response named them in Vary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key_headers: Vec<String>,
    /// How long a response that is no longer fresh stands in for servers that fail, if it says nothing about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_if_error: Option<Time>,
    /// How long a response that is no longer fresh is sent while it is validated, if it says nothing about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale_while_revalidate: Option<Time>,
    /// How long a request waits for the response to an equal one that is under way.
    #[serde(default = "Cache::collapse", skip_serializing_if = "Cache::is_usual_collapse")]
    pub collapse: Time,
    /// Adds `Cache-Status` (RFC 9211) to responses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub status_header: bool,
}

impl Cache {
    /// Smallest and largest `size`.
    const SIZES: (u64, u64) = (1 << 20, 1 << 40);
    /// Largest `max_objects`.
    const OBJECTS_MOST: u32 = 10_000_000;
    /// Longest `collapse`.
    const COLLAPSE_MOST: Duration = Duration::from_secs(60);
    /// Most `key_headers`.
    const HEADERS_MOST: usize = 16;

    const fn max_object() -> Bytes {
        Bytes(256 << 10)
    }

    const fn max_objects() -> u32 {
        100_000
    }

    const fn collapse() -> Time {
        Time(Duration::from_secs(5))
    }

    /// Engines of older releases do not know the member.
    fn is_usual_collapse(collapse: &Time) -> bool {
        *collapse == Self::collapse()
    }

    /// A cache of this size with the defaults.
    #[must_use]
    pub const fn of(size: Bytes) -> Self {
        Self {
            size,
            max_object: Self::max_object(),
            max_objects: Self::max_objects(),
            key_headers: Vec::new(),
            stale_if_error: None,
            stale_while_revalidate: None,
            collapse: Self::collapse(),
            status_header: false,
        }
    }

    /// Bytes of `size` for responses that are still arriving: slow clients and servers cannot take the rest.
    #[must_use]
    pub const fn arriving(&self) -> u64 {
        self.size.0 / 4
    }

    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), String> {
        if !(Self::SIZES.0..=Self::SIZES.1).contains(&self.size.0) {
            return Err("'cache.size' is between 1M and 1T".to_owned());
        }
        if self.max_object.0 > self.arriving() {
            return Err("'cache.max_object' is at most a quarter of 'cache.size'".to_owned());
        }
        if !(1..=Self::OBJECTS_MOST).contains(&self.max_objects) {
            return Err(format!("'cache.max_objects' is between 1 and {}", Self::OBJECTS_MOST));
        }
        if self.collapse.0 > Self::COLLAPSE_MOST {
            return Err("'cache.collapse' is at most 1m".to_owned());
        }
        if self.key_headers.len() > Self::HEADERS_MOST {
            return Err(format!("'cache.key_headers' has more than {} names", Self::HEADERS_MOST));
        }
        match self.key_headers.iter().find(|name| !is_token(name)) {
            Some(name) => Err(format!("'cache.key_headers': '{name}' is not a header name")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_beyond_the_limits_are_refused() {
        let check = |text: &str| match serde_saphyr::from_str::<Cache>(text) {
            Ok(cache) => cache.check().err().unwrap_or_default(),
            Err(error) => error.to_string(),
        };
        assert_eq!(check("size: 1M"), "");
        assert_eq!(
            check(
                "{size: 64M, max_object: 16M, max_objects: 1, key_headers: [X-A], stale_if_error: 1h}"
            ),
            ""
        );
        let usual: Cache = serde_saphyr::from_str("size: 1M").unwrap();
        assert!(!serde_json::to_string(&usual).unwrap().contains("collapse"));
        assert!(check("{}").contains("size"));
        assert!(check("size: 1023K").contains("between 1M and 1T"));
        assert!(check("{size: 8M, max_object: 2049K}").contains("a quarter"));
        assert!(check("{size: 8M, max_objects: 0}").contains("between 1 and 10000000"));
        assert_eq!(check("{size: 8M, collapse: 1m, stale_while_revalidate: 1m}"), "");
        assert!(check("{size: 8M, collapse: 61s}").contains("at most 1m"));
        assert!(check("{size: 8M, key_headers: ['a b']}").contains("'a b' is not a header name"));
        let many = vec!["a"; 17].join(", ");
        assert!(check(&format!("{{size: 8M, key_headers: [{many}]}}")).contains("more than 16"));
    }
}
