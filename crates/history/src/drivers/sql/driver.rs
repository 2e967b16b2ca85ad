//! The driver and the view, over the sessions of any database.

use std::sync::{Arc, Mutex};

use model::{ItemId, Sample, Trend};

use super::address::Address;
use super::lock;
use super::rows::{self, Row, moments};
use super::session::{Question, Session};
use super::tables::{Set, Table};
use crate::{
    Class, Counters, Day, Driver, DriverInfo, Durability, Error, Kind, Kinds, Retention, Span, View,
};

/// Connections that readers leave open for each other.
const IDLE_MAX: usize = 4;

/// A database, shared by drivers and readers.
pub(crate) struct Database<S: Session> {
    pub(crate) address: Address,
    retention: Arc<dyn Retention>,
    /// `None` = to be looked up.
    known: Mutex<Option<S::Known>>,
    /// Of readers.
    idle: Mutex<Vec<S>>,
}

impl<S: Session> Database<S> {
    /// Nothing is asked yet.
    pub(crate) fn new(url: &str, retention: Arc<dyn Retention>) -> Result<Arc<Self>, Error> {
        let address = Address::parse(url, S::NAME, S::PORT)?;
        Ok(Arc::new(Self { address, retention, known: Mutex::default(), idle: Mutex::default() }))
    }

    /// A driver, which connects when it is first used.
    pub(crate) fn driver(self: &Arc<Self>) -> Box<dyn Driver> {
        let database = Arc::clone(self);
        Box::new(Connection { database, session: None, doubt: true, counters: Counters::default() })
    }

    /// Calls with what is there. After a failure that is looked up anew.
    fn with_known<T>(
        &self,
        session: &mut S,
        with: impl FnOnce(&mut S, &mut S::Known) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut guard = lock(&self.known);
        let known = match &mut *guard {
            Some(known) => known,
            none => none.insert(session.prepare(&self.address.location())?),
        };
        let done = with(session, known);
        if done.is_err() {
            *guard = None;
        }
        done
    }

    /// Somebody else may have dropped what we knew.
    fn checked<T>(&self, session: &S, done: Result<T, Error>) -> Result<T, Error> {
        if done.is_err() && session.is_stale() {
            *lock(&self.known) = None;
        }
        done
    }

    /// Calls with a connection for readers.
    fn with_idle<T>(&self, work: impl Fn(&mut S) -> Result<T, Error>) -> Result<T, Error> {
        let idle = lock(&self.idle).pop().filter(Session::is_fit);
        if let Some(mut session) = idle {
            let done = work(&mut session);
            // A server that was restarted has closed what we left open: not worth an error.
            if done.is_ok() || !session.is_closed() {
                return self.left(session, done);
            }
            lock(&self.idle).clear();
        }
        let mut session = S::connect(&self.address)?;
        let done = work(&mut session);
        self.left(session, done)
    }

    fn left<T>(&self, session: S, done: Result<T, Error>) -> Result<T, Error> {
        let done = self.checked(&session, done);
        let mut idle = lock(&self.idle);
        if session.is_fit() && !session.is_stale() && idle.len() < IDLE_MAX {
            idle.push(session);
        }
        done
    }

    fn tables(&self) -> Result<Vec<Table>, Error> {
        if let Some(known) = lock(&self.known).as_ref() {
            return Ok(S::tables(known));
        }
        self.with_idle(|session| self.with_known(session, |_, known| Ok(S::tables(known))))
    }
}

/// A driver; statements wait for their answer.
struct Connection<S: Session> {
    database: Arc<Database<S>>,
    session: Option<S>,
    /// Rows of the next batch may be there already.
    doubt: bool,
    counters: Counters,
}

impl<S: Session> Connection<S> {
    fn with_session<T>(
        &mut self,
        work: impl FnOnce(&Database<S>, &mut S) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let open = self.session.take().filter(|session| session.is_fit() && !session.is_stale());
        let mut session = match open {
            Some(session) => session,
            None => S::connect(&self.database.address)?,
        };
        let done = work(&self.database, &mut session);
        let done = self.database.checked(&session, done);
        self.session = Some(session);
        done
    }

    /// Stores rows that are in order, in one transaction.
    fn store<T>(
        &mut self,
        rows: &[Row<T>],
        load: impl Fn(&S, &S::Known, &[Row<T>]) -> Result<S::Load, Error>,
    ) -> Result<(), Error> {
        let doubt = std::mem::replace(&mut self.doubt, true);
        let stored = self.with_session(|database, session| {
            let mut loads = Vec::new();
            for of_part in rows.chunk_by(|a, b| a.part == b.part) {
                loads.push(database.with_known(session, |session, known| {
                    session.place(known, &of_part[0].part)?;
                    load(session, known, of_part)
                })?);
            }
            session.store(&loads, doubt)
        });
        self.doubt = stored.is_err();
        self.counters.failures += u64::from(stored.is_err());
        stored
    }
}

