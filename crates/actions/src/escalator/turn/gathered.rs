//! What a bundle tells when it is due.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use config::db::{Cells, DbResult, Reader, Value, query_by_ids};
use config::{Statements, table};
use const_format::formatcp;
use model::HostId;
use objects::sql::SOURCE_TRIGGER;
use objects::{AlertStatus, MediaTypeKind, MessageFormat, OperationMode, Severity, Withholding};

use super::{About, Action, Configured, Event, Look, News, Turn};
use crate::bundles::{
    Counts, Entry, Format, Found, Grouping, Key, Limit, Line, Seen, State, Summary, Tally, Tell,
    link,
};
use crate::escalator::alerts::{Holds, Kind, NewAlert};
use crate::escalator::gathered::{self, Bundle};
use crate::escalator::stored;
use crate::recipients::{Draft, Fate, Occasion, Recipients, Text};

/// Hosts that a digest names.
const HOSTS_MAX: usize = 10;

/// Messages of a bundle that wait.
const WAITS: &str =
    formatcp!("bundleid = ? AND status = {} AND carrierid = 0", AlertStatus::Withheld.text());
/// The problem of an alert `a`.
const PROBLEM: &str = "CASE WHEN a.p_eventid <> 0 THEN a.p_eventid ELSE a.eventid END";

const NOT_SEEN: &str = "The user can no longer see the problems of this message.";
const FAULTY: &str =
    "Internal error: the text of the message could not be made. See the server's log.";
const DELETED: &str = "The problem was deleted before the message was sent.";

/// What is written when a bundle was due.
#[derive(Debug)]
pub(in crate::escalator) struct Flush {
    bundle: Bundle,
    tells: Tells,
    /// `None` = the bundle ends.
    next: Option<Bundle>,
    limit: Option<Limit>,
}

#[derive(Debug)]
enum Tells {
    Nothing,
    /// The message with this id is sent.
    One(u64),
    /// This one tells of those that wait.
    Summary(Box<NewAlert>),
    /// Those that wait are not sent, and this is why.
    Fails(&'static str),
}

impl Turn<'_> {
    /// Decides what a due bundle tells, and makes the text.
    pub(in crate::escalator) fn flush(
        &self,
        connection: &mut dyn Reader,
        configured: &mut Configured,
        bundle: &Bundle,
    ) -> DbResult<Flush> {
        let actions = configured.of(connection, self.snapshot, self.now)?;
        let tally = tally(connection, bundle.id)?;
        let media_type = MediaType::read(connection, bundle.place.address.media_type)?;
        let action = actions.get(&bundle.place.action);
        let mut teller = Teller { turn: self, actions: &actions, bundle, tally: &tally };
        let grouping = action.filter(|one| one.enabled).and_then(|one| one.grouping.as_deref());
        let (tell, braked) = match bundle.place.kind {
            Withholding::Storm => bundle.brake().look(self.now, tally.waiting, media_type.limit),
            _ => {
                let found = Found { waiting: tally.waiting, open: tally.open };
                (bundle.gathering().look(self.now, found, grouping), None)
            }
        };
        let tells = match tell {
            Tell::Nothing => Tells::Nothing,
            Tell::One => Tells::One(tally.last),
            Tell::Summary => teller
                .summary(connection, &media_type, false)?
                .map_or(Tells::Fails(NOT_SEEN), |alert| Tells::Summary(Box::new(alert))),
            Tell::Open => teller
                .summary(connection, &media_type, true)?
                .map_or(Tells::Nothing, |alert| Tells::Summary(Box::new(alert))),
        };
        let next = match bundle.place.kind {
            Withholding::Storm => braked.map(|brake| bundle.clone().braked(brake)),
            _ => gathered(self.now, bundle, &tells, tally.open, grouping),
        };
        let limit = media_type.limit.filter(|_| bundle.place.kind != Withholding::Storm);
        Ok(Flush { bundle: bundle.clone(), tells, next, limit })
    }
}

fn gathered(
    now: i64,
    bundle: &Bundle,
    tells: &Tells,
    open: u64,
    grouping: Option<&Grouping>,
) -> Option<Bundle> {
    let has_told = !matches!(tells, Tells::Nothing);
    let next = bundle.gathering().next(now, has_told, open, grouping)?;
    Some(bundle.clone().gathered(next))
}

