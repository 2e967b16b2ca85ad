//! The driver over Riak KV, by its HTTP interface. Experimental: no test runs against a real Riak.
//!
//! Riak keeps bytes under keys, and nothing else: an object has the rows of one item and hour (of
//! trends: day), and is read, added to and written ([`objects`]). A row is there once by its moment
//! within the object. Of two who write one object at once neither knows of the other: both
//! writings stay as siblings, and the next reader merges them. Which days an item has,
//! and which items a day has, is in sets beside them: Riak finds nothing by itself that all its
//! backends could find, and deletes nothing by its age.

mod client;
mod objects;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::{ItemId, Sample, Trend};
use stdx::clock::SharedClock;
use stdx::sync::{into_inner, lock};

use self::client::Client;
use self::objects::{Place, Rows, Set, Slot, item_key};
use super::moments::Moments;
use super::place::{Row, in_order};
use super::prepared::Prepared;
use super::remote::{Connection, Remote, Wanted, at_once};
use super::{at_most, not_newer};
use history::{Class, Day, Driver, DriverInfo, Durability, Error, Kind, Retention, Span, Store};

/// Version of keys and objects: raise it with each change.
const VERSION: u64 = 1;
/// The items of a day are in so many sets, so that no object becomes large.
const PARTS: u64 = 64;
/// Objects with at once for somebody who wants few values: those of a day.
const FEW: usize = 24;
/// Locks for objects that are being changed.
const LOCKS: usize = 64;
/// Days of items that are remembered to be in the sets, about 30 bytes each.
const LISTED_MAX: usize = 4_000_000;
/// The key of the set of all days, and of the set whose only member is the version.
const DAYS: &str = "days";
const VERSION_KEY: &str = "version";

/// A bucket of a Riak cluster. Makes drivers that share its connections. Experimental.
pub struct Riak {
    shared: Arc<Shared>,
}

struct Shared {
    client: Client,
    retention: Arc<dyn Retention>,
    moments: Moments,
    /// The bucket is as it has to be.
    prepared: Prepared,
    /// What is in the sets.
    listed: Mutex<HashSet<(Slot, ItemId)>>,
    /// Who reads, changes and writes an object holds the one that its key chooses: siblings are
    /// for others.
    changing: Vec<Mutex<()>>,
    hasher: foldhash::fast::FixedState,
}

impl std::fmt::Debug for Riak {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Riak").field(&self.shared.client.server.location()).finish()
    }
}

impl Riak {
    /// The bucket that a URL such as `http://user:password@host:8098/bucket?type=name` names.
    /// Nothing is asked yet.
    pub fn new(
        url: &str,
        retention: Arc<dyn Retention>,
        clock: SharedClock,
    ) -> Result<Self, Error> {
        let shared = Shared {
            client: Client::new(url)?,
            retention,
            moments: Moments::new(clock, Duration::from_millis(1)),
            prepared: Prepared::not_yet(),
            listed: Mutex::default(),
            changing: (0..LOCKS).map(|_| Mutex::default()).collect(),
            hasher: foldhash::fast::FixedState::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }
}

impl Store for Riak {
    fn name(&self) -> String {
        format!("riak-{}", self.shared.client.server.place())
    }

    fn driver(&self) -> Box<dyn Driver> {
        Connection::boxed(&self.shared)
    }
}

impl Shared {
    fn prepare(&self) -> Result<(), Error> {
        let prepare = || {
            self.client.prepare()?;
            let found = self.set(VERSION_KEY)?.0.last().copied().unwrap_or(0);
            not_newer(self.client.server.location(), &found, &VERSION)?;
            if found < VERSION {
                self.change(VERSION_KEY, |set| set.0.insert(VERSION))?;
            }
            Ok(())
        };
        self.prepared.with(prepare, |()| Ok(()))
    }

    /// Holds what protects an object from others of this process. `act` may take no other.
    fn alone<T>(&self, key: &str, act: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        let chosen = self.hasher.hash_one(key) % LOCKS as u64;
        let changing = usize::try_from(chosen).ok().and_then(|chosen| self.changing.get(chosen));
        let _held = changing.map(lock);
        act()
    }

    fn set(&self, key: &str) -> Result<Set, Error> {
        let found = self.client.get(key)?;
        Set::read(&found.siblings).ok_or_else(|| odd_answer("a set"))
    }

