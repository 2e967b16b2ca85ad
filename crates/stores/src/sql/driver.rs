//! The driver and the view, over the sessions of any database.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use model::{ItemId, Sample, Trend};
use stdx::clock::SharedClock;
use stdx::sync::lock;

use super::address::Address;
use super::rows::{self, Row, moments};
use super::session::{Question, Schema, Session};
use super::tables::{Set, Table};
use crate::at_most;
use crate::prepared::Prepared;
use history::complete;
use history::{
    Bucket, Class, Counters, Day, Driver, DriverInfo, Durability, Error, Kind, Kinds, Retention,
    Span, Store, View,
};

/// Connections that readers leave open for each other: with four, every second of eight readers of
/// PostgreSQL reconnected, and their p95 was 26 ms instead of 13.
const IDLE_MAX: usize = 8;

/// A database, shared by drivers and readers.
struct Database<S: Session> {
    address: Address,
    retention: Arc<dyn Retention>,
    clock: SharedClock,
    schema: Prepared<S::Schema>,
    /// Of readers.
    idle: Mutex<Vec<S>>,
}

/// A store over the database that a URL names. Nothing is asked yet.
pub(crate) fn open<S: Session>(
    url: &str,
    retention: Arc<dyn Retention>,
    clock: SharedClock,
) -> Result<Arc<dyn Store>, Error> {
    let address = Address::parse(url, S::NAME, S::PORT)?;
    let (schema, idle) = (Prepared::not_yet(), Mutex::default());
    let database = Database::<S> { address, retention, clock, schema, idle };
    Ok(Arc::new(SqlStore(Arc::new(database))))
}

/// The store of a database.
struct SqlStore<S: Session>(Arc<Database<S>>);

impl<S: Session> Store for SqlStore<S> {
    fn name(&self) -> String {
        self.0.address.name()
    }

    fn driver(&self) -> Box<dyn Driver> {
        let database = Arc::clone(&self.0);
        Box::new(Connection { database, session: None, doubt: true, counters: Counters::default() })
    }
}

impl<S: Session> Database<S> {
    fn today(&self) -> Day {
        Day::of(u32::try_from(self.clock.unix_s()).unwrap_or(u32::MAX))
    }

    /// Calls with what is there. After a failure that is looked up again.
    fn with_known<T>(
        &self,
        session: &mut S,
        with: impl FnOnce(&mut S, &mut S::Schema) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.schema.with_any(|known| match known {
            Some(known) => with(session, known),
            none => {
                let looked = S::Schema::prepare(session, &self.address.location())?;
                with(session, none.insert(looked))
            }
        })
    }

    /// Somebody else may have dropped what we knew.
    fn checked<T>(&self, session: &S, done: Result<T, Error>) -> Result<T, Error> {
        if done.is_err() && session.health().stale {
            self.schema.forget();
        }
        done
    }

