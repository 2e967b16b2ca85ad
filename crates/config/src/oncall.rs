//! On-call schedules as they are stored.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ::oncall::{
    Entry, Layer, OnHolidays, Override, Period, Restriction, Rotation, Schedule, Source, calendar,
    second_of_day,
};
use jiff::tz::TimeZone;
use serde::Deserialize;

use crate::db::{DbResult, Reader, Row, query_by_ids};

/// A schedule with its name.
#[derive(Debug, Clone)]
pub struct Named {
    pub name: String,
    pub schedule: Schedule,
    /// What calendars of its layers lack, by the layer.
    pub errors: BTreeMap<usize, String>,
    /// A calendar is one of its sources: what it says depends on when it was read.
    pub has_calendar: bool,
}

/// A restriction in its column.
#[derive(Debug, Clone, Deserialize)]
struct StoredRestriction {
    weekdays: String,
    from: String,
    to: String,
}

impl StoredRestriction {
    fn read(&self) -> Option<Restriction> {
        Some(Restriction {
            weekdays: self.weekdays.parse().ok()?,
            from: second_of_day(&self.from)?,
            to: second_of_day(&self.to)?,
        })
    }
}

/// The time zone of this name.
pub fn zone(name: &str) -> TimeZone {
    match name {
        "system" => TimeZone::system(),
        name => TimeZone::get(name).unwrap_or(TimeZone::UTC),
    }
}

/// What is read of calendars where nothing else limits it: some time before and after `now`.
pub fn around(now: i64) -> Range<i64> {
    now.saturating_sub(100 * 86_400)..now.saturating_add(500 * 86_400)
}

/// Schedules by id; of ids that do not exist there are none. Of calendars only the times that touch `within` are read.
pub fn read(
    connection: &mut dyn Reader,
    ids: &[u64],
    within: &Range<i64>,
) -> DbResult<BTreeMap<u64, Named>> {
    let mut of = |sql: &str| query_by_ids(connection, sql, &[], ids);
    let rows = of("SELECT * FROM oncall_schedules WHERE scheduleid IN ({ids})")?;
    let layers = by_schedule(of(
        "SELECT * FROM oncall_layers WHERE scheduleid IN ({ids}) ORDER BY scheduleid, position",
    )?);
    let users = by_schedule(of("SELECT * FROM oncall_layer_users WHERE scheduleid IN ({ids}) \
         ORDER BY scheduleid, layer, position")?);
    let holidays = by_schedule(of("SELECT * FROM oncall_holidays WHERE scheduleid IN ({ids})")?);
    let overrides = by_schedule(of(
        "SELECT * FROM oncall_overrides WHERE scheduleid IN ({ids}) ORDER BY overrideid",
    )?);
    let mut found = BTreeMap::new();
    for row in &rows {
        let id = row.id("scheduleid");
        let list = |rows: &BTreeMap<u64, Vec<Row>>| rows.get(&id).cloned().unwrap_or_default();
        let parts =
            Parts { zone: zone(row.text("timezone")), users: list(&users), within: within.clone() };
        let mut schedule = Schedule {
            zone: parts.zone.clone(),
            layers: Vec::new(),
            overrides: list(&overrides).iter().map(override_of).collect(),
            holidays: list(&holidays)
                .iter()
                .filter_map(|row| row.text("date").parse().ok())
                .collect(),
        };
        schedule.holidays.extend(parts.holidays(row.text("holiday_calendar")));
        let (mut errors, mut names) = (BTreeMap::new(), None);
        let mut has_calendar = !row.text("holiday_calendar").is_empty();
        for (n, row) in list(&layers).iter().enumerate() {
            let text = row.text("calendar");
            let source = if text.is_empty() {
                Source::Rotation(parts.rotation(row))
            } else {
                has_calendar = true;
                let names = match &names {
                    Some(names) => names,
                    None => names.insert(Names::read(connection, id)?),
                };
                let (entries, error) = parts.entries(text, names);
                errors.extend(error.map(|error| (n, error)));
                Source::Calendar(entries)
            };
            schedule.layers.push(layer(row, source));
        }
        let name = row.text("name").to_owned();
        found.insert(id, Named { name, schedule, errors, has_calendar });
    }
    Ok(found)
}

/// What the layers of a schedule share.
struct Parts {
    zone: TimeZone,
    users: Vec<Row>,
    within: Range<i64>,
}

