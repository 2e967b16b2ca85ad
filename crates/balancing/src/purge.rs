//! Stored responses that are removed at a user's request.

use serde::{Deserialize, Serialize};

/// An order to remove stored responses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Name of the virtual service; `None`: all that have a cache.
    pub service: Option<String>,
    pub purge: Purge,
}

/// Responses of a virtual service that are removed from its cache, also those that are arriving. A resource is a host in
/// lower case, a zero byte, and the target of requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purge {
    /// Those of one URI, such as `www.example.com/a?b=1`, with all variants.
    Uri(String),
    /// Those of all URIs that begin so.
    Prefix(String),
    /// Every stored response.
    All,
}

impl Purge {
    /// Bytes of a URI.
    const LENGTH_MAX: usize = 16 << 10;

    /// Checks the URI.
    ///
    /// # Errors
    /// It is too long, or has no host or no path.
    pub fn check(&self) -> Result<(), String> {
        let (Self::Uri(uri) | Self::Prefix(uri)) = self else { return Ok(()) };
        if uri.len() > Self::LENGTH_MAX {
            return Err(format!("a URI to purge has at most {} bytes", Self::LENGTH_MAX));
        }
        match split(uri) {
            Some((host, _)) if !host.is_empty() => Ok(()),
            _ => Err(format!(
                "'{uri}' is no URI to purge: it needs a host and a path, such as www.example.com/path"
            )),
        }
    }

    /// The one resource that it names.
    #[must_use]
    pub fn resource(&self) -> Option<Vec<u8>> {
        match self {
            Self::Uri(uri) => Some(resource(uri)),
            Self::Prefix(_) | Self::All => None,
        }
    }

    /// Whether responses of a resource are removed.
    #[must_use]
    pub fn names(&self, other: &[u8]) -> bool {
        match self {
            Self::Uri(uri) => *other == *resource(uri),
            Self::Prefix(uri) => other.starts_with(&resource(uri)),
            Self::All => true,
        }
    }
}

/// Host and target of a URI, which may have a scheme; `None`: there is no target.
fn split(uri: &str) -> Option<(&str, &str)> {
    let uri =
        ["http://", "https://"].iter().find_map(|scheme| uri.strip_prefix(scheme)).unwrap_or(uri);
    uri.find('/').map(|at| uri.split_at(at))
}

/// The resource of a URI.
fn resource(uri: &str) -> Vec<u8> {
    let (host, target) = split(uri).unwrap_or((uri, ""));
    [host.to_ascii_lowercase().as_bytes(), b"\0", target.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(purge: &Purge, host: &str, target: &str) -> bool {
        purge.names(&[host.as_bytes(), b"\0", target.as_bytes()].concat())
    }

    #[test]
    fn a_uri_names_one_resource() {
        for uri in ["A.test/x?y=1", "http://a.test/x?y=1", "https://a.TEST/x?y=1"] {
            let purge = Purge::Uri(uri.to_owned());
            assert_eq!(purge.check(), Ok(()));
            assert!(names(&purge, "a.test", "/x?y=1"), "{uri}");
            for (host, target) in [("a.test", "/x"), ("a.test", "/X?y=1"), ("b.test", "/x?y=1")] {
                assert!(!names(&purge, host, target), "{uri}: {host}{target}");
            }
        }
    }

    #[test]
    fn a_prefix_never_reaches_another_host() {
        let purge = Purge::Prefix("a.test/".to_owned());
        assert!(names(&purge, "a.test", "/") && names(&purge, "a.test", "/x/y"));
        assert!(!names(&purge, "a.test:8080", "/") && !names(&purge, "a.tester", "/"));
        let below = Purge::Prefix("a.test/x/".to_owned());
        assert!(names(&below, "a.test", "/x/y") && !names(&below, "a.test", "/xy"));
        assert!(names(&Purge::All, "b.test", "/"));
    }

    #[test]
    fn a_uri_needs_a_host_and_a_path() {
        for uri in ["", "a.test", "/x", "https://a.test", "http:///x"] {
            for purge in [Purge::Uri(uri.to_owned()), Purge::Prefix(uri.to_owned())] {
                let problem = purge.check().expect_err(uri);
                assert!(problem.contains("needs a host and a path"), "{problem}");
            }
        }
        let long = format!("a.test/{}", "x".repeat(Purge::LENGTH_MAX));
        assert!(Purge::Uri(long).check().is_err_and(|problem| problem.contains("at most")));
        assert_eq!(Purge::All.check(), Ok(()));
    }
}
