//! What messages get when they are handed over, and in which order that happens.

use config::links::{Link, LinkKey, LinkKind};

use super::*;

/// A world whose webhook is living, with the id of the message as its second parameter.
fn world(living: i64) -> World {
    let world = World::new();
    world.put(
        &table::MEDIA_TYPE_PARAMS,
        &[
            ("mediatypeid", HOOK.into()),
            ("position", 1_i64.into()),
            ("name", "edits".into()),
            ("value", "<{ALERT.MESSAGE.ID}>".into()),
        ],
    );
    world.run(&format!("UPDATE media_types SET living = {living} WHERE mediatypeid = {HOOK}"));
    world
}

/// What leaves now, as `subject edited-message`, with the alerts.
fn handed(world: &mut World) -> Vec<(u64, String)> {
    world.work();
    let taken = std::mem::take(&mut *lock(&world.sink.taken));
    let one = |one: &Outgoing| {
        let edits = one.parameters.get(1).map_or("", |(_, value)| value);
        (one.alert.0, format!("{} {edits}", one.subject))
    };
    taken.iter().map(one).collect()
}

fn texts(handed: &[(u64, String)]) -> Vec<&str> {
    handed.iter().map(|(_, text)| text.as_str()).collect()
}

fn sent_as(id: &str) -> Outcome {
    Outcome::Sent { tags: Vec::new(), message_id: id.to_owned() }
}

#[test]
fn an_edit_waits_for_the_post() {
    let mut world = world(1);
    world.problem(TRIGGER);
    let post = handed(&mut world);
    assert_eq!(texts(&post), ["PROBLEM <>"]);
    world.recovery(TRIGGER);
    assert_eq!(handed(&mut world), []);
    assert!(world.work() > 10, "nothing is due before the report");
    // Another problem does not wait.
    world.problem(TRIGGER);
    let other = handed(&mut world);
    assert_eq!(texts(&other), ["PROBLEM <>"]);
    world.report(post[0].0, sent_as("m1"));
    let edit = handed(&mut world);
    assert_eq!(texts(&edit), ["OK <m1>"]);
    world.report(edit[0].0, sent_as("m1"));
    world.report(other[0].0, Outcome::SENT);
    world.recovery(TRIGGER);
    assert_eq!(texts(&handed(&mut world)), ["OK <>"], "the post returned no id");
    let ids = world.rows("SELECT message_id FROM alerts ORDER BY alertid");
    assert_eq!(ids, ["m1", "m1", "", ""]);
}

#[test]
fn an_edit_waits_while_the_post_is_repeated() {
    let mut world = world(1);
    world.problem(TRIGGER);
    let post = handed(&mut world);
    world.recovery(TRIGGER);
    let again = Some(Duration::from_secs(10));
    world.report(post[0].0, Outcome::Failed { error: "busy".to_owned(), again });
    assert_eq!(handed(&mut world), []);
    world.clock.advance(Duration::from_secs(10));
    assert_eq!(texts(&handed(&mut world)), ["PROBLEM <>"]);
    world.report(post[0].0, Outcome::Failed { error: "gone".to_owned(), again: None });
    assert_eq!(texts(&handed(&mut world)), ["OK <>"]);
}

#[test]
fn a_restart_keeps_the_order_and_the_ids() {
    let mut world = world(1);
    world.problem(TRIGGER);
    let post = handed(&mut world);
    world.report(post[0].0, sent_as("m1"));
    world.work();
    let event = world.rows("SELECT MIN(eventid) FROM events")[0].parse().unwrap();
    let user = UserId(BOB);
    world.update(event, ProblemUpdate { user, message: "seen".to_owned(), ..<_>::default() });
    assert_eq!(texts(&handed(&mut world)), ["UPDATE <m1>"]);
    world.recovery(TRIGGER);
    assert_eq!(handed(&mut world), []);
    let mut world = world.restarted();
    // The attempt that was interrupted is given up; the next one follows.
    assert_eq!(texts(&handed(&mut world)), ["OK <m1>"]);
}

#[test]
fn other_media_types_send_at_once_and_know_no_ids() {
    let mut world = world(0);
    world.problem(TRIGGER);
    world.recovery(TRIGGER);
    let both = handed(&mut world);
    assert_eq!(texts(&both), ["PROBLEM <{ALERT.MESSAGE.ID}>", "OK <{ALERT.MESSAGE.ID}>"]);
}

#[test]
fn a_receiver_that_deduplicates_gets_what_was_cut_off() {
    for deduplicates in [true, false] {
        let mut world = world(0);
        let one = i64::from(deduplicates);
        world.run(&format!(
            "UPDATE media_types SET deduplicates = {one} WHERE mediatypeid = {HOOK}"
        ));
        world.run("UPDATE media_type_params SET value = '{ALERT.ID}' WHERE position = 1");
        world.problem(TRIGGER);
        let first = handed(&mut world);
        let mut world = world.restarted();
        let id = if deduplicates { first[0].0.to_string() } else { "{ALERT.ID}".to_owned() };
        let text = format!("PROBLEM {id}");
        assert_eq!(texts(&first), [&text]);
        let again = handed(&mut world);
        assert_eq!(again, if deduplicates { first } else { Vec::new() });
    }
}

#[test]
fn a_stop_leaves_what_may_be_repeated_to_the_next_start() {
    let mut world = world(0);
    world.run(&format!("UPDATE media_types SET deduplicates = 1 WHERE mediatypeid = {HOOK}"));
    world.problem(TRIGGER);
    let first = handed(&mut world);
    world.report(first[0].0, Outcome::Unknown { error: "stopped".to_owned() });
    let mut world = world.restarted();
    assert_eq!(handed(&mut world).len(), 1);
}

