//! Header fields of requests that only the balancer sets. What a client sends under such a name counts nowhere: not at
//! the server, not in rules and scripts, not in the cache.

use std::borrow::Cow;

use proxying::http1::{Field, Request};

use crate::identity::Identity;
use crate::snapshot::Service;
use crate::variable::same_variable;

/// The name of the client by its certificate.
pub(crate) const CLIENT_CN: &[u8] = b"X-Client-CN";

/// Those that each service may set.
const FORWARDED: [&[u8]; 3] = [b"X-Forwarded-For", b"X-Forwarded-Proto", b"X-Forwarded-Port"];

/// Whether servers get the header of this name, or of the same variable, from the balancer alone.
pub(crate) fn is_own(service: &Service, name: &[u8]) -> bool {
    FORWARDED.iter().any(|own| same_variable(own, name))
        || (service.forwarded.forwarded.is_some() && same_variable(b"Forwarded", name))
        || is_identity(service, name)
}

/// Whether the header tells servers who the client is.
pub(crate) fn is_identity(service: &Service, name: &[u8]) -> bool {
    (service.forwarded.client_cert && same_variable(CLIENT_CN, name))
        || service.policies.as_ref().is_some_and(|policies| policies.owns(name))
}

/// The request with the headers that tell who the client is as servers get them, for rules and scripts. `certified` is
/// the name of the client by its certificate.
pub(crate) fn seen<'r>(
    request: &'r Request<'r>,
    service: &Service,
    identity: &'r Identity,
    certified: Option<&'r str>,
) -> Cow<'r, Request<'r>> {
    if !service.forwarded.client_cert && service.policies.is_none() {
        return Cow::Borrowed(request);
    }
    let mut seen = request.clone();
    seen.fields.retain(|field| !is_identity(service, field.name));
    let own =
        identity.set.iter().map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes()));
    seen.fields.extend(own);
    let certified = certified.filter(|_| service.forwarded.client_cert);
    seen.fields.extend(certified.map(|name| Field::new(CLIENT_CN, name.as_bytes())));
    Cow::Owned(seen)
}