impl Flush {
    /// Of a bundle whose text cannot be made.
    pub(in crate::escalator) fn faulty(bundle: &Bundle) -> Self {
        let tells = Tells::Fails(FAULTY);
        Self { bundle: bundle.clone(), tells, next: None, limit: None }
    }

    /// The same without what the database may refuse.
    pub(in crate::escalator) fn plain(mut self) -> Self {
        if let Tells::Summary(alert) = &mut self.tells {
            (alert.text, alert.parameters) = <_>::default();
            alert.fate = Fate::Refused;
        }
        self
    }

    pub(in crate::escalator) fn write(&self, state: &mut Statements<'_>, now: i64) -> DbResult<()> {
        let bundle = &self.bundle;
        let id = Value::from(bundle.id);
        let place = &bundle.place;
        match &self.tells {
            Tells::Nothing => {}
            Tells::One(alert) => {
                gathered::release(state, *alert, place.user, &place.address, self.limit, now)?;
            }
            Tells::Summary(alert) => {
                let carrier = stored::write_alerts(state, std::slice::from_ref(&**alert), now)?;
                let sql = formatcp!("UPDATE alerts SET carrierid = ? WHERE {WAITS}");
                state.execute(sql, &[carrier.unwrap_or(0).into(), id.clone()])?;
            }
            Tells::Fails(why) => fail(state, &id, why)?,
        }
        match &self.next {
            Some(next) => next.update(state)?,
            None => {
                fail(state, &id, DELETED)?;
                state.delete(&table::BUNDLES, "bundleid", &[bundle.id])?;
            }
        }
        // What is left of a group are the problems that are open.
        let done = match place.kind {
            Withholding::Storm => "1 = 1".to_owned(),
            _ => format!(
                "NOT EXISTS (SELECT 1 FROM problems p WHERE p.r_eventid = 0 AND p.eventid = {})",
                PROBLEM.replace("a.", "alerts.")
            ),
        };
        let sql = format!(
            "UPDATE alerts SET bundleid = 0 WHERE bundleid = ? \
             AND NOT (status = {} AND carrierid = 0) AND {done}",
            AlertStatus::Withheld.text()
        );
        state.execute(&sql, &[id]).map(drop)
    }
}

/// Those that wait are not sent.
fn fail(state: &mut Statements<'_>, bundle: &Value, why: &str) -> DbResult<()> {
    let sql = formatcp!(
        "UPDATE alerts SET status = {}, error = ? WHERE {WAITS}",
        AlertStatus::Failed.text()
    );
    state.execute(sql, &[why.into(), bundle.clone()]).map(drop)
}

/// Counts the messages of a bundle, without their texts: there may be very many.
fn tally(connection: &mut dyn Reader, bundle: u64) -> DbResult<Tally> {
    let sql = format!(
        "SELECT a.alertid, a.actionid, e.eventid, a.p_eventid, a.acknowledgeid, \
         CASE WHEN a.status = {} AND a.carrierid = 0 THEN 1 ELSE 0 END AS waits, a.esc_step, \
         COALESCE(p.severity, e.severity) AS severity, e.clock, \
         CASE WHEN p.eventid IS NULL OR p.r_eventid <> 0 THEN 0 ELSE 1 END AS is_open \
         FROM alerts a JOIN events e ON e.eventid = {PROBLEM} \
         LEFT JOIN problems p ON p.eventid = e.eventid \
         WHERE a.bundleid = ? ORDER BY e.eventid, a.alertid",
        AlertStatus::Withheld.text()
    );
    let mut tally = Tally::default();
    connection.each_until(&sql, &[bundle.into()], &mut |row: &dyn Cells| {
        tally.add(&Seen {
            alert: row.id(0),
            action: row.id(1),
            problem: row.id(2),
            ended: row.id(3) != 0,
            updated: row.id(4) != 0,
            waits: row.int(5) == 1,
            step: u32::try_from(row.int(6)).unwrap_or(0),
            severity: Severity::from_number(row.int(7)).unwrap_or(Severity::NotClassified),
            clock: row.int(8),
            open: row.int(9) == 1,
        });
        ControlFlow::Continue(())
    })?;
    tally.finish();
    Ok(tally)
}

