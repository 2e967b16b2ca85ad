//! Bundles as rows: where messages are held back, in the transaction that stores them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use config::db::{DbResult, Reader, Row, Value, query_by_ids};
use config::{Statements, table};
use const_format::formatcp;
use objects::{AlertStatus, Withholding};
use sha2::{Digest, Sha256};

use super::alerts::{Hold, Holds, NewAlert};
use crate::bundles::{Brake, Gathering, Limit};
use crate::recipients::Address;

/// Bundles that are looked at in one turn.
pub(super) const DUE_MAX: usize = 100;
/// While there is a backlog of events, a bundle waits for it up to this long: one message is to tell of all.
const BACKLOG_S: i64 = 60;

/// What a bundle is for: there is one of each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Grouped or storm.
    pub(super) kind: Withholding,
    /// 0 = all.
    pub(super) action: u64,
    pub(super) user: u64,
    pub(super) address: Address,
    pub(super) key: Arc<str>,
}

impl Place {
    /// Where an address has its limit.
    fn of_limit(user: u64, address: &Address) -> Self {
        let (kind, address) = (Withholding::Storm, address.clone());
        Self { kind, action: 0, user, address, key: "".into() }
    }

    fn of(alert: &NewAlert) -> Option<Self> {
        let address = alert.address.as_ref().filter(|_| alert.is_due())?;
        match &alert.holds {
            Holds { group: Some(group), .. } => Some(Self {
                kind: Withholding::Grouped,
                action: alert.action,
                user: alert.user,
                address: address.clone(),
                key: Arc::clone(&group.key),
            }),
            Holds { limit: Some(_), .. } => Some(Self::of_limit(alert.user, address)),
            Holds { .. } => None,
        }
    }

    /// A number for the index: an address and a key may be longer than an index takes.
    fn digest(&self) -> u64 {
        let mut digest = Sha256::new();
        for number in
            [self.kind.number().cast_unsigned(), self.action, self.user, self.address.media_type]
        {
            digest.update(number.to_le_bytes());
        }
        for text in [&*self.address.sendto, &*self.key] {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
        let bytes = digest.finalize();
        bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)) >> 1
    }
}

/// A row of `bundles`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bundle {
    pub(super) id: u64,
    pub(super) place: Place,
    told: i64,
    full_ms: i64,
    waiting: bool,
    due: i64,
}

impl Bundle {
    fn new(id: u64, place: Place) -> Self {
        Self { id, place, told: 0, full_ms: 0, waiting: false, due: 0 }
    }

    /// `None` = of a later version.
    fn from_row(row: &Row) -> Option<Self> {
        let address =
            Address { media_type: row.id("mediatypeid"), sendto: row.text("sendto").to_owned() };
        Some(Self {
            id: row.id("bundleid"),
            place: Place {
                kind: Withholding::from_number(row.int("kind"))?,
                action: row.id("actionid"),
                user: row.id("userid"),
                address,
                key: row.text("groupkey").into(),
            },
            told: row.int("told"),
            full_ms: row.int("full_ms"),
            waiting: row.int("waiting") == 1,
            due: row.int("nextcheck"),
        })
    }

    pub(super) const fn gathering(&self) -> Gathering {
        Gathering { told: self.told, waiting: self.waiting, due: self.due }
    }

    pub(super) const fn gathered(mut self, gathering: Gathering) -> Self {
        Gathering { told: self.told, waiting: self.waiting, due: self.due } = gathering;
        self
    }

    pub(super) const fn brake(&self) -> Brake {
        Brake { full_ms: self.full_ms, waiting: self.waiting, due: self.due }
    }

    pub(super) const fn braked(mut self, brake: Brake) -> Self {
        Brake { full_ms: self.full_ms, waiting: self.waiting, due: self.due } = brake;
        self
    }

    fn columns(&self) -> [Value; 4] {
        [self.told.into(), self.full_ms.into(), self.waiting.into(), self.due.into()]
    }

