//! What functions read: a driver, and before it the past.

use std::sync::Arc;

use model::{ItemId, Sample, Trend};

use super::Past;
use crate::{Driver, Error, Kinds, Newest, Span, View};

/// What functions read.
pub trait Lookback {
    /// Samples of an item of any value type within a span, oldest first.
    fn within(&self, item: ItemId, span: Span) -> Result<Vec<Sample>, Error>;

    /// The newest `n` samples of an item of any value type, newest first.
    fn newest_of(&self, item: ItemId, n: usize) -> Result<Newest, Error>;
}

impl<D: Driver + ?Sized> Lookback for D {
    fn within(&self, item: ItemId, span: Span) -> Result<Vec<Sample>, Error> {
        self.view(&[item], span).samples(item, Kinds::VALUES)
    }

    fn newest_of(&self, item: ItemId, n: usize) -> Result<Newest, Error> {
        Ok(Newest { samples: self.newest(item, n)?, partial: false })
    }
}

/// A driver, and before it the past.
pub struct WithPast<'a> {
    /// Has the newest days.
    pub driver: &'a dyn Driver,
    /// Has what is older, if a store has.
    pub past: Option<&'a Arc<Past>>,
}

impl Lookback for WithPast<'_> {
    fn within(&self, item: ItemId, span: Span) -> Result<Vec<Sample>, Error> {
        let newest = self.driver.within(item, span)?;
        match self.past {
            Some(past) => past.before(item, span, newest),
            None => Ok(newest),
        }
    }

    fn newest_of(&self, item: ItemId, n: usize) -> Result<Newest, Error> {
        let newest = self.driver.newest_of(item, n)?;
        Ok(match self.past {
            Some(past) => past.before_newest(item, n, newest.samples),
            None => newest,
        })
    }
}

impl WithPast<'_> {
    /// A view for another shard.
    pub fn view(&self, items: &[ItemId], span: Span) -> Box<dyn View> {
        with_past(self.driver.view(items, span), self.past, Scope::Span(span))
    }

    /// The same of the newest `n` values.
    pub fn view_newest(&self, items: &[ItemId], n: usize) -> Box<dyn View> {
        with_past(self.driver.view_newest(items, n), self.past, Scope::Newest(n))
    }
}

fn with_past(view: Box<dyn View>, past: Option<&Arc<Past>>, scope: Scope) -> Box<dyn View> {
    match past {
        Some(past) => Box::new(PastView { view, past: Arc::clone(past), scope }),
        None => view,
    }
}

/// What a view was made for.
enum Scope {
    Span(Span),
    Newest(usize),
}

struct PastView {
    view: Box<dyn View>,
    past: Arc<Past>,
    scope: Scope,
}

impl View for PastView {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        match self.scope {
            Scope::Span(span) => self.past.before(item, span, self.view.samples(item, kinds)?),
            Scope::Newest(n) => {
                let mut samples = self.newest(item, kinds, n)?;
                samples.reverse();
                Ok(samples)
            }
        }
    }

    fn newest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        Ok(self.newest_so_far(item, kinds, n)?.samples)
    }

    fn newest_so_far(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Newest, Error> {
        match self.scope {
            Scope::Span(_) => {
                let mut samples = self.samples(item, kinds)?;
                samples.drain(..samples.len().saturating_sub(n));
                samples.reverse();
                Ok(Newest { samples, partial: false })
            }
            Scope::Newest(most) => {
                let n = n.min(most);
                Ok(self.past.before_newest(item, n, self.view.newest(item, kinds, n)?))
            }
        }
    }

    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        self.view.trends(item)
    }
}