/// What summaries depend on.
struct MediaType {
    enabled: bool,
    format: Format,
    limit: Option<Limit>,
}

impl MediaType {
    fn read(connection: &mut dyn Reader, id: u64) -> DbResult<Self> {
        let sql = "SELECT type, status, message_format, storm_limit FROM media_types \
                   WHERE mediatypeid = ?";
        let rows = connection.query(sql, &[id.into()])?;
        let Some(row) = rows.first() else {
            return Ok(Self { enabled: false, format: Format::Plain, limit: None });
        };
        let is_html = MediaTypeKind::Email.is(row.int("type"))
            && MessageFormat::Html.is(row.int("message_format"));
        Ok(Self {
            enabled: objects::Status::Enabled.is(row.int("status")),
            format: if is_html { Format::Html } else { Format::Plain },
            limit: Limit::parse(row.text("storm_limit")),
        })
    }
}

/// Makes the message that tells of a bundle.
struct Teller<'t, 'a> {
    turn: &'t Turn<'a>,
    actions: &'t BTreeMap<u64, Action>,
    bundle: &'t Bundle,
    tally: &'t Tally,
}

/// The problems of a summary that its recipient may see.
#[derive(Default)]
struct Listed {
    lines: Vec<Line>,
    /// Whose macros the message has.
    carrier: Option<(Event, Entry)>,
    hidden: u64,
}

impl Teller<'_, '_> {
    /// `None` = the user may not see any of the problems, or takes no repetition now. `open`: of what is still open.
    fn summary(
        &mut self,
        connection: &mut dyn Reader,
        media_type: &MediaType,
        open: bool,
    ) -> DbResult<Option<NewAlert>> {
        let (entries, _) = self.tally.listed(open);
        let news =
            News { opened: entries.iter().map(|entry| entry.problem).collect(), ..News::default() };
        let mut look = Look::read(self.turn, connection, self.actions, &news, &BTreeMap::new())?;
        let listed = self.listed(connection, &mut look, entries)?;
        let Some((event, entry)) = &listed.carrier else { return Ok(None) };
        if open && !self.takes(&mut look, event) {
            return Ok(None);
        }
        let summary = match self.bundle.place.kind {
            Withholding::Storm => self.storm(connection)?,
            _ => self.group(connection, &look, &listed, open)?,
        };
        let text = Text { subject: summary.subject(), message: summary.message(media_type.format) };
        let fate = if media_type.enabled { Fate::Send } else { Fate::MediaTypeDisabled };
        let place = &self.bundle.place;
        let draft = Draft { user: place.user, address: Some(place.address.clone()), text, fate };
        let about = match entry.state {
            State::Resolved if event.recovery != 0 => About::recovery(event),
            _ => About::problem(event, entry.step),
        };
        let alerts = look.expanded(connection, entry.action, event, about, vec![draft], true)?;
        let limit = media_type.limit.filter(|_| place.kind != Withholding::Storm);
        let holds = Holds { limit, ..Holds::default() };
        Ok(alerts.into_iter().next().map(|alert| NewAlert { holds, kind: Kind::Summary, ..alert }))
    }

    /// Rights are looked at again: they may have changed since the messages were made.
    fn listed(
        &self,
        connection: &mut dyn Reader,
        look: &mut Look<'_>,
        entries: &[Entry],
    ) -> DbResult<Listed> {
        let ends = ends(connection, look)?;
        let mut listed = Listed::default();
        for entry in entries {
            let Some(event) = look.events.get(&entry.problem).cloned() else { continue };
            look.see(&event);
            let user = look.people.directory.users.get(&self.bundle.place.user);
            if !user.is_some_and(|user| user.reads && !user.disabled) {
                listed.hidden += 1;
                continue;
            }
            let until = match ends.get(&event.recovery) {
                Some(end) if entry.state == State::Resolved => *end,
                _ => self.turn.now,
            };
            let hosts = look.host_names(&event, |host| &host.name);
            listed.lines.push(Line {
                severity: entry.severity,
                state: entry.state,
                hosts: hosts.join(", "),
                name: event.name.clone(),
                age_s: u32::try_from((until - entry.clock).max(0)).unwrap_or(u32::MAX),
                acknowledged: event.acknowledged,
            });
            let is_better = match &listed.carrier {
                None => true,
                Some((_, other)) => {
                    other.state == State::Resolved && entry.state != State::Resolved
                }
            };
            if is_better {
                listed.carrier = Some((event, *entry));
            }
        }
        Ok(listed)
    }

