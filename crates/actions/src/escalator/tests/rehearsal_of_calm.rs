//! A rehearsal withholds the same messages as the escalator did: both go over the same events, and the counts are compared.

use model::alert::rehearsal::Span;

use super::*;

const SHOP: &[(&str, &str)] = &[("service", "shop")];
const GROUPED: &str = r#"{"by":["service"],"wait":"30s","interval":"5m","repeat":"1h"}"#;

impl World {
    /// Triggers do not depend on each other, and the action has these settings.
    fn with(settings: &[(&str, &str)]) -> Self {
        let world = Self::new();
        let independent = |edit: &mut config::Edit<'_>| {
            edit.delete(&table::TRIGGER_DEPENDS, "triggerid", &[CHILD])
        };
        let deleted: Result<_, DbError> = world.config.write(independent);
        deleted.unwrap();
        for (column, value) in settings {
            let table = if *column == "storm_limit" { "media_types" } else { "actions" };
            world.run(&format!("UPDATE {table} SET {column} = '{value}'"));
        }
        world
    }

    /// Lets time pass, looks at each second in which something is due, and sends all.
    fn pass(&mut self, seconds: u64) {
        let mut left = seconds;
        loop {
            let mut wait = self.work();
            while self.escalator.sending.handed().next().is_some() {
                self.report_all();
                wait = self.work();
            }
            if left == 0 {
                return;
            }
            let step = wait.clamp(1, left);
            self.clock.advance(Duration::from_secs(step));
            left -= step;
        }
    }

    fn open(&mut self, trigger: u64, tags: &[(&str, &str)], seconds: u64) {
        self.tagged_problem(trigger, tags);
        self.pass(seconds);
    }

    fn end(&mut self, trigger: u64, seconds: u64) {
        self.recovery(trigger);
        self.pass(seconds);
    }

    /// Messages by user and reason, as `user reason count`; `sent` has no reason.
    fn compare(&self, from: i64) -> Vec<String> {
        let sent = self.rows(&format!(
            "SELECT userid, CASE WHEN status = 1 THEN 0 ELSE withheld END AS why, COUNT(*) \
             FROM alerts WHERE clock >= {from} AND status IN (1, 4) GROUP BY userid, why"
        ));
        let span = Span { from, till: self.now().clock.into() };
        let found = self.rehearse(span);
        assert_eq!(found.stopped_at, None);
        let mut rehearsed = Vec::new();
        for (id, user) in &found.users {
            rehearsed.push((*id, 0, user.messages));
            for (reason, count) in &user.withheld {
                let model::alert::rehearsal::Reason::Withheld(why) = reason else { continue };
                rehearsed.push((*id, why.number(), *count));
            }
            assert_eq!(user.sent, user.messages, "in fact, and in the rehearsal");
        }
        rehearsed.retain(|(_, _, count)| *count > 0);
        let rehearsed: Vec<String> =
            rehearsed.iter().map(|(user, why, count)| format!("{user}|{why}|{count}")).collect();
        assert_eq!(rehearsed, sent);
        sent
    }
}

fn start() -> i64 {
    i64::try_from(T).unwrap()
}

