use jiff::tz::TimeZone;

use super::*;
use crate::calendar::{self, CalendarError, Entry, Event};

fn calendar_of(events: &str) -> String {
    let text = format!("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//t//t//EN\n{events}END:VCALENDAR\n");
    text.replace('\n', "\r\n")
}

fn event(lines: &str) -> String {
    format!("BEGIN:VEVENT\nUID:u{}\n{lines}\nEND:VEVENT\n", lines.len())
}

fn texts(zone: &TimeZone, events: &[Event]) -> Vec<String> {
    let moment = |unix: i64| {
        let zoned = jiff::Timestamp::from_second(unix).unwrap().to_zoned(zone.clone());
        zoned.strftime("%a %d %H:%M%z").to_string()
    };
    let text = |one: &Event| {
        format!("{} {} {}", one.summary, moment(one.time.start), moment(one.time.end))
    };
    events.iter().map(text).collect()
}

#[test]
fn a_weekly_event_keeps_its_time_of_day() {
    let zone = zone("Europe/Berlin");
    let text = calendar_of(&event(
        "DTSTART;TZID=Europe/Berlin:20260323T090000\nDTEND;TZID=Europe/Berlin:20260330T090000\n\
         RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=2\nEXDATE;TZID=Europe/Berlin:20260511T090000\nSUMMARY:alice",
    ));
    let within = between(&zone, "2026-01-01T00:00", "2026-06-01T00:00");
    assert_eq!(
        texts(&zone, &calendar::read(&text, &zone, &within).unwrap()),
        ["alice Mon 23 09:00+0100 Mon 30 09:00+0200", "alice Mon 06 09:00+0200 Mon 13 09:00+0200",]
    );
}

#[test]
fn events_without_end_are_cut_to_the_time() {
    let zone = zone("America/New_York");
    let text = calendar_of(&event(
        "DTSTART;TZID=America/New_York:20200101T200000\nDURATION:PT12H\nRRULE:FREQ=DAILY\n\
         ATTENDEE;CN=Bob:mailto:bob@example.com\nSUMMARY:On call\\, nights",
    ));
    let within = between(&zone, "2026-11-01T00:00", "2026-11-02T00:00");
    let found = calendar::read(&text, &zone, &within).unwrap();
    assert_eq!(
        texts(&zone, &found),
        [
            "On call, nights Sat 31 20:00-0400 Sun 01 08:00-0500",
            "On call, nights Sun 01 20:00-0500 Mon 02 08:00-0500",
        ]
    );
    assert_eq!(found[0].attendees, ["bob@example.com"]);
}

#[test]
fn days_and_times_without_a_zone_are_the_schedules() {
    let zone = zone("Asia/Tokyo");
    let text = calendar_of(&format!(
        "{}{}{}",
        event("DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20261227\nSUMMARY:Christmas"),
        event("DTSTART:20261228T090000\nDTEND:20261228T100000\nSUMMARY:floating"),
        event("DTSTART:20261229T090000\nDTEND:20261229T100000\nSTATUS:CANCELLED\nSUMMARY:none"),
    ));
    let within = between(&zone, "2026-12-01T00:00", "2027-01-01T00:00");
    let found = calendar::read(&text, &zone, &within).unwrap();
    assert_eq!(
        texts(&zone, &found),
        [
            "Christmas Fri 25 00:00+0900 Sun 27 00:00+0900",
            "floating Mon 28 09:00+0900 Mon 28 10:00+0900",
        ]
    );
    let days: Vec<String> =
        calendar::days(&found[..1], &zone).iter().map(ToString::to_string).collect();
    assert_eq!(days, ["2026-12-25", "2026-12-26"]);
}

#[test]
fn what_is_no_calendar_is_refused() {
    let read = |text: &str| calendar::read(text, &TimeZone::UTC, &(0..crate::TIME_MAX));
    for text in [
        "",
        "hello",
        "BEGIN:VCARD\r\nEND:VCARD\r\n",
        "BEGIN:VEVENT\r\n",
        "BEGIN:VCALENDAR\r\n",
        "<html></html>",
    ] {
        assert_eq!(read(text), Err(CalendarError::NoCalendar), "{text}");
    }
    assert_eq!(read("begin:vcalendar\r\nend:vcalendar"), Ok(Vec::new()));
    assert_eq!(read(&"x".repeat(300_000)), Err(CalendarError::TooLarge));
    let many = event("DTSTART:20260101T000000Z").repeat(2_001);
    assert_eq!(read(&calendar_of(&many)), Err(CalendarError::TooLarge));
    let rules = event("DTSTART:20260101T000000Z\nRRULE:FREQ=DAILY;COUNT=1").repeat(101);
    assert_eq!(read(&calendar_of(&rules)), Err(CalendarError::TooLarge));
}

#[test]
fn rules_that_repeat_without_end_are_bounded() {
    let read = |text: &str| calendar::read(text, &TimeZone::UTC, &(0..crate::TIME_MAX));
    let daily = event("DTSTART:20260101T000000Z\nDURATION:PT1S\nRRULE:FREQ=DAILY");
    assert!(read(&calendar_of(&daily.repeat(50))).unwrap().len() <= 20_000);
    for (rule, expected) in [
        ("FREQ=SECONDLY", CalendarError::TooOften),
        ("FREQ=HOURLY", CalendarError::TooOften),
        ("FREQ=DAILY;BYHOUR=1,2,3,4,5;BYMINUTE=0,10,20,30,40", CalendarError::TooOften),
        ("FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", CalendarError::NoDay),
        ("FREQ=YEARLY;BYMONTH=4,6;BYMONTHDAY=31,-31", CalendarError::NoDay),
    ] {
        let text = calendar_of(&event(&format!("DTSTART:20260101T000000Z\nRRULE:{rule}")));
        assert_eq!(read(&text), Err(expected), "{rule}");
    }
    for rule in ["FREQ=DAILY;BYHOUR=8,20", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=2"] {
        let text =
            calendar_of(&event(&format!("DTSTART:20240229T080000Z\nDURATION:PT1H\nRRULE:{rule}")));
        assert!(read(&text).unwrap().len() >= 2, "{rule}");
    }
}

#[test]
fn a_written_calendar_can_be_read() {
    let entries = [
        Entry {
            uid: "1@x".to_owned(),
            time: 1_800_000_000..1_800_003_600,
            summary: "Ann; Bo, C\nEND:VEVENT".to_owned(),
        },
        Entry {
            uid: "2@x".to_owned(),
            time: 1_800_003_600..1_800_090_000,
            summary: "ü".repeat(100),
        },
    ];
    let text = calendar::write("Linux, nights", &entries, 1_790_000_000);
    assert!(
        text.starts_with("BEGIN:VCALENDAR\r\n") && text.ends_with("END:VCALENDAR\r\n"),
        "{text}"
    );
    assert!(text.contains("DTSTART:20270115T080000Z\r\n"), "{text}");
    assert!(text.lines().all(|line| line.len() <= 76), "{text}");
    let found = calendar::read(&text, &TimeZone::UTC, &(0..crate::TIME_MAX)).unwrap();
    let found: Vec<_> = found.into_iter().map(|event| (event.time, event.summary)).collect();
    assert_eq!(found, entries.map(|entry| (entry.time, entry.summary)));
}
