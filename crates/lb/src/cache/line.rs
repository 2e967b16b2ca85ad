//! The caches of a virtual service, one after another, and changes of resources that outlive one of them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};

use proxying::http1::Request;
use stdx::sync::lock;

use super::course::Course;
use super::key::resource;
use super::settings::Cache;
use crate::config::Purge;

/// The caches of a virtual service: each change of its settings begins a new one.
#[derive(Debug, Default)]
pub(crate) struct Line {
    newest: Mutex<Weak<Cache>>,
    /// Stored responses that users have removed.
    purged: AtomicU64,
}

/// A request that changes a resource. Its response may arrive when the service has another cache, or its first one.
#[derive(Debug)]
pub(crate) struct Change {
    /// At the time of the request.
    own: Option<Arc<Cache>>,
    line: Arc<Line>,
    resource: Box<[u8]>,
}

impl Line {
    /// Names the cache that requests use from now on.
    pub(crate) fn turn_to(&self, cache: Option<&Arc<Cache>>) {
        *lock(&self.newest) = cache.map(Arc::downgrade).unwrap_or_default();
    }

    /// Removes responses of the newest cache; returns how many. `None`: there is no cache.
    pub(crate) fn purge(&self, purge: &Purge) -> Option<u64> {
        let newest = lock(&self.newest).upgrade()?;
        let purged = newest.store.purge(purge);
        self.purged.fetch_add(purged, Relaxed);
        Some(purged)
    }

    /// How many responses [`purge`](Self::purge) has removed.
    pub(crate) fn purged(&self) -> u64 {
        self.purged.load(Relaxed)
    }

    /// What a request with an unsafe method means.
    pub(crate) fn change(
        self: &Arc<Self>,
        own: Option<&Arc<Cache>>,
        request: &Request<'_>,
        port: u16,
    ) -> Course {
        let resource = resource(request, port);
        Course::Change(Change { own: own.cloned(), line: Arc::clone(self), resource })
    }
}

impl Change {
    /// The server has changed the resource: what is stored of it is removed.
    pub(super) fn invalidate(&self) {
        let newest = lock(&self.line.newest).upgrade();
        for cache in [&self.own, &newest].into_iter().flatten() {
            cache.store.invalidate(&self.resource);
        }
    }
}
