//! A stored response.

use std::sync::Arc;

use proxying::caching::{Terms, Validators, combined};
use proxying::http1::Field;

use super::budget::Share;
use super::fields::Fields;

/// When a response arrived, and how old it was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    /// In seconds.
    pub(super) age_s: u64,
    /// In monotonic microseconds.
    pub(super) at_us: u64,
}

/// The requests that may get a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variant {
    /// [`Key::selector`](super::key::Key).
    pub(super) selector: Box<[u8]>,
    /// Names in Vary with the values of the request; `None`: the field is missing.
    pub(super) vary: Box<[(String, Option<Vec<u8>>)]>,
}

impl Variant {
    /// That of a response to a request with these fields.
    pub(super) fn of(selector: &[u8], names: Vec<String>, request: &[Field<'_>]) -> Self {
        let vary = names.into_iter().map(|name| {
            let value = combined(request, &name);
            (name, value)
        });
        Self { selector: selector.into(), vary: vary.collect() }
    }

    fn cost(&self) -> usize {
        let vary = self
            .vary
            .iter()
            .map(|pair| pair.0.len() + pair.1.as_ref().map_or(0, Vec::len) + size_of_val(pair));
        self.selector.len() + vary.sum::<usize>()
    }
}

/// Head of a response on its way into the store.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) reason: Box<[u8]>,
    pub(super) fields: Fields,
    pub(super) terms: Terms,
    pub(super) variant: Variant,
    pub(super) origin: Origin,
}

impl Head {
    /// Bytes of memory: of its texts, and of the structures around them and in the store.
    pub(super) fn cost(&self) -> usize {
        const STRUCTURES: usize = 512;
        STRUCTURES + self.reason.len() + self.fields.cost() + self.variant.cost()
    }

    /// Whether it is for requests with these fields.
    pub(super) fn is_for(&self, selector: &[u8], request: &[Field<'_>]) -> bool {
        let same = |(name, value): &(String, Option<Vec<u8>>)| combined(request, name) == *value;
        *self.variant.selector == *selector && self.variant.vary.iter().all(same)
    }

    /// Whether its Vary names a field of requests.
    pub(super) fn varies_by(&self, name: &str) -> bool {
        self.variant.vary.iter().any(|(own, _)| own == name)
    }

    /// Age in seconds (RFC 9111, 4.2.3).
    pub(super) fn age_s(&self, now_us: u64) -> u64 {
        let resident_us = now_us.saturating_sub(self.origin.at_us);
        self.origin.age_s.saturating_add(resident_us / 1_000_000)
    }
}

/// Content of a stored response. It counts as used memory until the last client has received it.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) bytes: Box<[u8]>,
    _share: Share,
}

impl Content {
    pub(super) fn new(bytes: Vec<u8>, share: Share) -> Arc<Self> {
        Arc::new(Self { bytes: bytes.into_boxed_slice(), _share: share })
    }
}

/// A stored response.
#[derive(Debug)]
pub(crate) struct Object {
    pub(super) head: Head,
    pub(super) content: Arc<Content>,
    /// `None`: the response is used once.
    _share: Option<Share>,
}

impl Object {
    /// A response whose head has its share of the memory.
    pub(super) fn new(head: Head, content: Arc<Content>, share: Share) -> Arc<Self> {
        Arc::new(Self { head, content, _share: Some(share) })
    }

    /// A response with a newer head, which is not stored.
    pub(super) fn once(head: Head, content: &Arc<Content>) -> Arc<Self> {
        Arc::new(Self { head, content: Arc::clone(content), _share: None })
    }

    /// Whether a server can confirm it.
    pub(super) fn has_validators(&self) -> bool {
        Validators::of(&self.head.fields.list()).is_some()
    }

    /// Bytes of its content.
    pub(super) fn length(&self) -> u64 {
        self.content.bytes.len() as u64
    }
}