    /// Changes a set; `act` tells whether it did. An empty one is deleted.
    fn change(&self, key: &str, act: impl FnOnce(&mut Set) -> bool) -> Result<(), Error> {
        self.alone(key, || {
            let found = self.client.get(key)?;
            let mut set = Set::read(&found.siblings).ok_or_else(|| odd_answer("a set"))?;
            if !act(&mut set) && found.siblings.len() < 2 {
                return Ok(());
            }
            if set.0.is_empty() {
                return self.client.delete(key);
            }
            self.client.put(key, found.vclock.as_deref(), &set.bytes())
        })
    }

    /// Adds members to sets, several at once.
    fn add<K: Ord + Sync>(
        &self,
        members: impl Iterator<Item = (K, u64)>,
        key: impl Fn(&K) -> String + Sync,
    ) -> Result<(), Error> {
        let mut sets: BTreeMap<K, Vec<u64>> = BTreeMap::new();
        members.for_each(|(set, member)| sets.entry(set).or_default().push(member));
        let sets: Vec<_> = sets.into_iter().collect();
        at_once(&sets, |(set, members)| {
            self.change(&key(set), |set| {
                let before = set.0.len();
                set.0.extend(members);
                set.0.len() > before
            })
        })
    }

    /// Puts days of items into the sets that do not have them: first, so that no object is ever
    /// without.
    fn list(&self, places: impl Iterator<Item = Place>) -> Result<(), Error> {
        let mut new: BTreeSet<(Slot, ItemId)> =
            places.map(|place| (place.slot, place.item)).collect();
        {
            let listed = lock(&self.listed);
            new.retain(|each| !listed.contains(each));
        }
        if new.is_empty() {
            return Ok(());
        }
        self.add(new.iter().map(|(slot, _)| ((), slot.number())), |()| DAYS.to_owned())?;
        let of_days = new.iter().map(|(slot, item)| ((*slot, item.0 % PARTS), item.0));
        self.add(of_days, |(slot, part)| slot.index_key(*part))?;
        let of_items = new.iter().map(|(slot, item)| (*item, slot.number()));
        self.add(of_items, |item| item_key(*item))?;
        let mut listed = lock(&self.listed);
        if listed.len() + new.len() > LISTED_MAX {
            listed.clear();
        }
        listed.extend(new);
        Ok(())
    }