    /// Calls with a connection for readers.
    fn with_idle<T>(&self, work: impl Fn(&mut S) -> Result<T, Error>) -> Result<T, Error> {
        let idle = lock(&self.idle).pop().filter(|session| session.health().is_good());
        if let Some(mut session) = idle {
            let done = work(&mut session);
            // A server that was restarted has closed what we left open: not worth an error.
            if done.is_ok() || !session.health().ended {
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
        if session.health().is_good() && idle.len() < IDLE_MAX {
            idle.push(session);
        }
        done
    }

    fn tables(&self) -> Result<Vec<Table>, Error> {
        match self.schema.with_any(|known| Ok(known.as_ref().map(S::Schema::tables)))? {
            Some(tables) => Ok(tables),
            None => {
                self.with_idle(|session| self.with_known(session, |_, known| Ok(known.tables())))
            }
        }
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
        let open = self.session.take().filter(|session| session.health().is_good());
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
        load: impl Fn(&S, &S::Schema, &[Row<T>]) -> Result<S::Load, Error>,
    ) -> Result<(), Error> {
        let doubt = std::mem::replace(&mut self.doubt, true);
        let stored = self.with_session(|database, session| {
            let mut loads = Vec::new();
            for of_part in rows.chunk_by(|a, b| a.part == b.part) {
                loads.push(database.with_known(session, |session, known| {
                    known.place(session, &of_part[0].part, database.today())?;
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
            let tables = database.with_known(session, |_, known| Ok(known.tables()))?;
            tables.iter().try_for_each(|table| session.delete(table, &ids))
        })
    }

    fn view(&self, _: &[ItemId], span: Span) -> Box<dyn View> {
        Box::new(Within { database: Arc::clone(&self.database), span })
    }

    fn drop_before(&mut self, class: Class, day: Day) -> Result<u64, Error> {
        self.with_session(|database, session| {
            database.with_known(session, |session, known| known.drop_before(session, class, day))
        })
    }

    fn classes(&self) -> Result<Vec<Class>, Error> {
        let tables = self.database.tables()?;
        let mut classes: Vec<Class> = tables.into_iter().map(|table| table.class).collect();
        classes.sort_unstable();
        classes.dedup();
        Ok(classes)
    }

    fn describe(&self) -> DriverInfo {
        DriverInfo::readable(S::NAME, self.database.address.location(), Durability::Each)
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
    /// Reads a set in all classes.
    fn read<T>(
        &self,
        set: Set,
        sql: impl Fn(&Table) -> String,
        read: impl Fn(&S::Found) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        let mut all = Vec::new();
        for table in self.database.tables()?.iter().filter(|table| table.set == set) {
            let sql = sql(table);
            all.append(&mut self.database.with_idle(|session| session.ask(&sql, &read))?);
            at_most(all.len())?;
        }
        Ok(all)
    }

    fn question<'a>(
        &self,
        items: &'a [ItemId],
        newest_first: bool,
        limit: Option<usize>,
    ) -> Question<'a> {
        Question { items, moments: moments(self.span), newest_first, limit }
    }

    /// Samples of all kinds asked for, in order of item and time.
    fn samples_by(&self, question: &Question<'_>, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        let mut all: Vec<Sample> = Vec::new();
        if question.items.is_empty() {
            return Ok(all);
        }
        for kind in Kind::VALUES.into_iter().filter(|&kind| kinds.has(kind)) {
            let set = Set::of(kind);
            let sql = |table: &Table| question.sql(table, S::columns(set));
            let mut of_kind = self.read(set, sql, |row| S::sample(row, set))?;
            // An item whose retention was changed, and that was sent the same moment again.
            of_kind.sort_by_key(|sample| (sample.item, sample.at));
            of_kind.dedup_by_key(|sample| (sample.item, sample.at));
            all.append(&mut of_kind);
        }
        all.sort_by_key(|sample| (sample.item, sample.at));
        if question.newest_first {
            all.reverse();
        }
        all.truncate(question.limit.unwrap_or(usize::MAX));
        Ok(all)
    }

    /// Trends in order of item and time.
    fn trends_by(&self, items: &[ItemId]) -> Result<Vec<Trend>, Error> {
        let mut all: Vec<Trend> = Vec::new();
        if items.is_empty() {
            return Ok(all);
        }
        for set in [Set::FloatTrends, Set::UnsignedTrends] {
            let question = self.question(items, false, None);
            let sql = |table: &Table| question.sql(table, S::columns(set));
            let mut of_set = self.read(set, sql, |row| S::trend(row, set))?;
            of_set.sort_by_key(|trend| (trend.item, trend.hour));
            of_set.dedup_by_key(|trend| (trend.item, trend.hour));
            all.append(&mut of_set);
        }
        all.sort_by_key(|trend| (trend.item, trend.hour));
        Ok(all)
    }
}

impl<S: Session> View for Within<S> {
    fn samples(&self, item: ItemId, kinds: Kinds) -> Result<Vec<Sample>, Error> {
        self.samples_by(&self.question(&[item], false, None), kinds)
    }

    fn samples_of(&self, items: &[ItemId], kinds: Kinds) -> Result<Vec<Sample>, Error> {
        self.samples_by(&self.question(items, false, None), kinds)
    }

    fn oldest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.samples_by(&self.question(&[item], false, Some(n)), kinds)
    }

    fn newest(&self, item: ItemId, kinds: Kinds, n: usize) -> Result<Vec<Sample>, Error> {
        self.samples_by(&self.question(&[item], true, Some(n)), kinds)
    }

    fn buckets(&self, item: ItemId, kind: Kind, width: NonZeroU32) -> Result<Vec<Bucket>, Error> {
        let (set, items) = (Set::of(kind), [item]);
        let (question, figures) = (self.question(&items, false, None), S::figures(set));
        let sql = |table: &Table| question.buckets(table, width, &figures);
        // A bucket that is in tables of several classes is told by each.
        let found = self.read(set, sql, |row| S::bucket(row, set))?;
        complete(found, width, self.span, |span| {
            Self { database: Arc::clone(&self.database), span }.samples(item, kind.into())
        })
    }

    fn trends(&self, item: ItemId) -> Result<Vec<Trend>, Error> {
        self.trends_by(&[item])
    }

    fn trends_of(&self, items: &[ItemId]) -> Result<Vec<Trend>, Error> {
        self.trends_by(items)
    }
}
