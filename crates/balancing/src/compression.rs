//! Compression of responses.

use serde::{Deserialize, Serialize};

/// A content coding (RFC 9110, 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 7932.
    Br,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// Its name in Accept-Encoding and Content-Encoding.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Br => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// Which responses are compressed, and how.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Compression {
    /// Codings in order of preference: the first one counts among those that the client accepts equally.
    pub algorithms: Vec<Coding>,
    /// Media types, such as `application/json` or `text/*`.
    #[serde(default = "Compression::types")]
    pub types: Vec<String>,
    /// Bytes of a response with Content-Length from which on it is compressed.
    #[serde(default = "Compression::min_length")]
    pub min_length: u64,
    /// 1 (least CPU time) to 9 (fewest bytes).
    #[serde(default = "Compression::level")]
    pub level: u8,
    /// Responses that are compressed at once, of all threads together; more are sent uncompressed.
    #[serde(default = "Compression::streams")]
    pub streams: u32,
}

impl Compression {
    /// Compression with the default settings.
    #[must_use]
    pub fn with(algorithms: Vec<Coding>) -> Self {
        Self {
            algorithms,
            types: Self::types(),
            min_length: Self::min_length(),
            level: Self::level(),
            streams: Self::streams(),
        }
    }

    fn types() -> Vec<String> {
        const TYPES: [&str; 10] = [
            "text/*",
            "application/javascript",
            "application/json",
            "application/ld+json",
            "application/manifest+json",
            "application/problem+json",
            "application/rss+xml",
            "application/xhtml+xml",
            "application/xml",
            "image/svg+xml",
        ];
        TYPES.map(str::to_owned).into()
    }

    const fn min_length() -> u64 {
        512
    }

    const fn level() -> u8 {
        5
    }

    const fn streams() -> u32 {
        256
    }

    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), String> {
        if self.algorithms.is_empty() {
            return Err("'compression.algorithms' is empty; name gzip, br or zstd".to_owned());
        }
        let twice = |(at, coding): (usize, &Coding)| self.algorithms[..at].contains(coding);
        if self.algorithms.iter().enumerate().any(twice) {
            return Err("'compression.algorithms' has an algorithm twice".to_owned());
        }
        if let Some(wrong) = self.types.iter().find(|text| !is_media_range(text)) {
            return Err(format!(
                "'compression.types': '{wrong}' is not a media type; write one such as text/html or \
                 text/*"
            ));
        }
        if !(1..=9).contains(&self.level) {
            return Err("'compression.level' is between 1 and 9".to_owned());
        }
        if self.streams == 0 {
            return Err("'compression.streams' is at least 1".to_owned());
        }
        Ok(())
    }
}

/// A media type without parameters, or all of one top-level type (RFC 9110, 12.5.1).
fn is_media_range(text: &str) -> bool {
    let part = |part: &str| super::syntax::is_token(part) && !part.contains('*');
    text.split_once('/').is_some_and(|(kind, of)| part(kind) && (of == "*" || part(of)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_mean_nothing_are_refused() {
        let check = |change: fn(&mut Compression)| {
            let mut compression = Compression::with(vec![Coding::Br, Coding::Gzip]);
            change(&mut compression);
            compression.check().err().unwrap_or_default()
        };
        assert_eq!(check(|_| {}), "");
        assert!(check(|c| c.algorithms.clear()).contains("name gzip, br or zstd"));
        assert!(check(|c| c.algorithms.push(Coding::Br)).contains("twice"));
        assert!(check(|c| c.types.push("html".into())).contains("'html' is not a media type"));
        assert!(check(|c| c.types.push("*/json".into())).contains("not a media type"));
        assert!(check(|c| c.level = 10).contains("between 1 and 9"));
        assert!(check(|c| c.streams = 0).contains("at least 1"));
    }
}