impl Parts {
    fn rotation(&self, layer: &Row) -> Rotation {
        let own = self.users.iter().filter(|row| row.int("layer") == layer.int("position"));
        Rotation {
            users: own.map(|row| row.id("userid")).collect(),
            period: Period::parse(layer.text("period")).unwrap_or(Period::WEEK),
            handoff: second_of_day(layer.text("handoff")),
        }
    }

    fn holidays(&self, text: &str) -> BTreeSet<jiff::civil::Date> {
        if text.is_empty() {
            return BTreeSet::new();
        }
        let events = calendar::read(text, &self.zone, &self.within).unwrap_or_default();
        calendar::days(&events, &self.zone)
    }

    /// Shifts of a calendar, and what is wrong with it.
    fn entries(&self, text: &str, names: &Names) -> (Vec<Entry>, Option<String>) {
        let events = match calendar::read(text, &self.zone, &self.within) {
            Ok(events) => events,
            Err(error) => return (Vec::new(), Some(format!("Cannot read the calendar: {error}."))),
        };
        let mut unknown: Option<(usize, String)> = None;
        let mut entries = Vec::new();
        for event in events {
            match names.user(&event) {
                Some(user) => entries.push(Entry { user, time: event.time }),
                None => unknown.get_or_insert((0, event.summary)).0 += 1,
            }
        }
        let error = unknown.map(|(count, first)| {
            format!("{count} event(s) of the calendar name no user, such as \"{first}\".")
        });
        (entries, error)
    }
}

fn layer(row: &Row, source: Source) -> Layer {
    let stored: Vec<StoredRestriction> =
        serde_json::from_str(row.text("restrictions")).unwrap_or_default();
    Layer {
        source,
        start: row.int("time_from"),
        end: Some(row.int("time_till")).filter(|end| *end > 0),
        restrictions: stored.iter().filter_map(StoredRestriction::read).collect(),
        on_holidays: match row.int("on_holidays") {
            1 => OnHolidays::Never,
            2 => OnHolidays::Only,
            _ => OnHolidays::Same,
        },
    }
}

fn override_of(row: &Row) -> Override {
    Override {
        id: row.id("overrideid"),
        user: row.id("userid"),
        time: row.int("time_from")..row.int("time_till"),
    }
}

fn by_schedule(rows: Vec<Row>) -> BTreeMap<u64, Vec<Row>> {
    let mut found: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    for row in rows {
        found.entry(row.id("scheduleid")).or_default().push(row);
    }
    found
}

/// How calendars name users: in lower case, the user name, the name and surname, addresses of e-mail.
struct Names(BTreeMap<String, u64>);

impl Names {
    /// Users of the schedule's user groups; without groups, all users.
    fn read(connection: &mut dyn Reader, schedule: u64) -> DbResult<Self> {
        const MEMBER: &str = "(u.userid IN (SELECT m.userid FROM user_groups m JOIN oncall_groups g \
             ON g.usrgrpid = m.usrgrpid WHERE g.scheduleid = ?) \
             OR NOT EXISTS (SELECT 1 FROM oncall_groups n WHERE n.scheduleid = ?))";
        let ids = [schedule.into(), schedule.into()];
        let mut names = BTreeMap::new();
        let sql = format!(
            "SELECT u.userid, m.sendto FROM users u JOIN media m ON m.userid = u.userid \
             JOIN media_types t ON t.mediatypeid = m.mediatypeid WHERE t.type = {} AND {MEMBER} \
             ORDER BY u.userid DESC",
            ::objects::MediaTypeKind::Email.number()
        );
        for row in connection.query(&sql, &ids)? {
            for address in row.text("sendto").lines() {
                names.insert(address.trim().to_lowercase(), row.id("userid"));
            }
        }
        let sql = format!(
            "SELECT u.userid, u.username, u.name, u.surname FROM users u WHERE {MEMBER} \
             ORDER BY u.userid DESC"
        );
        let users = connection.query(&sql, &ids)?;
        for row in &users {
            let whole = format!("{} {}", row.text("name"), row.text("surname"));
            names.insert(whole.trim().to_lowercase(), row.id("userid"));
        }
        // The user name decides.
        for row in &users {
            names.insert(row.text("username").to_lowercase(), row.id("userid"));
        }
        names.remove("");
        Ok(Self(names))
    }

    fn user(&self, event: &calendar::Event) -> Option<u64> {
        let names = event.attendees.iter().chain([&event.summary]);
        names.map(|name| name.trim().to_lowercase()).find_map(|name| self.0.get(&name).copied())
    }
}
