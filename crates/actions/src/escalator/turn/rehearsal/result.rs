//! What users would have got in all: messages in the order of time, as groups and limits let them go.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use config::db::{DbResult, Reader};
use const_format::formatcp;
use model::alert::outlook::Verdict;
use model::alert::rehearsal::{LISTED_MAX, Planned, Reason, Rehearsed};
use objects::sql::SOURCE_TRIGGER;
use objects::{AlertStatus, AlertType, EventSource, OperationMode, Severity};

use super::notes::{Note, Notes, What};
use super::{People, Plot, Seen as Sees};
use crate::bundles::{Course, Letter, Rules, Seen};
use crate::globals::Globals;
use crate::recipients::{Address, Occasion, Recipients};

const HOUR_S: i64 = 3_600;
/// Hours of the night.
const NIGHT: [std::ops::Range<i8>; 2] = [0..6, 22..24];

pub(super) fn of(
    connection: &mut dyn Reader,
    plot: &Plot<'_>,
    mut notes: Notes,
) -> DbResult<Rehearsed> {
    let all = notes.sorted();
    let users: BTreeSet<u64> = all.iter().map(|note| note.user).collect();
    let nothing = Sees { hosts: &[], services: &[] };
    let mut people = People::read(connection, plot.action.values(), users.into_iter(), &nothing)?;
    // Notes are of users who saw the problems.
    people.directory.users.values_mut().for_each(|user| user.reads = true);
    let globals = Globals::of(plot.turn.snapshot);
    let delivery = Delivery { plot, people: &people, globals: &globals, notes: &notes };
    let (all, till) = delivery.delivered(all);
    let mut found = delivery.counted(all, till);
    compare(connection, plot.span.from..=till, &mut found)?;
    Ok(found)
}

struct Delivery<'a> {
    plot: &'a Plot<'a>,
    people: &'a People,
    globals: &'a Globals<'a>,
    notes: &'a Notes,
}

/// A note, and the letter that was made of it.
type Sent = (Note, Option<Letter>);

impl Delivery<'_> {
    fn address(&self, number: usize) -> Option<Address> {
        let (media_type, sendto) = self.notes.addresses.get(number)?;
        Some(Address { media_type: *media_type, sendto: sendto.clone() })
    }

    /// Sends messages as groups and limits let them go; returns the last second that counts, too.
    fn delivered(&self, all: Vec<Note>) -> (Vec<Sent>, i64) {
        let types = &self.people.directory.media_types;
        let action = self.plot.action.values().next();
        let grouping = action.and_then(|action| action.grouping.as_deref());
        let is_limited = types.values().any(|one| one.limit.is_some());
        if grouping.is_none() && !is_limited {
            return (all.into_iter().map(|note| (note, None)).collect(), self.notes.till);
        }
        let limit = |address: usize| {
            let (media_type, _) = self.notes.addresses.get(address)?;
            types.get(media_type)?.limit
        };
        let is_sent = |note: &Note| note.what == What::Case(Verdict::Sent);
        let letters = (0..).zip(&all).filter(|(_, note)| is_sent(note));
        let letters = letters.filter_map(|(number, note)| self.letter(number, note)).collect();
        let severity = |letter: &Letter| {
            let problem = all.get(letter.note).map(|note| note.problem)?;
            self.notes.fitting.get(problem).map(|problem| problem.of_trigger)
        };
        let takes = |letter: &Letter, now: i64| {
            severity(letter).is_some_and(|severity| self.takes(letter, severity, now))
        };
        let rules = Rules { grouping, limit: &limit, takes: &takes };
        let (letters, till) = Course::new(rules, letters).run(self.notes.till);
        let of_letter = |letter: Letter| {
            let note = all.get(letter.note).copied()?;
            Some((Note { at: letter.at, ..note }, Some(letter)))
        };
        let mut sent: Vec<Sent> = letters.into_iter().filter_map(of_letter).collect();
        sent.extend(all.iter().filter(|note| !is_sent(note)).map(|note| (*note, None)));
        sent.sort_by_key(|(note, _)| note.at);
        (sent, till)
    }

    fn letter(&self, number: usize, note: &Note) -> Option<Letter> {
        let problem = self.notes.fitting.get(note.problem)?;
        Some(Letter {
            note: number,
            at: note.at,
            user: note.user,
            address: note.address?,
            group: problem.group,
            seen: Seen {
                alert: 0,
                action: 0,
                problem: problem.event,
                ended: note.mode == OperationMode::Recovery
                    || problem.end.is_some_and(|end| end < note.at),
                updated: note.mode == OperationMode::Update,
                waits: true,
                step: note.step,
                severity: problem.severity,
                clock: problem.begin,
                open: true,
            },
            end: problem.end,
            tells: 0,
            withheld: None,
        })
    }

    /// Whether the user takes a repetition of the letter now.
    fn takes(&self, letter: &Letter, severity: Severity, now: i64) -> bool {
        let occasion = Occasion {
            source: EventSource::Trigger,
            mode: OperationMode::Problem,
            severity,
            now,
            step: 1,
            author: None,
            involved: &[],
        };
        let (directory, globals) = (&self.people.directory, self.globals);
        let recipients = Recipients { directory, globals, occasion };
        self.address(letter.address).is_some_and(|address| recipients.takes(letter.user, &address))
    }

    /// Counts what came up to the second `till`.
    fn counted(&self, all: Vec<Sent>, till: i64) -> Rehearsed {
        let is_counted = |at: &&i64| **at <= till;
        let begins = self.notes.fitting.iter().map(|one| one.begin);
        let mut counts = Counts {
            found: Rehearsed {
                problems: self.notes.problems.iter().filter(is_counted).count() as u64,
                fitting: begins.filter(|begin| *begin <= till).count() as u64,
                stopped_at: Some(till).filter(|till| *till < self.plot.span.till),
                ..Rehearsed::default()
            },
            hours: BTreeMap::new(),
        };
        let mut zones = BTreeMap::new();
        for (note, letter) in all.into_iter().filter(|(note, _)| note.at <= till) {
            let on_call = self.notes.on_call.get(note.on_call);
            if let Some(name) = on_call.filter(|_| note.what == What::Gap) {
                *counts.found.gaps.entry(name.concat()).or_default() += 1;
            }
            if let Some(planned) = self.planned(&note, letter.as_ref()) {
                let zone = zones.entry(note.user).or_insert_with(|| self.zone(note.user));
                counts.add(planned, zone.clone());
            }
        }
        counts.end()
    }

    fn planned(&self, note: &Note, letter: Option<&Letter>) -> Option<Planned> {
        let (verdict, withheld) = match note.what {
            What::Nothing | What::Gap => return None,
            What::Case(verdict) => (verdict, letter.and_then(|letter| letter.withheld)),
            What::Withheld(reason) => (Verdict::Sent, Some(reason)),
        };
        Some(Planned {
            at: note.at,
            event: self.notes.fitting.get(note.problem)?.event,
            mode: note.mode,
            step: note.step,
            user: note.user,
            address: note.address.and_then(|number| self.notes.addresses.get(number)).cloned(),
            verdict,
            withheld,
            tells: letter.map_or(0, |letter| letter.tells),
            on_call: self.notes.on_call.get(note.on_call).cloned().unwrap_or_default(),
        })
    }

    fn zone(&self, user: u64) -> jiff::tz::TimeZone {
        let zone = self.people.directory.users.get(&user).map_or("default", |one| &one.zone);
        self.globals.zone(zone)
    }
}

