//! iCalendar (RFC 5545): shifts as a calendar, and calendars as the source of shifts and holidays.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use calcard::common::PartialDateTime;
use calcard::common::timezone::Tz;
use calcard::icalendar::{
    ICalendar, ICalendarComponent, ICalendarComponentType, ICalendarFrequency, ICalendarProperty,
    ICalendarRecurrenceRule, ICalendarStatus, ICalendarValue,
};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::wall::{date_of, wall_of};

/// Bytes of a calendar that is read.
pub const CALENDAR_MAX: usize = 256 * 1024;
/// Events of a calendar that is read, each with its repetitions.
const EVENTS_MAX: usize = 2_000;
/// Events with rules of repetition: a rule may be looked at in vain for a while.
const RULES_MAX: usize = 100;
/// Times of a day that a rule may have.
const TIMES_OF_DAY_MAX: usize = 24;
/// Times of all events together.
const TIMES_MAX: usize = 20_000;

/// A time of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub time: Range<i64>,
    pub summary: String,
    /// Addresses of those who attend, without `mailto:`.
    pub attendees: Vec<String>,
}

/// Why a text is no calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CalendarError {
    /// More bytes or events than a calendar may have.
    TooLarge,
    /// A rule repeats its event more often than a calendar may.
    TooOften,
    /// A rule has a day that no month has.
    NoDay,
    NoCalendar,
}

impl fmt::Display for CalendarError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => {
                "the calendar is too large: the limits are 256 KiB, 2,000 events, 100 of them with a rule, and 20,000 repetitions"
            }
            Self::TooOften => {
                "a rule (RRULE) repeats its event too often: the limits are FREQ=DAILY and 24 times a day"
            }
            Self::NoDay => {
                "a rule (RRULE) never applies: none of its months (BYMONTH) has any of its days (BYMONTHDAY)"
            }
            Self::NoCalendar => "the text is not a calendar (iCalendar, RFC 5545)",
        })
    }
}

impl std::error::Error for CalendarError {}

/// The times of a calendar's events that touch `within`, oldest first. Times without a zone, and days, are the zone's.
pub fn read(text: &str, zone: &TimeZone, within: &Range<i64>) -> Result<Vec<Event>, CalendarError> {
    if text.len() > CALENDAR_MAX {
        return Err(CalendarError::TooLarge);
    }
    // The parser accepts parts of calendars, of which the rest may be missing.
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let is =
        |part: Option<&[u8]>, word: &[u8]| part.is_some_and(|part| part.eq_ignore_ascii_case(word));
    let (bytes, begin, end) = (text.as_bytes(), b"BEGIN:VCALENDAR", b"END:VCALENDAR");
    let tail = bytes.len().saturating_sub(end.len());
    if !is(bytes.get(..begin.len()), begin) || !is(bytes.get(tail..), end) {
        return Err(CalendarError::NoCalendar);
    }
    let calendar = ICalendar::parse(text).map_err(|_| CalendarError::NoCalendar)?;
    let events = || calendar.components.iter().filter(|one| one.component_type.is_event());
    let rules = events().filter(|event| event.has_property(&ICalendarProperty::Rrule)).count();
    if events().count() > EVENTS_MAX || rules > RULES_MAX {
        return Err(CalendarError::TooLarge);
    }
    let rules = events().flat_map(|event| event.properties(&ICalendarProperty::Rrule));
    for value in rules.flat_map(|entry| &entry.values) {
        if let ICalendarValue::RecurrenceRule(rule) = value {
            check_rule(rule)?;
        }
    }
    let zone: Tz = zone.iana_name().and_then(|name| name.parse().ok()).unwrap_or_default();
    let times = calendar.expand_dates(zone, TIMES_MAX).events;
    if times.len() > TIMES_MAX {
        return Err(CalendarError::TooLarge);
    }
    let mut events = Vec::new();
    for time in times {
        let Some(event) = calendar.component_by_id(time.comp_id) else { continue };
        if !event.component_type.is_event() || event.status() == Some(&ICalendarStatus::Cancelled) {
            continue;
        }
        let elapsed = time.timestamps();
        // A week ends at the time of day at which it began.
        let by_clock = time.try_into_date_time();
        let (from, to) =
            by_clock.map_or(elapsed, |time| (time.start.timestamp(), time.end.timestamp()));
        if from < to && from < within.end && to > within.start {
            events.push(Event {
                time: from..to,
                summary: summary(event),
                attendees: attendees(event),
            });
        }
    }
    events.sort_by_key(|event| (event.time.start, event.time.end));
    Ok(events)
}

