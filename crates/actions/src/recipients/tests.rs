//! Each test is one fact about who gets a message.

use config::snapshot::Macros;
use eval::macros::MacroDef;
use jiff::tz::TimeZone;

use super::*;

/// A Wednesday, 18:30 in UTC.
const NOW: i64 = 1_734_546_600;
const HOOK: u64 = 1;
const MAIL: u64 = 2;
const OFF: u64 = 3;
const ALICE: u64 = 11;
const BOB: u64 = 12;
const OPS: u64 = 21;
const NIGHT: u64 = 22;

fn address(media_type: u64, sendto: &str) -> Address {
    Address { media_type, sendto: sendto.to_owned() }
}

fn media(media_type: u64, sendto: &str) -> Media {
    let period = "1-7,00:00-24:00".to_owned();
    Media { address: address(media_type, sendto), enabled: true, severities: 63, period }
}

fn text(subject: &str) -> Text {
    Text { subject: subject.to_owned(), message: format!("text of {subject}") }
}

fn to(users: &[u64], groups: &[u64]) -> Message {
    let to =
        Audience::Named { users: users.to_vec(), groups: groups.to_vec(), on_call: Vec::new() };
    Message { to, media_type: None, text: Some(text("own")) }
}

fn to_involved() -> Message {
    Message { to: Audience::Involved, media_type: None, text: Some(text("own")) }
}

fn got(user: u64, media_type: u64, sendto: &str) -> Involved {
    Involved { user, address: Some(address(media_type, sendto)), last: text("last") }
}

/// Alice has a hook and a mail address, Bob a hook; both are in a group, Alice in two.
struct World {
    directory: Directory,
    macros: Macros,
    involved: Vec<Involved>,
    severity: i64,
    mode: OperationMode,
    author: Option<u64>,
}

impl World {
    fn new() -> Self {
        let user = |id, media| User {
            id,
            disabled: false,
            reads: true,
            zone: "default".to_owned(),
            media,
        };
        let alice = user(ALICE, vec![media(HOOK, "alice"), media(MAIL, "a@x")]);
        let bob = user(BOB, vec![media(HOOK, "bob")]);
        let templates = [((EventSource::Trigger, OperationMode::Problem), text("template"))];
        let hook = MediaType { enabled: true, templates: templates.into(), ..MediaType::default() };
        let mail = MediaType { enabled: true, ..MediaType::default() };
        let directory = Directory {
            users: [(ALICE, alice), (BOB, bob)].into(),
            members: [(OPS, vec![ALICE, BOB]), (NIGHT, vec![ALICE])].into(),
            media_types: [(HOOK, hook), (MAIL, mail), (OFF, MediaType::default())].into(),
        };
        Self {
            directory,
            macros: Macros::default(),
            involved: Vec::new(),
            severity: 4,
            mode: OperationMode::Problem,
            author: None,
        }
    }

    fn alice(&mut self) -> &mut User {
        self.directory.users.get_mut(&ALICE).unwrap()
    }