const LINKS: &str = "{ALERT.LINK.ACK} {ALERT.LINK.SUPPRESS} {{ALERT.LINK.CLOSE}.uppercase()} {ALERT.LINK.X} {EVENT.NAME}";

fn set(world: &World, name: &str, value: &str) {
    world.put(&table::SETTINGS, &[("name", name.into()), ("value", value.into())]);
}

fn with_links() -> World {
    let world = World::new();
    world
        .run(&format!("UPDATE operation_messages SET message = '{LINKS}' WHERE operationid = 401"));
    world
}

#[test]
fn links_are_signed_for_their_recipient() {
    let mut world = with_links();
    set(&world, "url", "https://monitor.test/vedette/");
    set(&world, "link_lifetime", "2h");
    let problem = world.problem(TRIGGER);
    world.work();
    let taken = std::mem::take(&mut *lock(&world.sink.taken));
    let words: Vec<&str> = taken[0].message.split(' ').collect();
    let key = LinkKey::of(&world.config).unwrap();
    let until = u32::try_from(T + 7_200).unwrap();
    for (word, kind) in
        words.iter().zip([LinkKind::Acknowledge, LinkKind::Suppress, LinkKind::Close])
    {
        let word = if kind == LinkKind::Close { word.to_lowercase() } else { (*word).to_owned() };
        let token = word.strip_prefix("https://monitor.test/vedette/act/").unwrap();
        assert_eq!(key.open(token), Some(Link { kind, user: ALICE, problem, until }), "{word}");
    }
    assert_eq!(words[3..5], ["{ALERT.LINK.X}", "{EVENT.NAME}"]);
    // Who may read alerts cannot use the links of others.
    assert!(world.rows("SELECT message FROM alerts")[0].starts_with(LINKS));
}

/// Such as of a webhook that throws its whole argument.
#[test]
fn an_error_that_repeats_links_is_stored_without_them() {
    let mut world = with_links();
    set(&world, "url", "https://m.test");
    world.problem(TRIGGER);
    world.work();
    let sent = std::mem::take(&mut *lock(&world.sink.taken)).remove(0);
    let error = format!("refused: {}", sent.message);
    let count = |text: &str, part: &str| text.to_lowercase().matches(part).count();
    assert_eq!(count(&error, "https://m.test/act/ae"), 3, "{error}");
    let again = Some(Duration::from_secs(10));
    world.report(sent.alert.0, Outcome::Failed { error: error.clone(), again });
    world.work();
    let stored = "SELECT error FROM alerts WHERE status = 0";
    let shown = world.rows(stored).remove(0);
    assert_eq!(count(&shown, "/act/ae"), 0, "{shown}");
    assert_eq!(count(&shown, "https://m.test/act/******"), 3, "{shown}");
    world.report(sent.alert.0, Outcome::Impossible { error });
    world.work();
    assert_eq!(count(&world.rows("SELECT error FROM alerts").concat(), "/act/ae"), 0);
}

#[test]
fn an_id_of_a_receiver_makes_no_link() {
    let mut world = world(1);
    set(&world, "url", "https://monitor.test");
    world.problem(TRIGGER);
    let post = handed(&mut world);
    world.report(post[0].0, sent_as("{ALERT.LINK.CLOSE}"));
    world.recovery(TRIGGER);
    assert_eq!(texts(&handed(&mut world)), ["OK <{ALERT.LINK.CLOSE}>"]);
}

#[test]
fn a_repeated_message_has_a_link_that_is_good() {
    let mut world = with_links();
    set(&world, "url", "http://m.test");
    world.problem(TRIGGER);
    world.work();
    let alert = world.rows("SELECT MIN(alertid) FROM alerts")[0].parse().unwrap();
    let again = Some(Duration::from_secs(10));
    let first = lock(&world.sink.taken)[0].message.clone();
    world.report(alert, Outcome::Failed { error: "x".to_owned(), again });
    world.work();
    world.clock.advance(Duration::from_secs(10));
    world.work();
    let second = lock(&world.sink.taken)[1].message.clone();
    assert!(first.starts_with("http://m.test/act/") && first != second);
}

#[test]
fn without_an_address_links_stay_as_text() {
    for address in
        ["", "monitor.test", "https://", "javascript:alert(1)", "https://a b", "https://a/?x"]
    {
        let mut world = with_links();
        set(&world, "url", address);
        world.problem(TRIGGER);
        world.work();
        let message = lock(&world.sink.taken)[0].message.clone();
        assert!(message.starts_with(LINKS), "{address}: {message}");
        let keys = "SELECT COUNT(*) FROM state_settings WHERE name = 'link_key'";
        assert_eq!(world.rows(keys), ["0"]);
    }
}

#[test]
fn responses_go_to_an_address_of_the_recipient() {
    for (address, expected) in [("", false), ("vedette@monitor.test", true)] {
        let mut world = World::new();
        world.run(&format!("UPDATE media_types SET reply_address = '{address}'"));
        let problem = world.problem(TRIGGER);
        world.work();
        let reply_to = lock(&world.sink.taken)[0].reply_to.clone();
        if !expected {
            assert_eq!(reply_to, "");
            continue;
        }
        let token = reply_to.strip_prefix("vedette+").unwrap().strip_suffix("@monitor.test");
        let link = LinkKey::of(&world.config).unwrap().open(token.unwrap()).unwrap();
        let until = u32::try_from(T).unwrap() + 7 * 86_400;
        assert_eq!(link, Link { kind: LinkKind::Reply, user: ALICE, problem, until });
        assert!(reply_to.find('@').unwrap() <= 64, "{reply_to}");
    }
}
