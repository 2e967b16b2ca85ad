//! The cache of a virtual service.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use proxying::caching::Stale;
use sha2::{Digest, Sha256};

use super::budget::Budget;
use super::flights::Flights;
use super::store::Store;
use crate::config::{self, VirtualService};

/// The cache of a virtual service, for all of its addresses and all threads.
#[derive(Debug)]
pub(crate) struct Cache {
    /// Of the service's settings: with other ones, the cache begins empty, because rules and headers decide which
    /// responses servers give.
    settings: [u8; 32],
    pub(super) max_object: usize,
    pub(crate) key_headers: Vec<String>,
    /// Of responses that do not say it.
    pub(super) stale: Stale,
    /// How long requests wait for the response to an equal one, in milliseconds.
    pub(crate) collapse_ms: u64,
    pub(crate) status_header: bool,
    pub(super) store: Store,
    pub(super) flights: Arc<Flights>,
    /// Stale responses that are being validated while clients get them.
    pub(super) refreshes: Arc<AtomicU32>,
}

impl Cache {
    /// The cache of a service, if it has one: the one before, if nothing of the service has changed.
    pub(crate) fn compile(
        service: &VirtualService,
        before: Option<&Arc<Self>>,
    ) -> Result<Option<Arc<Self>>, String> {
        let Some(config) = &service.cache else { return Ok(None) };
        let text = serde_json::to_vec(service).map_err(|error| {
            format!("the settings cannot be compared with those before: {error}")
        })?;
        let settings = Sha256::digest(&text).into();
        let same = before.filter(|before| before.settings == settings);
        Ok(Some(same.map_or_else(|| Arc::new(Self::new(config, settings)), Arc::clone)))
    }

    fn new(config: &config::Cache, settings: [u8; 32]) -> Self {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let seconds = |time: Option<config::Time>| time.map_or(0, |time| time.0.as_secs());
        let objects = usize::try_from(config.max_objects).unwrap_or(usize::MAX);
        let budget = Budget::new(number(config.size.0), number(config.arriving()), objects);
        Self {
            settings,
            max_object: number(config.max_object.0),
            key_headers: config.key_headers.clone(),
            stale: Stale {
                if_error_s: seconds(config.stale_if_error),
                while_revalidate_s: seconds(config.stale_while_revalidate),
            },
            collapse_ms: u64::try_from(config.collapse.0.as_millis()).unwrap_or(u64::MAX),
            status_header: config.status_header,
            store: Store::new(budget),
            flights: Flights::new(),
            refreshes: Arc::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_service_begins_with_an_empty_cache() {
        let service = |more: &str| -> VirtualService {
            let text = format!("{{name: s, type: http, listen: '127.0.0.1:1', pool: p{more}}}");
            serde_saphyr::from_str(&text).expect("a service")
        };
        let compile = |more: &str, before| Cache::compile(&service(more), before).unwrap();
        assert!(compile("", None).is_none());
        let first = compile(", cache: {size: 8M}", None).unwrap();
        let same = compile(", cache: {size: 8M}", Some(&first)).unwrap();
        assert!(Arc::ptr_eq(&first, &same));
        for more in
            [", cache: {size: 9M}", ", cache: {size: 8M}, rules: [{then: {set_header: {A: b}}}]"]
        {
            assert!(!Arc::ptr_eq(&first, &compile(more, Some(&first)).unwrap()), "{more}");
        }
    }
}