    fn drafts(&self, make: impl Fn(&Recipients<'_>) -> Vec<Draft>) -> Vec<Draft> {
        let globals = Globals { macros: &self.macros, tz: TimeZone::UTC };
        let occasion = Occasion {
            source: EventSource::Trigger,
            mode: self.mode,
            severity: Severity::from_number(self.severity).unwrap(),
            now: NOW,
            step: 1,
            author: self.author,
            involved: &self.involved,
        };
        make(&Recipients { directory: &self.directory, globals: &globals, occasion })
    }

    /// Addresses, with the error where there is one.
    fn of(&self, message: &Message) -> Vec<String> {
        let shown = |draft: Draft| {
            let sendto = draft.address.map_or(format!("user {}", draft.user), |one| one.sendto);
            format!("{sendto} {}", draft.fate.error().0).trim_end().to_owned()
        };
        self.drafts(|recipients| recipients.of(message)).into_iter().map(shown).collect()
    }
}

#[test]
fn users_without_read_access_get_nothing() {
    let mut world = World::new();
    world.alice().reads = false;
    assert_eq!(world.of(&to(&[ALICE, BOB], &[])), ["bob"]);
    world.involved = vec![got(ALICE, HOOK, "alice"), got(BOB, HOOK, "bob")];
    assert_eq!(world.of(&to_involved()), ["bob"]);
}

#[test]
fn members_of_a_disabled_group_get_nothing() {
    let mut world = World::new();
    world.alice().disabled = true;
    assert_eq!(world.of(&to(&[ALICE], &[OPS])), ["bob"]);
}

#[test]
fn deleted_users_get_nothing() {
    let mut world = World::new();
    world.directory.users.remove(&ALICE);
    world.involved = vec![got(ALICE, HOOK, "alice")];
    assert_eq!(world.of(&to(&[ALICE], &[NIGHT])), Vec::<String>::new());
    assert_eq!(world.of(&to_involved()), Vec::<String>::new());
}

#[test]
fn an_operation_reaches_a_user_once_the_last_one_first() {
    let world = World::new();
    assert_eq!(world.of(&to(&[ALICE], &[OPS, NIGHT])), ["bob", "alice", "a@x"]);
}

#[test]
fn operations_choose_media_types() {
    let mut world = World::new();
    let message = Message { media_type: Some(HOOK), ..to(&[ALICE], &[]) };
    assert_eq!(world.of(&message), ["alice"]);
    world.alice().media.push(media(HOOK, "alice2"));
    assert_eq!(world.of(&message), ["alice", "alice2"]);
    assert_eq!(world.of(&to(&[ALICE], &[])), ["alice", "a@x", "alice2"]);
}

#[test]
fn users_without_media_have_an_alert_with_an_error() {
    let mut world = World::new();
    let message = Message { media_type: Some(MAIL), ..to(&[BOB], &[]) };
    assert_eq!(world.of(&message), ["user 12 No media defined for user."]);
    world.alice().media.clear();
    assert_eq!(world.of(&to(&[ALICE], &[])), ["user 11 No media defined for user."]);
    assert_eq!(Fate::NoMedia.error().1, 3);
    let drafts = world.drafts(|recipients| recipients.of(&message));
    assert_eq!(drafts[0].text, text("own"));
}

#[test]
fn disabled_media_get_nothing() {
    let mut world = World::new();
    for media in &mut world.alice().media {
        media.enabled = false;
    }
    world.involved = vec![got(ALICE, HOOK, "alice")];
    assert_eq!(world.of(&to(&[ALICE], &[])), Vec::<String>::new());
    assert_eq!(world.of(&to_involved()), Vec::<String>::new());
}

#[test]
fn media_filter_by_the_severity_of_the_trigger() {
    let mut world = World::new();
    // High and disaster; up to warning.
    world.alice().media[0].severities = 0b11_0000;
    world.alice().media[1].severities = 0b00_0111;
    world.involved = vec![got(ALICE, HOOK, "alice"), got(ALICE, MAIL, "a@x")];
    for (severity, expected) in [(4, "alice"), (2, "a@x")] {
        world.severity = severity;
        assert_eq!(world.of(&to(&[ALICE], &[])), [expected]);
        assert_eq!(world.of(&to_involved()), [expected]);
    }
    world.severity = 3;
    assert_eq!(world.of(&to(&[ALICE], &[])), Vec::<String>::new(), "no alert, no error");
}

#[test]
fn media_filter_by_period_in_the_zone_of_the_user() {
    let mut world = World::new();
    world.macros.global.push(MacroDef::text("{$WORK}", "3,18:00-19:00").unwrap());
    let message = Message { media_type: Some(HOOK), ..to(&[ALICE], &[]) };
    for (zone, period, open) in [
        ("default", "3,18:00-19:00", true),
        ("default", "1-2,00:00-24:00;3,18:00-19:00", true),
        ("default", "3,19:00-20:00", false),
        ("Europe/Berlin", "3,19:00-20:00", true),
        ("Europe/Berlin", "{$WORK}", false),
        ("UTC", "{$WORK}", true),
        ("No/Where", "{$WORK}", true),
        ("UTC", "{$NONE}", false),
        ("UTC", "", false),
    ] {
        let alice = world.alice();
        alice.zone = zone.to_owned();
        alice.media[0].period = period.to_owned();
        assert_eq!(world.of(&message).len(), usize::from(open), "{zone} {period}");
    }
}

#[test]
fn disabled_media_types_fail_with_their_text() {
    let mut world = World::new();
    world.alice().media = vec![media(OFF, "alice")];
    assert_eq!(world.of(&to(&[ALICE], &[])), ["alice Media type disabled."]);
    let drafts = world.drafts(|recipients| recipients.of(&to(&[ALICE], &[])));
    assert_eq!(drafts[0].text, text("own"));
    world.involved = vec![got(ALICE, OFF, "alice")];
    assert_eq!(world.of(&to_involved()), ["alice Media type disabled."]);
}

#[test]
fn default_texts_are_those_of_the_media_type() {
    let mut world = World::new();
    let message = Message { text: None, ..to(&[ALICE], &[]) };
    let drafts = world.drafts(|recipients| recipients.of(&message));
    assert_eq!((&drafts[0].text, drafts[0].fate), (&text("template"), Fate::Send));
    assert_eq!((&drafts[1].text, drafts[1].fate), (&Text::default(), Fate::NoText));
    world.mode = OperationMode::Recovery;
    assert_eq!(world.of(&message)[0], "alice No message defined for media type.");
}

#[test]
fn involved_are_those_who_got_a_message_by_that_media() {
    let mut world = World::new();
    world.mode = OperationMode::Recovery;
    assert_eq!(world.of(&to_involved()), Vec::<String>::new());
    world.involved = vec![got(ALICE, MAIL, "a@x"), got(ALICE, MAIL, "a@x")];
    assert_eq!(world.of(&to_involved()), ["a@x"]);
    // The address has changed.
    world.alice().media[1].address.sendto = "new@x".to_owned();
    assert_eq!(world.of(&to_involved()), ["new@x"]);
}

#[test]
fn users_who_changed_the_problem_are_involved_in_updates() {
    let mut world = World::new();
    world.mode = OperationMode::Update;
    let changed = |user| Involved { user, address: None, last: Text::default() };
    world.involved = vec![got(ALICE, HOOK, "alice"), changed(ALICE), changed(BOB)];
    assert_eq!(world.of(&to_involved()), ["alice", "bob"]);
    world.directory.users.get_mut(&BOB).unwrap().media.clear();
    assert_eq!(world.of(&to_involved()), ["alice"]);
}

#[test]
fn the_author_of_an_update_gets_no_message_of_it() {
    let mut world = World::new();
    world.mode = OperationMode::Update;
    world.author = Some(ALICE);
    world.involved = vec![got(ALICE, HOOK, "alice"), got(BOB, HOOK, "bob")];
    for message in [to(&[ALICE, BOB], &[]), to(&[], &[OPS]), to_involved()] {
        assert_eq!(world.of(&message), ["bob"]);
    }
}

#[test]
fn notes_have_the_last_subject_and_text() {
    let mut world = World::new();
    let older = Involved { last: text("older"), ..got(ALICE, HOOK, "alice") };
    world.involved = vec![older, got(ALICE, HOOK, "alice"), got(BOB, HOOK, "bob")];
    let drafts = world.drafts(|recipients| recipients.note("NOTE: why."));
    let shown: Vec<_> = drafts.iter().map(|draft| (draft.user, &*draft.text.subject)).collect();
    assert_eq!(shown, [(ALICE, "last"), (BOB, "last")]);
    assert_eq!(drafts[0].text.message, "NOTE: why.\nLast message sent:\ntext of last");
}
