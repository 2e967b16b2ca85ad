//! Rules of virtual services: conditions on requests, and what is done with those that meet them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Mirror, Script};

/// One rule; all of its conditions must hold.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Conditions; none: always.
    #[serde(rename = "if", default)]
    pub conditions: Conditions,
    /// What is done.
    pub then: Then,
}

/// Name and value of a header, a query parameter or a cookie.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Name of the header, query parameter or cookie.
    pub name: String,
    /// Value, compared as a whole.
    pub value: String,
}

/// Conditions on what the client requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conditions {
    /// Host without port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// End of the host, such as `.example.com`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_suffix: Option<String>,
    /// Whole path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Start of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_prefix: Option<String>,
    /// Method, compared with case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Name and value of a header; of several with the name, the first one counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Pair>,
    /// Query parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<Pair>,
    /// Name and value of a cookie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookie: Option<Pair>,
}

/// What a rule does. The first rule that chooses a pool, redirects, denies or responds decides, also by its script,
/// the first that names a policy of authentication or a mirror decides about that; edits of all matching rules apply.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Then {
    /// Forward to this pool or pool group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Respond with the address of another place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<Redirect>,
    /// Respond with this status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny: Option<u16>,
    /// Respond with a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub respond: Option<Respond>,
    /// Run a script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
    /// Replace the start of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewrite: Option<Rewrite>,
    /// Name of the policy that the client must satisfy, or `none`; default: that of the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<String>,
    /// Copies of requests for another pool; default: as the service says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror: Option<Mirror>,
    /// Responses are not compressed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_compression: bool,
    /// Responses are neither stored nor taken from the cache.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_cache: bool,
    /// Headers of the request.
    pub set_header: BTreeMap<String, String>,
    /// Headers of the request.
    pub del_header: Vec<String>,
    /// Headers of the response.
    pub set_response_header: BTreeMap<String, String>,
    /// Headers of the response.
    pub del_response_header: Vec<String>,
}

/// A response that sends the client to another address.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Redirect {
    /// 301, 302, 303, 307 or 308.
    pub status: u16,
    /// With `{host}`, `{path}`, `{uri}`.
    pub location: String,
}

/// A local response.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Respond {
    /// Between 200 and 599.
    pub status: u16,
    /// Value of `Content-Type`; without it, the header is left out.
    #[serde(rename = "type", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Text.
    #[serde(default)]
    pub body: String,
}

/// Replacement of the start of a path.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rewrite {
    /// Start of the path.
    pub prefix: String,
    /// What replaces it.
    pub with: String,
}
