//! What an action would have sent about problems of the past: their times are taken from the events, everything else is as
//! it is now. Maintenance, dependencies and ranks of the past are not known, so that nothing is paused.

mod notes;
mod past;
mod replay;
mod result;

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, Row, query_by_ids};
use const_format::formatcp;
use model::alert::rehearsal::{Rehearsed, Span};
use objects::Severity;
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};

use super::{Action, Event, Look, News, People, Seen, Turn};
use notes::{Fitting, Notes};
pub(in crate::escalator) use past::Calmed;
use past::{Life, Past, Update};
use replay::Replay;

/// Problems that are read at once.
const BATCH_MAX: usize = 500;
/// Problems of one rehearsal.
const PROBLEMS_MAX: u64 = 100_000;

/// What is rehearsed, and for whom.
#[derive(Clone, Copy)]
pub(in crate::escalator) struct Plot<'a> {
    pub(in crate::escalator) turn: &'a Turn<'a>,
    /// The action, with its id.
    pub(in crate::escalator) action: &'a BTreeMap<u64, Action>,
    pub(in crate::escalator) calmed: &'a Calmed,
    pub(in crate::escalator) span: Span,
    /// The user whose problems count.
    pub(in crate::escalator) reader: u64,
}

/// How far a rehearsal has come.
#[derive(Debug)]
pub(in crate::escalator) struct Rehearsal {
    /// Time and id of the last problem.
    last: (i64, u64),
    /// Problems that were looked at, also those that the caller does not see.
    looked_at: u64,
    past: Past,
    notes: Notes,
}

impl Rehearsal {
    pub(in crate::escalator) fn start(
        connection: &mut dyn Reader,
        plot: &Plot<'_>,
    ) -> DbResult<Self> {
        let (past, till) = Past::read(connection, plot.turn.snapshot, plot.calmed, plot.span)?;
        let last = (plot.span.from - 1, i64::MAX.unsigned_abs());
        Ok(Self { last, looked_at: 0, past, notes: Notes::new(till) })
    }

    /// The next problems, as far as the user sees them; returns whether there are more.
    pub(in crate::escalator) fn go_on(
        &mut self,
        connection: &mut dyn Reader,
        plot: &Plot<'_>,
    ) -> DbResult<bool> {
        let lives = self.read(connection, self.notes.till)?;
        let Some(action) = plot.action.values().next() else { return Ok(false) };
        let opened: Vec<u64> = lives.keys().copied().collect();
        if opened.is_empty() {
            return Ok(false);
        }
        let news = News { opened, ..News::default() };
        let mut look = Look::read(plot.turn, connection, plot.action, &news, &BTreeMap::new())?;
        let hosts: BTreeSet<u64> =
            look.objects.values().flat_map(|one| &one.hosts).copied().collect();
        let seen = Seen { hosts: &Vec::from_iter(hosts), services: &[] };
        let reader = plot.reader;
        let mut own = People::read(connection, std::iter::empty(), std::iter::once(reader), &seen)?;
        for (id, life) in &lives {
            if life.begin > self.notes.till {
                continue;
            }
            let Some(event) = look.events.get(id).cloned() else { continue };
            let hosts = look.object(&event).map(|one| one.hosts.clone()).unwrap_or_default();
            own.look_at(&hosts, &event.tags);
            if !own.directory.users.get(&reader).is_some_and(|user| user.reads) {
                continue;
            }
            self.notes.problems.push(life.begin);
            let subject = look.subject(connection, &event)?;
            if !subject.is_some_and(|subject| action.filter.fits(&*subject)) {
                continue;
            }
            if plot.calmed.calming.is_some() {
                self.past.learn(connection, event.trigger(), plot.span)?;
            }
            look.see(&event);
            self.replay(&look, plot, action, &event, life);
        }
        self.looked_at += lives.len() as u64;
        let is_full = lives.len() == BATCH_MAX;
        if is_full && self.looked_at >= PROBLEMS_MAX {
            // Others of the same second may follow.
            let first = self.notes.problems.first().copied().unwrap_or(self.last.0);
            self.notes.stop((self.last.0 - 1).max(first));
            return Ok(false);
        }
        Ok(is_full)
    }

    fn replay(
        &mut self,
        look: &Look<'_>,
        plot: &Plot<'_>,
        action: &Action,
        event: &Event,
        life: &Life,
    ) {
        let key = action.grouping.as_ref().map(|grouping| {
            let hosts = look.host_names(event, |host| &host.host);
            let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
            grouping.key(&hosts, &event.tags).to_text()
        });
        let group = key.map(|key| self.notes.groups.of(key));
        let problem = self.notes.fitting.len();
        self.notes.fitting.push(Fitting {
            event: event.id,
            begin: life.begin,
            end: life.end,
            severity: Severity::from_number(event.severity).unwrap_or(Severity::NotClassified),
            of_trigger: look.severity(event),
            group,
        });
        let (notes, past, calmed) = (&mut self.notes, &mut self.past, plot.calmed);
        let told = Vec::new();
        Replay { notes, past, look, action, calmed, event, problem, told }.run(life);
    }

    fn read(&mut self, connection: &mut dyn Reader, till: i64) -> DbResult<BTreeMap<u64, Life>> {
        let sql = formatcp!(
            "SELECT e.clock AS clock, e.eventid AS eventid, r.clock AS r_clock FROM events e \
             LEFT JOIN events r ON r.eventid = e.r_eventid \
             WHERE (e.clock, e.eventid) > (?, ?) AND e.clock <= ? AND e.source = {SOURCE_TRIGGER} \
             AND e.object = {OBJECT_TRIGGER} AND e.value = 1 \
             ORDER BY e.clock, e.eventid LIMIT {BATCH_MAX}"
        );
        let (clock, event) = self.last;
        let rows = connection.query(sql, &[clock.into(), event.into(), till.into()])?;
        let life = |row: &Row| {
            let end = Some(row.int("r_clock")).filter(|end| *end > 0);
            (row.id("eventid"), Life { begin: row.int("clock"), end, updates: Vec::new() })
        };
        let mut lives: BTreeMap<u64, Life> = rows.iter().map(life).collect();
        if let Some(row) = rows.last() {
            self.last = (row.int("clock"), row.id("eventid"));
        }
        let sql = "SELECT eventid, userid, clock, action FROM acknowledges \
                   WHERE eventid IN ({ids}) ORDER BY acknowledgeid";
        let ids = Vec::from_iter(lives.keys().copied());
        for row in query_by_ids(connection, sql, &[], &ids)? {
            if let Some(life) = lives.get_mut(&row.id("eventid")) {
                life.updates.push(Update {
                    at: row.int("clock"),
                    user: row.id("userid"),
                    actions: u32::try_from(row.int("action")).unwrap_or(0),
                });
            }
        }
        Ok(lives)
    }

    /// What the action would have sent, beside what was sent in fact.
    pub(in crate::escalator) fn end(
        self,
        connection: &mut dyn Reader,
        plot: &Plot<'_>,
    ) -> DbResult<Rehearsed> {
        result::of(connection, plot, self.notes)
    }
}