    /// Whether the user takes a repetition about the problem now.
    fn takes(&self, look: &mut Look<'_>, event: &Event) -> bool {
        look.see(event);
        let occasion = Occasion {
            source: event.source,
            mode: OperationMode::Problem,
            severity: look.severity(event),
            now: self.turn.now,
            step: 1,
            author: None,
            involved: &[],
        };
        let directory = &look.people.directory;
        let recipients = Recipients { directory, globals: &look.globals, occasion };
        recipients.takes(self.bundle.place.user, &self.bundle.place.address)
    }

    fn group(
        &self,
        connection: &mut dyn Reader,
        look: &Look<'_>,
        listed: &Listed,
        open: bool,
    ) -> DbResult<Summary> {
        let key = Key::parse(&self.bundle.place.key);
        let action = self.actions.get(&self.bundle.place.action);
        let mut counts = Counts::of(self.tally, open);
        counts.all = counts.all.saturating_sub(listed.hidden);
        let hosts = listed.carrier.iter().filter(|_| key.has_hosts());
        let hosts: BTreeSet<u64> = hosts
            .filter_map(|(event, _)| look.object(event))
            .flat_map(|object| object.hosts.iter().copied())
            .collect();
        let link = link(&url(connection)?, &key, &Vec::from_iter(hosts));
        let action = action.map_or("Problems", |action| &action.name).to_owned();
        Ok(Summary::Group { action, key, counts, lines: listed.lines.clone(), link })
    }

    fn storm(&self, connection: &mut dyn Reader) -> DbResult<Summary> {
        Ok(Summary::Storm {
            messages: self.tally.waiting,
            by_severity: self.tally.by_severity,
            by_host: by_host(connection, self.bundle.id)?,
            link: link(&url(connection)?, &Key::default(), &[]),
        })
    }
}

/// Hosts with the most messages that wait.
fn by_host(connection: &mut dyn Reader, bundle: u64) -> DbResult<Vec<(String, u64)>> {
    let sql = format!(
        "SELECT h.name AS name, COUNT(DISTINCT a.alertid) AS n FROM alerts a \
         JOIN events e ON e.eventid = {PROBLEM} AND e.source = {SOURCE_TRIGGER} \
         JOIN functions f ON f.triggerid = e.objectid JOIN items i ON i.itemid = f.itemid \
         JOIN hosts h ON h.hostid = i.hostid \
         WHERE a.bundleid = ? AND a.status = {} AND a.carrierid = 0 \
         GROUP BY h.hostid, h.name ORDER BY n DESC, h.name LIMIT {HOSTS_MAX}",
        AlertStatus::Withheld.text()
    );
    let rows = connection.query(&sql, &[bundle.into()])?;
    Ok(rows.iter().map(|row| (row.text("name").to_owned(), row.id("n"))).collect())
}

/// When problems ended, by the events that ended them.
fn ends(connection: &mut dyn Reader, look: &Look<'_>) -> DbResult<BTreeMap<u64, i64>> {
    let ids = look.events.values().map(|event| event.recovery).filter(|id| *id != 0);
    let ids: BTreeSet<u64> = ids.collect();
    let sql = "SELECT eventid, clock FROM events WHERE eventid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], &Vec::from_iter(ids))?;
    Ok(rows.iter().map(|row| (row.id("eventid"), row.int("clock"))).collect())
}

/// The address of the interface.
fn url(connection: &mut dyn Reader) -> DbResult<String> {
    let rows = connection.query("SELECT value FROM settings WHERE name = 'url'", &[])?;
    Ok(rows.first().map_or("", |row| row.text("value")).to_owned())
}

impl Look<'_> {
    /// Names of the hosts that an event is about.
    pub(super) fn host_names(
        &self,
        event: &Event,
        name: impl Fn(&config::snapshot::Host) -> &str,
    ) -> Vec<String> {
        let hosts = self.object(event).into_iter().flat_map(|object| &object.hosts);
        let known = hosts.filter_map(|id| self.turn.snapshot.hosts.get(&HostId(*id)));
        known.map(|host| name(host).to_owned()).collect()
    }
}
