//! A request without a client that is complete.

use std::net::SocketAddr;
use std::sync::Arc;

use super::Copy;
use crate::cache::Course;
use crate::policy::Applied;
use crate::snapshot::Service;

/// A copy that is complete, and whose request it is.
#[derive(Debug)]
pub(crate) struct Launch {
    pub(crate) copy: Box<Copy>,
    pub(crate) listener: usize,
    pub(crate) service: Arc<Service>,
    /// Addresses of the client and of the service.
    pub(crate) ends: (SocketAddr, SocketAddr),
    /// It validates a stored response.
    pub(crate) refresh: Option<Refresh>,
}

/// What follows from the response to a request that validates a stored one.
#[derive(Debug)]
pub(crate) struct Refresh {
    pub(crate) course: Course,
    pub(crate) applied: Applied,
}