impl<S: Session> Driver for Connection<S> {
    fn write(&mut self, samples: &[Sample]) -> Result<(), Error> {
        if samples.is_empty() {
            return Ok(());
        }
        let rows = rows::samples(samples, self.database.retention.as_ref())?;
        self.store(&rows, S::samples)?;
        self.counters.samples += samples.len() as u64;
        self.counters.batches += 1;
        Ok(())
    }

    fn write_trends(&mut self, trends: &[Trend]) -> Result<(), Error> {
        if trends.is_empty() {
            return Ok(());
        }
        let rows = rows::trends(trends, self.database.retention.as_ref())?;
        // An hour is written again with each late value of it.
        self.doubt = true;
        self.store(&rows, S::trends)?;
        self.counters.trends += trends.len() as u64;
        Ok(())
    }

    fn clear(&mut self, items: &[ItemId]) -> Result<(), Error> {
        let ids: Vec<i64> = items.iter().filter_map(|item| i64::try_from(item.0).ok()).collect();
        if ids.is_empty() {
            return Ok(());
        }
        self.with_session(|database, session| {
            let tables = database.with_known(session, |_, known| Ok(S::tables(known)))?;
            tables.iter().try_for_each(|table| session.delete(table, &ids))
        })
    }

    fn sync(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn maintain(&mut self) -> Result<(), Error> {
        Ok(())
    }

    fn view(&self, _: &[ItemId], span: Span) -> Box<dyn View> {
        Box::new(Within { database: Arc::clone(&self.database), span })
    }

    fn view_newest(&self, items: &[ItemId], _: usize) -> Box<dyn View> {
        self.view(items, Span::ALL)
    }

    fn drop_before(&mut self, class: Class, day: Day) -> Result<u64, Error> {
        self.with_session(|database, session| {
            database.with_known(session, |session, known| session.drop_before(known, class, day))
        })
    }

    fn classes(&self) -> Vec<Class> {
        // Who asks drops what is old; a store that is away is asked again in an hour.
        let tables = self.database.tables().unwrap_or_default();
        let mut classes: Vec<Class> = tables.into_iter().map(|table| table.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    fn describe(&self) -> DriverInfo {
        DriverInfo {
            name: S::NAME,
            location: self.database.address.location(),
            durability: Durability::Each,
            readable: true,
        }
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

/// What the store has within a span, as of when it is asked.
struct Within<S: Session> {
    database: Arc<Database<S>>,
    span: Span,
}

impl<S: Session> Within<S> {
    fn questions(
        &self,
        set: Set,
        item: ItemId,
        newest_first: bool,
        n: Option<usize>,
    ) -> Result<Vec<Question>, Error> {
        let tables = self.database.tables()?.into_iter().filter(|table| table.set == set);
        let moments = moments(self.span);
        Ok(tables.map(|table| Question { table, item, moments, newest_first, n }).collect())
    }

    fn read(
        &self,
        item: ItemId,
        kinds: Kinds,
        newest_first: bool,
        n: Option<usize>,
    ) -> Result<Vec<Sample>, Error> {
        let mut all = Vec::new();
        for kind in Kind::VALUES.into_iter().filter(|&kind| kinds.has(kind)) {
            let mut of_kind = Vec::new();
            for question in self.questions(Set::of(kind), item, newest_first, n)? {
                let ask = |session: &mut S| session.read_samples(&question);
                of_kind.extend(self.database.with_idle(ask)?);
            }
            // An item whose retention was changed, and that was sent the same moment again.
            of_kind.sort_by_key(|sample| sample.at);
            of_kind.dedup_by_key(|sample| sample.at);
            all.extend(of_kind);
        }
        all.sort_by_key(|sample| sample.at);
        if newest_first {
            all.reverse();
        }
        all.truncate(n.unwrap_or(usize::MAX));
        Ok(all)
    }
}

impl<S: Session> View for Within<S> {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, false, None)
    }

    fn oldest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, false, Some(n))
    }

    fn newest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.read(item, kinds, true, Some(n))
    }

    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        let mut trends = Vec::new();
        for set in [Set::FloatTrends, Set::UnsignedTrends] {
            let mut of_set = Vec::new();
            for question in self.questions(set, item, false, None)? {
                let ask = |session: &mut S| session.read_trends(&question);
                of_set.extend(self.database.with_idle(ask)?);
            }
            of_set.sort_by_key(|trend| trend.hour);
            of_set.dedup_by_key(|trend| trend.hour);
            trends.extend(of_set);
        }
        trends.sort_by_key(|trend| trend.hour);
        Ok(trends)
    }
}