/// What is counted.
struct Counts {
    found: Rehearsed,
    hours: BTreeMap<(u64, i64), u64>,
}

impl Counts {
    fn add(&mut self, planned: Planned, zone: jiff::tz::TimeZone) {
        let user = self.found.users.entry(planned.user).or_default();
        match (planned.verdict, planned.withheld) {
            (Verdict::Silent(silence), _) => {
                *user.withheld.entry(Reason::Silent(silence)).or_default() += 1;
                return;
            }
            (Verdict::Sent, Some(reason)) => {
                *user.withheld.entry(Reason::Withheld(reason)).or_default() += 1;
            }
            (Verdict::Sent, None) => {
                user.messages += 1;
                let at = jiff::Timestamp::from_second(planned.at).unwrap_or_default();
                let hour = at.to_zoned(zone).hour();
                user.at_night += u64::from(NIGHT.iter().any(|part| part.contains(&hour)));
                let start = planned.at - planned.at.rem_euclid(HOUR_S);
                *self.hours.entry((planned.user, start)).or_default() += 1;
            }
            (Verdict::NoMedia | Verdict::MediaTypeDisabled | Verdict::NoText, _) => {
                user.failed += 1;
            }
        }
        if self.found.listed.len() < LISTED_MAX {
            self.found.listed.push(planned);
        }
    }

    fn end(mut self) -> Rehearsed {
        for ((user, hour), messages) in self.hours {
            let user = self.found.users.entry(user).or_default();
            if messages > user.busiest_hour.1 {
                user.busiest_hour = (hour, messages);
            }
        }
        self.found
    }
}

/// Compares with what users got in fact.
fn compare(
    connection: &mut dyn Reader,
    span: RangeInclusive<i64>,
    found: &mut Rehearsed,
) -> DbResult<()> {
    let sql = formatcp!(
        "SELECT userid, COUNT(*) AS n FROM alerts WHERE clock >= ? AND clock <= ? \
         AND alerttype = {} AND status = {} AND eventid IN (SELECT eventid FROM events \
         WHERE source = {SOURCE_TRIGGER}) GROUP BY userid",
        AlertType::Message.text(),
        AlertStatus::Sent.text()
    );
    for row in connection.query(sql, &[(*span.start()).into(), (*span.end()).into()])? {
        let user = found.users.entry(row.id("userid")).or_default();
        user.sent = u64::try_from(row.int("n")).unwrap_or(0);
    }
    Ok(())
}