#[test]
fn inhibited_messages_are_the_same() {
    let mut world = World::with(&[("inhibition", r#"{"tags": ["service"]}"#)]);
    world.open(TRIGGER, SHOP, 30);
    world.open(DISASTER, SHOP, 70);
    world.open(CHILD, SHOP, 400);
    world.end(DISASTER, 30);
    world.open(DISASTER, &[("service", "mail")], 200);
    world.end(CHILD, 10);
    world.open(DISASTER, SHOP, 20);
    world.open(CHILD, SHOP, 20);
    world.end(CHILD, 20);
    world.end(TRIGGER, 20);
    world.pass(600);
    let found = world.compare(start());
    assert!(found.iter().any(|one| one.starts_with("101|2|")), "{found:?}");
}

#[test]
fn messages_of_transient_problems_are_the_same() {
    let mut world = World::with(&[]);
    for _ in 0..6 {
        world.open(TRIGGER, &[], 60);
        world.end(TRIGGER, 7_200);
    }
    world.run(r#"UPDATE actions SET calming = '{"transients": 1}'"#);
    let from = i64::from(world.now().clock);
    world.open(TRIGGER, &[], 40);
    world.end(TRIGGER, 5_000);
    world.open(TRIGGER, &[], 500);
    world.end(TRIGGER, 5_000);
    let found = world.compare(from);
    assert_eq!(found[..2], ["101|0|4", "101|4|2"], "three steps and the end of the second");
}

#[test]
fn messages_of_flapping_triggers_are_the_same() {
    let mut world = World::with(&[("calming", r#"{"flapping": 1, "transients": 1}"#)]);
    world.run("UPDATE operations SET esc_step_to = 1 WHERE operationid = 401");
    for _ in 0..9 {
        world.open(TRIGGER, &[], 20);
        world.end(TRIGGER, 20);
    }
    world.pass(4_000);
    for _ in 0..7 {
        world.open(TRIGGER, &[], 20);
        world.end(TRIGGER, 20);
    }
    world.open(TRIGGER, &[], 4_000);
    world.end(TRIGGER, 100);
    let found = world.compare(start());
    assert!(found.iter().any(|one| one.starts_with("101|5|")), "{found:?}");
}

#[test]
fn grouped_messages_are_the_same() {
    let mut world = World::with(&[("grouping", GROUPED)]);
    for tags in [SHOP, &[("service", "mail")], SHOP] {
        world.open(TRIGGER, tags, 7);
        world.open(CHILD, tags, 100);
        world.end(TRIGGER, 50);
        world.open(DISASTER, tags, 4_000);
        world.end(CHILD, 200);
        world.end(DISASTER, 40);
    }
    world.open(TRIGGER, SHOP, 10);
    world.compare(start());
    world.pass(8_000);
    let found = world.compare(start());
    assert!(found.iter().any(|one| one.starts_with("101|1|")), "{found:?}");
}

#[test]
fn messages_beyond_the_limit_are_the_same() {
    let limit = ("storm_limit", r#"{"messages": 2, "period": "10m"}"#);
    for settings in [&[limit][..], &[limit, ("grouping", GROUPED)]] {
        let mut world = World::with(settings);
        for n in 0..12 {
            world.open(TRIGGER, SHOP, 20 * n);
            world.open(DISASTER, &[], 5);
            world.end(TRIGGER, 30);
            world.end(DISASTER, 15);
            if n % 4 == 1 {
                world.compare(start());
            }
        }
        world.pass(2_000);
        let found = world.compare(start());
        assert!(found.iter().any(|one| one.starts_with("101|3|")), "{found:?}");
    }
}

#[test]
fn an_endless_step_is_cut_and_says_where() {
    let world = World::with(&[]);
    world.run("UPDATE operations SET esc_step_to = 0 WHERE operationid = 401");
    world.problem(TRIGGER);
    world.clock.advance(Duration::from_secs(100));
    world.problem(CHILD);
    let span = Span { from: start(), till: start() + 30 * 86_400 };
    let found = world.rehearse(span);
    let stopped = found.stopped_at.unwrap();
    assert!(stopped > start() + 86_400 && stopped < span.till, "{stopped}");
    let steps = |from: i64| u64::try_from((stopped - from) / 60 + 1).unwrap();
    let messages = steps(start()) + steps(start() + 100);
    assert_eq!(found.users[&ALICE].messages, messages, "all up to then, none after it");
    assert_eq!((found.problems, found.fitting), (2, 2));
    let listed: Vec<i64> = found.listed.iter().map(|one| one.at).collect();
    assert!(listed.is_sorted() && listed[listed.len() - 1] <= stopped);
    let whole = world.rehearse(Span { till: stopped, ..span });
    assert_eq!((whole.stopped_at, whole.users[&ALICE].messages), (None, messages));
}