    pub(super) fn update(&self, state: &mut Statements<'_>) -> DbResult<()> {
        let sql = "UPDATE bundles SET told = ?, full_ms = ?, waiting = ?, nextcheck = ? \
                   WHERE bundleid = ?";
        let [told, full, waiting, due] = self.columns();
        state.execute(sql, &[told, full, waiting, due, self.id.into()]).map(drop)
    }
}

/// Bundles that are due, the first ones first. `is_full`: there is a backlog of events.
pub(super) fn due(connection: &mut dyn Reader, now: i64, is_full: bool) -> DbResult<Vec<Bundle>> {
    let until = if is_full { now - BACKLOG_S } else { now };
    let sql = formatcp!(
        "SELECT * FROM bundles WHERE nextcheck > 0 AND nextcheck <= ? \
         ORDER BY nextcheck, bundleid LIMIT {DUE_MAX}"
    );
    let rows = connection.query(sql, &[until.into()])?;
    Ok(rows.iter().filter_map(Bundle::from_row).collect())
}

/// The bundle as it is now, if it is still due: another one that was told of may have changed it.
pub(super) fn again(connection: &mut dyn Reader, id: u64, now: i64) -> DbResult<Option<Bundle>> {
    let sql = "SELECT * FROM bundles WHERE bundleid = ? AND nextcheck > 0 AND nextcheck <= ?";
    let rows = connection.query(sql, &[id.into(), now.into()])?;
    Ok(rows.first().and_then(Bundle::from_row))
}

/// The second in which the next bundle is due.
pub(super) fn next_due(connection: &mut dyn Reader) -> DbResult<Option<i64>> {
    let sql = formatcp!(
        "SELECT nextcheck FROM bundles WHERE nextcheck > 0 AND kind IN ({}, {}) \
         ORDER BY nextcheck LIMIT 1",
        Withholding::Grouped.text(),
        Withholding::Storm.text()
    );
    Ok(connection.query(sql, &[])?.first().map(|row| row.int("nextcheck")))
}

/// The clock was set back: what is due stays due after the same time.
pub(super) fn set_back(state: &mut Statements<'_>, by: i64) -> DbResult<()> {
    let moved = |column: &str, unit: i64| {
        let by = by.saturating_mul(unit);
        format!("{column} = CASE WHEN {column} > {by} THEN {column} - {by} ELSE 1 END")
    };
    for (column, unit) in [("nextcheck", 1), ("told", 1), ("full_ms", 1_000)] {
        let sql = format!("UPDATE bundles SET {} WHERE {column} > 0", moved(column, unit));
        state.execute(&sql, &[])?;
    }
    Ok(())
}

/// Bundles of one transaction, as they were and as they are.
struct Shelf(BTreeMap<Place, (Option<Bundle>, Bundle)>);

impl Shelf {
    fn read(state: &mut Statements<'_>, places: BTreeSet<Place>) -> DbResult<Self> {
        let digests: BTreeSet<u64> = places.iter().map(Place::digest).collect();
        let sql = "SELECT * FROM bundles WHERE digest IN ({ids})";
        let rows = query_by_ids(state, sql, &[], &Vec::from_iter(digests))?;
        let known = rows.iter().filter_map(Bundle::from_row);
        let known = known.filter(|bundle| places.contains(&bundle.place));
        let mut all: BTreeMap<_, _> =
            known.map(|one| (one.place.clone(), (Some(one.clone()), one))).collect();
        let new = Vec::from_iter(places.into_iter().filter(|place| !all.contains_key(place)));
        if !new.is_empty() {
            let first = state.next_id(&table::BUNDLES, new.len() as u64)?;
            let new = (first..).zip(new);
            all.extend(new.map(|(id, place)| (place.clone(), (None, Bundle::new(id, place)))));
        }
        Ok(Self(all))
    }