    fn write_rows<'a>(&self, rows: impl Iterator<Item = Row<'a>>) -> Result<(), Error> {
        self.prepare()?;
        let rows = in_order(rows, self.retention.as_ref());
        let mut rows: Vec<(Place, Row<'a>)> =
            rows.into_iter().map(|(place, row)| (Place::of(row, place.class), row)).collect();
        rows.sort_by_key(|(place, _)| *place);
        self.list(rows.iter().map(|(place, _)| *place))?;
        let objects: Vec<&[(Place, Row<'a>)]> = rows.chunk_by(|(a, _), (b, _)| a == b).collect();
        at_once(&objects, |rows| self.write_object(rows))
    }

    /// Adds rows to their object.
    fn write_object(&self, new: &[(Place, Row<'_>)]) -> Result<(), Error> {
        let Some((place, _)) = new.first() else { return Ok(()) };
        let key = place.key();
        self.alone(&key, || {
            let found = self.client.get(&key)?;
            let rows = Rows::read(&found.siblings);
            let mut rows = rows.ok_or_else(|| odd_answer("an object of rows"))?;
            self.moments.not_before(rows.moment);
            rows.moment = self.moments.next();
            new.iter().for_each(|(_, row)| rows.put(*row));
            self.client.put_rows(&key, found.vclock.as_deref(), &rows.bytes())
        })
    }

    /// Objects of an item that may have rows within the span, in order.
    fn places(&self, trends: bool, item: ItemId, span: Span) -> Result<Vec<Place>, Error> {
        self.prepare()?;
        let set = self.set(&item_key(item))?;
        let ours = set.slots().filter(|slot| slot.trends == trends);
        let mut places: Vec<Place> = ours.flat_map(|slot| Place::all(slot, item)).collect();
        places.retain(|place| {
            let (first, last) = place.seconds();
            span.overlaps(first, last)
        });
        places.sort_unstable_by_key(|place| place.seconds());
        Ok(places)
    }

    /// What is read of objects, several at once.
    fn gather<T: Send>(
        &self,
        places: &[Place],
        read: impl Fn(&Rows) -> Option<Vec<T>> + Sync,
    ) -> Result<Vec<T>, Error> {
        let all = Mutex::new(Vec::new());
        at_once(places, |place| {
            let found = self.client.get(&place.key())?;
            let rows = Rows::read(&found.siblings).and_then(|rows| read(&rows));
            let mut rows = rows.ok_or_else(|| odd_answer("an object of rows"))?;
            let mut all = lock(&all);
            all.append(&mut rows);
            at_most(all.len())
        })?;
        Ok(into_inner(all))
    }

    fn delete_days(&self, days: &[(Slot, ItemId)]) -> Result<(), Error> {
        let objects = days.iter().flat_map(|&(slot, item)| Place::all(slot, item));
        let objects: Vec<Place> = objects.collect();
        at_once(&objects, |place| {
            let key = place.key();
            self.alone(&key, || self.client.delete(&key))
        })
    }

    /// From now on these are to be listed again when something is written.
    fn forget(&self, is_gone: impl Fn(&(Slot, ItemId)) -> bool) {
        let mut listed = lock(&self.listed);
        listed.retain(|each| !is_gone(each));
    }

    /// Deletes a day of one class.
    fn drop_day(&self, slot: Slot) -> Result<(), Error> {
        self.forget(|(other, _)| *other == slot);
        for part in 0..PARTS {
            let key = slot.index_key(part);
            let items: Vec<ItemId> = self.set(&key)?.0.into_iter().map(ItemId).collect();
            let days: Vec<_> = items.iter().map(|&item| (slot, item)).collect();
            self.delete_days(&days)?;
            at_once(&items, |item| {
                self.change(&item_key(*item), |set| set.0.remove(&slot.number()))
            })?;
            if !items.is_empty() {
                self.alone(&key, || self.client.delete(&key))?;
            }
        }
        // What came late meanwhile may have been taken out of the sets again.
        self.forget(|(other, _)| *other == slot);
        self.change(DAYS, |set| set.0.remove(&slot.number()))
    }
}

impl Remote for Shared {
    fn describe(&self) -> DriverInfo {
        DriverInfo::readable("riak", self.client.server.location(), Durability::GroupCommit)
    }

    fn write(&self, samples: &[Sample]) -> Result<(), Error> {
        self.write_rows(samples.iter().map(Row::Value))
    }

    fn write_trends(&self, trends: &[Trend]) -> Result<(), Error> {
        self.write_rows(trends.iter().map(Row::Trend))
    }

    fn clear(&self, items: &[ItemId]) -> Result<(), Error> {
        self.prepare()?;
        for &item in items {
            let key = item_key(item);
            let days: Vec<_> = self.set(&key)?.slots().map(|slot| (slot, item)).collect();
            self.forget(|(_, other)| *other == item);
            self.delete_days(&days)?;
            self.alone(&key, || self.client.delete(&key))?;
        }
        Ok(())
    }

    fn drop_before(&self, class: Class, day: Day) -> Result<u64, Error> {
        self.prepare()?;
        for slot in self.set(DAYS)?.slots() {
            if slot.class == class && slot.day < day {
                self.drop_day(slot)?;
            }
        }
        Ok(0)
    }

    fn classes(&self) -> Result<Vec<Class>, Error> {
        self.prepare()?;
        Ok(self.set(DAYS)?.slots().map(|slot| slot.class).collect())
    }

    fn read(&self, wanted: &Wanted) -> Result<Vec<Sample>, Error> {
        let Wanted { item, kinds, span, newest_first, limit } = *wanted;
        let mut places = self.places(false, item, span)?;
        if newest_first {
            places.reverse();
        }
        let is_wanted =
            |sample: &Sample| span.has(sample.at.clock) && kinds.has(Kind::of_value(&sample.value));
        let together = if limit == usize::MAX { places.len() } else { FEW };
        let mut all = Vec::new();
        for places in places.chunks(together.max(1)) {
            all.append(&mut self.gather(places, |rows| {
                let mut samples = rows.samples(item)?;
                samples.retain(is_wanted);
                Some(samples)
            })?);
            if all.len() >= limit {
                break;
            }
        }
        Ok(all)
    }

    fn read_trends(&self, item: ItemId, span: Span) -> Result<Vec<Trend>, Error> {
        let places = self.places(true, item, span)?;
        self.gather(&places, |rows| {
            let mut trends = rows.trends(item)?;
            trends.retain(|trend| span.has(trend.hour));
            Some(trends)
        })
    }
}

/// What Riak sent cannot be what was asked for.
fn odd_answer(what: &str) -> Error {
    super::odd_answer("Riak", what, "is it Riak, and were its objects altered by hand")
}
