//! Connections that end under the driver, over a database of our own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{ItemId, Sample, SampleValue, Timestamp, Trend};
use stdx::clock::RealClock;

use super::address::Address;
use super::driver::open;
use super::rows::Row;
use super::session::{Health, Schema, Session};
use super::tables::{Part, Set, Table};
use history::Reduced;
use history::{Class, Day, Error, Kind, Span};

const ITEM: ItemId = ItemId(7);
const TABLE: Table = Table { set: Set::Unsigned, class: Class(31) };

/// How often the database was started; it ends the connections of before.
static STARTS: AtomicU64 = AtomicU64::new(0);

/// A connection. Each table that is asked has one row.
struct Fake {
    start: u64,
    health: Health,
}

impl Fake {
    fn call<T>(&mut self, answer: T) -> Result<T, Error> {
        self.health.ended |= self.start != STARTS.load(Ordering::SeqCst);
        if self.health.ended {
            Err(Error::storage_away("the connection ended"))
        } else {
            Ok(answer)
        }
    }
}

struct Tables;

impl Schema<Fake> for Tables {
    fn prepare(session: &mut Fake, _: &str) -> Result<Self, Error> {
        session.call(Self)
    }
    fn tables(&self) -> Vec<Table> {
        vec![TABLE]
    }
    fn place(&mut self, session: &mut Fake, _: &Part, _: Day) -> Result<(), Error> {
        session.call(())
    }
    fn drop_before(&mut self, session: &mut Fake, _: Class, _: Day) -> Result<u64, Error> {
        session.call(0)
    }
}

impl Session for Fake {
    const NAME: &'static str = "fake";
    const PORT: u16 = 1;
    type Schema = Tables;
    type Load = ();
    type Found = ();

    fn connect(_: &Address) -> Result<Self, Error> {
        Ok(Self { start: STARTS.load(Ordering::SeqCst), health: Health::default() })
    }
    fn health(&self) -> Health {
        self.health
    }
    fn samples(&self, _: &Tables, _: &[Row<&Sample>]) -> Result<(), Error> {
        Ok(())
    }
    fn trends(&self, _: &Tables, _: &[Row<&Trend>]) -> Result<(), Error> {
        Ok(())
    }
    fn store(&mut self, _: &[()], _: bool) -> Result<(), Error> {
        self.call(())
    }
    fn delete(&mut self, _: &Table, _: &[i64]) -> Result<(), Error> {
        self.call(())
    }
    fn columns(_: Set) -> &'static [&'static str] {
        &["value"]
    }
    fn figures(_: Set) -> String {
        String::new()
    }
    fn bucket((): &(), _: Set) -> Option<Reduced> {
        None
    }
    fn ask<T>(&mut self, _: &str, read: impl Fn(&()) -> Option<T>) -> Result<Vec<T>, Error> {
        self.call(())?;
        Ok(read(&()).into_iter().collect())
    }
    fn sample((): &(), _: Set) -> Option<Sample> {
        Some(row())
    }
    fn trend((): &(), _: Set) -> Option<Trend> {
        None
    }
}

fn row() -> Sample {
    Sample { item: ITEM, at: Timestamp::from_s(86_400), value: SampleValue::Unsigned(1) }
}

#[test]
fn readers_do_not_hear_of_connections_that_a_restart_has_ended() {
    let store = open::<Fake>("fake://h/d", Arc::new(Class(31)), RealClock::shared()).unwrap();
    let mut driver = store.driver();
    let found = || {
        let view = store.driver().view(&[ITEM], Span::ALL);
        view.samples(ITEM, Kind::Unsigned.into())
    };
    driver.write(&[row()]).unwrap();
    assert_eq!(found().unwrap(), [row()]);
    STARTS.fetch_add(1, Ordering::SeqCst);
    assert_eq!(found().unwrap(), [row()]);
    STARTS.fetch_add(1, Ordering::SeqCst);
    // The one who writes hears it, and what is there has to be looked up with one that has ended.
    assert!(driver.write(&[row()]).is_err());
    assert_eq!(found().unwrap(), [row()]);
    driver.write(&[row()]).unwrap();
}