    /// Changes the bundle of a place and returns its id.
    fn change(&mut self, place: &Place, to: impl FnOnce(Bundle) -> Bundle) -> u64 {
        let Some((_, bundle)) = self.0.get_mut(place) else { return 0 };
        *bundle = to(bundle.clone());
        bundle.id
    }

    fn write(self, state: &mut Statements<'_>) -> DbResult<()> {
        let mut new = Vec::new();
        for (before, bundle) in self.0.into_values() {
            match before {
                None => new.push(new_row(&bundle)),
                Some(before) if before != bundle => bundle.update(state)?,
                Some(_) => {}
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let columns = [
            "bundleid",
            "kind",
            "actionid",
            "userid",
            "mediatypeid",
            "sendto",
            "groupkey",
            "digest",
            "told",
            "full_ms",
            "waiting",
            "nextcheck",
        ];
        state.insert_many(&table::BUNDLES, &columns, &new)
    }
}

fn new_row(bundle: &Bundle) -> Vec<Value> {
    let place = &bundle.place;
    let mut row = vec![
        bundle.id.into(),
        place.kind.number().into(),
        place.action.into(),
        place.user.into(),
        place.address.media_type.into(),
        place.address.sendto.as_str().into(),
        (&*place.key).into(),
        place.digest().into(),
    ];
    row.extend(bundle.columns());
    row
}

/// Decides for each of these alerts whether it goes or is held back, and writes the bundles. The only place where messages
/// are held back for what other messages there are.
pub(super) fn hold(
    state: &mut Statements<'_>,
    alerts: &[&NewAlert],
    now: i64,
) -> DbResult<Vec<Hold>> {
    let places: Vec<Option<Place>> = alerts.iter().copied().map(Place::of).collect();
    let mut shelf = Shelf::read(state, places.iter().flatten().cloned().collect())?;
    let one = |(alert, place): (&&NewAlert, &Option<Place>)| {
        let own = Hold { withheld: alert.holds.withheld, bundle: 0 };
        let Some(place) = place else { return own };
        if let Some(group) = &alert.holds.group {
            let add = |one: Bundle| {
                let gathering = one.gathering().add(now, &group.grouping);
                one.gathered(gathering)
            };
            let bundle = shelf.change(place, add);
            return Hold { withheld: Some(Withholding::Grouped), bundle };
        }
        let Some(limit) = alert.holds.limit else { return own };
        let mut passes = true;
        let bundle = shelf.change(place, |one| {
            let (fits, brake) = one.brake().pass(now, limit);
            passes = fits;
            one.braked(brake)
        });
        if passes { own } else { Hold { withheld: Some(Withholding::Storm), bundle } }
    };
    let holds = alerts.iter().zip(&places).map(one).collect();
    shelf.write(state)?;
    Ok(holds)
}

/// Sends a message that was withheld, unless there are more than its address takes: then the next digest tells of it.
pub(super) fn release(
    state: &mut Statements<'_>,
    alert: u64,
    user: u64,
    address: &Address,
    limit: Option<Limit>,
    now: i64,
) -> DbResult<()> {
    if let Some(limit) = limit {
        let place = Place::of_limit(user, address);
        let mut shelf = Shelf::read(state, BTreeSet::from([place.clone()]))?;
        let mut passes = true;
        let bundle = shelf.change(&place, |one| {
            let (fits, brake) = one.brake().pass(now, limit);
            passes = fits;
            one.braked(brake)
        });
        shelf.write(state)?;
        if !passes {
            let sql = "UPDATE alerts SET withheld = ?, bundleid = ? WHERE alertid = ?";
            let storm = Withholding::Storm.number().into();
            return state.execute(sql, &[storm, bundle.into(), alert.into()]).map(drop);
        }
    }
    let sql = "UPDATE alerts SET status = ?, nextcheck = ? WHERE alertid = ?";
    let new = AlertStatus::New.number().into();
    state.execute(sql, &[new, now.into(), alert.into()]).map(drop)
}