/// Refuses rules whose times are searched for a long time: dense ones, and those that never apply.
fn check_rule(rule: &ICalendarRecurrenceRule) -> Result<(), CalendarError> {
    use ICalendarFrequency::{Daily, Monthly, Weekly, Yearly};
    let times = [&rule.byhour, &rule.byminute, &rule.bysecond].map(|list| list.len().max(1));
    let often = times.iter().product::<usize>() > TIMES_OF_DAY_MAX;
    if often || !matches!(rule.freq, Daily | Weekly | Monthly | Yearly) {
        return Err(CalendarError::TooOften);
    }
    let exists = |month: u8, day: i8| day.unsigned_abs() <= longest(month);
    let (months, days) = (&rule.bymonth, &rule.bymonthday);
    let any = months.iter().any(|month| days.iter().any(|day| exists(month.month(), *day)));
    if !months.is_empty() && !days.is_empty() && !any {
        return Err(CalendarError::NoDay);
    }
    Ok(())
}

/// Days of a month in its longest year.
fn longest(month: u8) -> u8 {
    match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn summary(event: &ICalendarComponent) -> String {
    let entry = event.property(&ICalendarProperty::Summary);
    let text = entry.and_then(|entry| entry.values.first()?.as_text());
    text.unwrap_or_default().trim().to_owned()
}

fn attendees(event: &ICalendarComponent) -> Vec<String> {
    let found = event.properties(&ICalendarProperty::Attendee);
    found.filter_map(|entry| entry.calendar_address()).map(str::to_owned).collect()
}

/// The days that events touch.
pub fn days(events: &[Event], zone: &TimeZone) -> BTreeSet<Date> {
    let mut days = BTreeSet::new();
    for Event { time, .. } in events {
        let last = date_of(wall_of(zone, time.end - 1));
        let mut day = date_of(wall_of(zone, time.start));
        while day <= last && days.len() < TIMES_MAX {
            days.insert(day);
            let Ok(next) = day.tomorrow() else { break };
            day = next;
        }
    }
    days
}

/// A shift as others see it in their calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The same for the same shift in each version of the calendar.
    pub uid: String,
    pub time: Range<i64>,
    pub summary: String,
}

/// A calendar as a text; `made` is its Unix time.
pub fn write(name: &str, entries: &[Entry], made: i64) -> String {
    let text = |text: &str| ICalendarValue::Text(text.to_owned());
    let moment =
        |unix| ICalendarValue::PartialDateTime(Box::new(PartialDateTime::from_utc_timestamp(unix)));
    let mut calendar = ICalendarComponent::new(ICalendarComponentType::VCalendar);
    calendar.add_property(ICalendarProperty::Version, text("2.0"));
    calendar.add_property(ICalendarProperty::Prodid, text("-//Vedette//On-call schedules//EN"));
    calendar.add_property(ICalendarProperty::Name, text(name));
    calendar.add_property(ICalendarProperty::Other("X-WR-CALNAME".to_owned()), text(name));
    let mut components = Vec::with_capacity(entries.len() + 1);
    for (n, entry) in (1_u32..).zip(entries) {
        let mut event = ICalendarComponent::new(ICalendarComponentType::VEvent);
        event.add_uid(&entry.uid);
        event.add_dtstamp(PartialDateTime::from_utc_timestamp(made));
        event.add_property(ICalendarProperty::Dtstart, moment(entry.time.start));
        event.add_property(ICalendarProperty::Dtend, moment(entry.time.end));
        event.add_property(ICalendarProperty::Summary, text(&entry.summary));
        components.push(event);
        calendar.component_ids.push(n);
    }
    components.insert(0, calendar);
    ICalendar { components }.to_string()
}
