use objects::Severity;

use super::summary::Counts;
use super::*;

const GROUPING: &str =
    r#"{"by":["service","{HOST.HOST}"],"wait":"30s","interval":"5m","repeat":"4h"}"#;

fn grouping() -> Grouping {
    Grouping::parse(GROUPING).unwrap()
}

#[test]
fn keys_are_what_messages_are_grouped_by() {
    let tags = [("service", "shop"), ("x", "1"), ("service", "pay")];
    let tags = tags.map(|(tag, value)| (tag.to_owned(), value.to_owned()));
    let key = grouping().key(&["web2", "web1"], &tags);
    assert_eq!(key.to_text(), r#"[["service",["pay","shop"]],["{HOST.HOST}",["web1","web2"]]]"#);
    assert_eq!(key.shown(), "service: pay + shop, host: web1 + web2");
    assert_eq!(Key::parse(&key.to_text()), key);
    assert_eq!(grouping().key(&[], &[]).shown(), "no service, no host");
    assert_eq!(
        link("https://m.example/", &key, &[7, 8]).unwrap(),
        "https://m.example/problems?sort=severity&tags=service%3Dpay,service%3Dshop&host=7,8"
    );
    assert_eq!(link(" ", &key, &[]), None);
    for bad in ["", "null", "{}", r#"{"by":[1],"wait":"1s","interval":"1s","repeat":"0"}"#] {
        assert_eq!(Grouping::parse(bad), None, "{bad}");
    }
}

#[test]
fn a_group_waits_then_tells_then_repeats() {
    let grouping = grouping();
    let on = Some(&grouping);
    let group = Gathering::default().add(1_000, &grouping);
    assert_eq!(group, Gathering { told: 0, waiting: true, due: 1_030 });
    assert_eq!(group.add(1_020, &grouping), group, "others do not delay it");
    let two = Found { waiting: 2, open: 2 };
    assert_eq!(group.look(1_030, two, on), Tell::Summary);
    assert_eq!(group.look(1_030, Found { waiting: 1, open: 1 }, on), Tell::One);
    let told = group.next(1_030, true, 2, on).unwrap();
    assert_eq!(told, Gathering { told: 1_030, waiting: false, due: 1_030 + CHECK_S });
    // Additions after the interval, or gathered once it is over.
    assert_eq!(told.add(1_100, &grouping).due, 1_330);
    assert_eq!(told.add(2_000, &grouping).due, 2_030);
    let open = Found { waiting: 0, open: 2 };
    let repeat = 1_030 + 4 * 3_600;
    assert_eq!(told.look(repeat - 1, open, on), Tell::Nothing);
    assert_eq!(told.look(repeat, open, on), Tell::Open);
    assert_eq!(told.look(repeat, Found::default(), on), Tell::Nothing);
    assert_eq!(told.next(repeat - 60, false, 2, on).unwrap().due, repeat);
    assert_eq!(told.next(repeat, true, 2, on).unwrap().told, repeat);
    // A repetition that is not possible is tried again.
    assert_eq!(told.next(repeat, false, 2, on).unwrap().due, repeat + CHECK_S);
}

#[test]
fn a_group_ends_after_its_interval() {
    let grouping = grouping();
    let on = Some(&grouping);
    let told = Gathering { told: 5_000, waiting: true, due: 5_300 };
    assert_eq!(told.next(5_300, true, 0, on).unwrap().due, 5_600);
    assert_eq!(Gathering { told: 5_300, ..told }.next(5_600, false, 0, on), None);
    // The action does not group any more.
    assert_eq!(told.look(5_300, Found { waiting: 3, open: 3 }, None), Tell::Summary);
    assert_eq!(told.next(5_300, true, 3, None), None);
    let never = Grouping { repeat_s: 0, ..grouping };
    assert_eq!(told.look(i64::MAX, Found { waiting: 0, open: 3 }, Some(&never)), Tell::Nothing);
    assert_eq!(told.next(9_000, false, 3, Some(&never)).unwrap().due, 9_000 + CHECK_S);
}

#[test]
fn a_brake_lets_through_what_the_limit_allows() {
    let limit = Limit::parse(r#"{"messages":20,"period":"5m"}"#).unwrap();
    let mut brake = Brake::default();
    for n in 0..20 {
        let (passes, next) = brake.pass(1_000, limit);
        assert!(passes, "{n}");
        brake = next;
    }
    assert_eq!(brake.due, 1_300, "then it is full again");
    let (passes, held) = brake.pass(1_000, limit);
    assert!(!passes && held.waiting);
    assert_eq!(held.due, 1_060, "a digest is gathered for a minute");
    assert!(!held.pass(1_050, limit).0, "nothing overtakes those that wait");
    let (tell, told) = held.look(1_060, 7, Some(limit));
    assert_eq!((tell, told.unwrap().waiting), (Tell::Summary, false));
    // Four tokens came within the minute, and the digest took one.
    let mut brake = told.unwrap();
    for n in 0..4 {
        let (passes, next) = brake.pass(1_060, limit);
        assert_eq!(passes, n < 3, "{n}");
        brake = next;
    }
    assert_eq!(Brake::default().look(1_000, 0, Some(limit)), (Tell::Nothing, None));
    assert_eq!(held.look(1_060, 1, None), (Tell::One, None));
    let slow = Limit::parse(r#"{"messages":"1","period":"1h"}"#).unwrap();
    let (_, one) = Brake::default().pass(1_000, slow);
    let (_, held) = one.pass(1_001, slow);
    assert_eq!(held.due, 4_600, "the next token comes later than in a minute");
    assert_eq!(held.look(2_000, 3, Some(slow)).0, Tell::Nothing, "the limit was lowered meanwhile");
    // A limit that was lower no longer counts: the next message brings the digest forward.
    let daily = Limit::parse(r#"{"messages":1,"period":"1d"}"#).unwrap();
    let (_, one) = Brake::default().pass(1_000, daily);
    let (_, held) = one.pass(1_001, daily);
    assert_eq!(held.due, 87_400);
    assert_eq!(held.pass(1_100, daily).1, held);
    assert_eq!(held.pass(1_100, limit).1.due, 1_160);
    assert_eq!(one.pass(1_100, limit).1.due, 1_160);
    for bad in ["", "null", r#"{"messages":0,"period":"5m"}"#, r#"{"messages":1,"period":"0"}"#] {
        assert_eq!(Limit::parse(bad), None, "{bad}");
    }
}

fn seen(alert: u64, problem: u64) -> Seen {
    Seen {
        alert,
        action: 1,
        problem,
        ended: false,
        updated: false,
        waits: true,
        step: 1,
        severity: Severity::Average,
        clock: 100,
        open: true,
    }
}

fn tally(all: &[Seen]) -> Tally {
    let mut tally = Tally::default();
    all.iter().for_each(|one| tally.add(one));
    tally.finish();
    tally
}

#[test]
fn problems_are_counted_once() {
    let tally = tally(&[
        // New and resolved.
        Seen { open: false, ..seen(1, 10) },
        Seen { open: false, ended: true, ..seen(5, 10) },
        // Told before, now updated.
        Seen { waits: false, severity: Severity::Disaster, ..seen(2, 11) },
        Seen { updated: true, severity: Severity::Disaster, ..seen(6, 11) },
        // Told before, and still open.
        Seen { waits: false, ..seen(3, 12) },
        // A second step of what was told.
        Seen { waits: false, ..seen(4, 13) },
        Seen { step: 2, ..seen(7, 13) },
        // New, with an update.
        seen(8, 14),
        Seen { updated: true, ..seen(9, 14) },
    ]);
    assert_eq!((tally.waiting, tally.last, tally.open), (6, 9, 4));
    assert_eq!((tally.new, tally.updated, tally.resolved), (2, 1, 1));
    assert_eq!(tally.by_severity, [0, 0, 0, 3, 0, 1]);
    let (news, all) = tally.listed(false);
    let shown: Vec<_> = news.iter().map(|one| (one.problem, one.state)).collect();
    let expected =
        [(11, State::Updated), (10, State::Resolved), (13, State::Open), (14, State::New)];
    assert_eq!((shown.as_slice(), all), (&expected[..], 4));
    assert_eq!(tally.listed(true).1, 4);
}

#[test]
fn only_the_first_problems_are_remembered() {
    let severity = |n: u64| Severity::ALL[usize::try_from(n % 6).unwrap()];
    let all: Vec<Seen> = (1..=3_000)
        .map(|n| Seen { severity: severity(n), clock: i64::try_from(n).unwrap(), ..seen(n, n) })
        .collect();
    let tally = tally(&all);
    let (first, count) = tally.listed(false);
    assert_eq!((first.len(), count, tally.by_severity), (50, 3_000, [500; 6]));
    let expected: Vec<u64> = (1..=3_000).rev().filter(|n| n % 6 == 5).take(50).collect();
    assert_eq!(first.iter().map(|one| one.problem).collect::<Vec<_>>(), expected);
}

fn line(state: State, name: &str) -> Line {
    Line {
        severity: Severity::High,
        state,
        hosts: "web1".to_owned(),
        name: name.to_owned(),
        age_s: 65,
        acknowledged: false,
    }
}

#[test]
fn a_summary_lists_problems() {
    let key = Key(vec![("service".to_owned(), vec!["sh\nop".to_owned()])]);
    let counts = Counts { new: 3, resolved: 1, all: 4, ..Counts::default() };
    let acknowledged = Line { acknowledged: true, ..line(State::New, "<b>\n\"full\"") };
    let summary = Summary::Group {
        action: "Ops".to_owned(),
        key,
        counts,
        lines: vec![acknowledged, line(State::Resolved, "Down")],
        link: Some("https://m.example/problems?a&b".to_owned()),
    };
    assert_eq!(summary.subject(), "[3 new, 1 resolved] service: sh op");
    assert_eq!(
        summary.message(Format::Plain),
        "Ops (service: sh op): 3 new, 1 resolved.\n\n\
         [High, acknowledged] web1: <b> \"full\" (for 1m 5s)\n\
         [High, resolved] web1: Down (after 1m 5s)\nand 2 more\n\nhttps://m.example/problems?a&b"
    );
    let html = summary.message(Format::Html);
    assert!(html.contains("web1: &lt;b&gt; &quot;full&quot; (for 1m 5s)<br>\n"), "{html}");
    assert!(html.ends_with(
        "<a href=\"https://m.example/problems?a&amp;b\">https://m.example/problems?a&amp;b</a>"
    ));
}

#[test]
fn names_in_a_summary_make_no_links() {
    let link = "{ALERT.LINK.CLOSE}";
    let summary = Summary::Group {
        action: "Ops".to_owned(),
        key: Key(vec![(HOSTS.to_owned(), vec![link.to_owned()])]),
        counts: Counts { new: 1, all: 1, ..Counts::default() },
        lines: vec![line(State::New, link)],
        link: None,
    };
    for text in [summary.subject(), summary.message(Format::Plain), summary.message(Format::Html)] {
        assert!(text.contains("{ ALERT.LINK.CLOSE}") && !text.contains(link), "{text}");
    }
}

#[test]
fn a_summary_is_never_too_long() {
    let name = "<😀\"".repeat(700);
    let long = || Line { hosts: name.clone(), ..line(State::Open, &name) };
    let summary = Summary::Group {
        action: "a".repeat(300),
        key: Key::default(),
        counts: Counts { open: 90_000, all: 90_000, ..Counts::default() },
        lines: (0..50).map(|_| long()).collect(),
        link: None,
    };
    assert_eq!(summary.subject().chars().count(), 255);
    let html = summary.message(Format::Html);
    assert!(html.len() <= 65_535 && html.len() > 50_000, "{}", html.len());
    let listed = html.matches("[High").count();
    assert!(html.ends_with(&format!("and {} more", 90_000 - listed)), "{listed}");
}

#[test]
fn a_storm_is_told_in_numbers() {
    let summary = Summary::Storm {
        messages: 57,
        by_severity: [0, 0, 3, 0, 0, 12],
        by_host: vec![("web1".to_owned(), 40), ("web2".to_owned(), 17)],
        link: None,
    };
    assert_eq!(summary.subject(), "[57 messages withheld] web1 and others");
    let text = summary.message(Format::Plain);
    assert!(
        text.contains(
            "\nDisaster: 12 problems\nWarning: 3 problems\n\nweb1: 40 messages\nweb2: 17"
        )
    );
}
