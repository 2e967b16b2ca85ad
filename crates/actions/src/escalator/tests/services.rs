//! Events of services: steps, other statuses, ends, rights of roles.

use super::*;

const SERVICE: u64 = 71;
/// Its problem event.
const EVENT: u64 = 20_000;

impl World {
    /// The action is on services that have the tag `team` with the value `web`.
    fn of_services() -> Self {
        let world = Self::new();
        let (id, name) = (("serviceid", SERVICE.into()), ("name", Value::from("Shop")));
        world.put(&table::SERVICES, &[id, name]);
        world.run("DELETE FROM action_conditions");
        world.put(
            &table::ACTION_CONDITIONS,
            &[
                ("actionid", ACTION.into()),
                ("conditiontype", 26_i64.into()),
                ("operator", 0_i64.into()),
                ("value", "web".into()),
                ("value2", "team".into()),
            ],
        );
        world.run("UPDATE actions SET eventsource = 4");
        world
    }

    /// An event of the service with that tag, as the service's thread writes it.
    fn service_event(&self, event: u64, severity: i64) {
        self.put_state(
            &table::EVENTS,
            &[
                ("eventid", event.into()),
                ("source", 4_i64.into()),
                ("object", 6_i64.into()),
                ("objectid", SERVICE.into()),
                ("value", i64::from(severity >= 0).into()),
                ("severity", severity.into()),
            ],
        );
        let tag = [("eventtagid", event.into()), ("eventid", event.into()), ("tag", "team".into())];
        self.put_state(&table::EVENT_TAGS, &[&tag[..], &[("value", "web".into())]].concat());
    }

    fn service_problem(&self, severity: i64) {
        self.service_event(EVENT, severity);
        self.put_state(
            &table::PROBLEMS,
            &[
                ("eventid", EVENT.into()),
                ("source", 4_i64.into()),
                ("object", 6_i64.into()),
                ("objectid", SERVICE.into()),
            ],
        );
    }

    fn alarm(&self, id: u64, of: u64) {
        self.put_state(
            &table::SERVICE_ALARMS,
            &[("servicealarmid", id.into()), ("serviceid", SERVICE.into()), ("eventid", of.into())],
        );
    }

    fn service_ends(&self) {
        self.service_event(EVENT + 1, -1);
        for table in ["problems", "events"] {
            let end = EVENT + 1;
            self.run_state(&format!(
                "UPDATE {table} SET r_eventid = {end} WHERE eventid = {EVENT}"
            ));
        }
    }

    fn put_state(&self, table: &'static Table, row: Columns<'_>) {
        let written: Result<(), DbError> =
            self.config.write_state(|state| state.insert(table, row));
        written.unwrap();
    }
}

#[test]
fn a_service_has_steps_updates_and_an_end() {
    let mut world = World::of_services();
    assert_eq!(world.sent(), Vec::<String>::new());
    world.service_problem(3);
    world.alarm(1, 0);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    assert_eq!(world.after(60), ["alice PROBLEM", "bob SECOND"]);
    // Another status is an update.
    world.alarm(2, EVENT);
    let mut updates = world.sent();
    updates.sort_unstable();
    assert_eq!(updates, ["alice UPDATE", "bob UPDATE"]);
    assert_eq!(world.sent(), Vec::<String>::new(), "it is told once");
    world.service_ends();
    world.alarm(3, 0);
    assert_eq!(world.sent().len(), 2);
    assert_eq!(world.rows("SELECT * FROM escalations"), Vec::<String>::new());
    let rows = "SELECT subject, eventid, p_eventid, acknowledgeid, esc_step FROM alerts \
                WHERE userid = 101 AND esc_step = 1 ORDER BY alertid";
    assert_eq!(
        world.rows(rows),
        [
            format!("PROBLEM|{EVENT}|0|0|1"),
            format!("UPDATE|{EVENT}|0|0|1"),
            format!("OK|{}|{EVENT}|0|1", EVENT + 1),
        ]
    );
}

#[test]
fn roles_decide_who_gets_messages_of_services() {
    let mut world = World::of_services();
    // A super admin whose role has no services.
    world.run("UPDATE users SET roleid = 3 WHERE userid = 101");
    world.run(
        "UPDATE roles SET rules = '{\"services.read.mode\":\"0\",\"services.write.mode\":\"0\"}' \
         WHERE roleid = 3",
    );
    world.service_problem(3);
    assert_eq!(world.sent(), Vec::<String>::new());
    assert_eq!(world.after(60), ["bob SECOND"], "rights on hosts do not matter");
}

#[test]
fn other_services_and_deleted_ones_are_left_out() {
    let mut world = World::of_services();
    world.service_problem(3);
    world.run_state("UPDATE event_tags SET value = 'other'");
    assert_eq!(world.sent(), Vec::<String>::new());
    let mut world = World::of_services();
    world.service_problem(3);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    world.run("DELETE FROM services");
    assert_eq!(world.after(60), Vec::<String>::new());
    assert_eq!(world.rows("SELECT * FROM escalations"), Vec::<String>::new());
}

#[test]
fn severities_of_media_are_those_of_the_event() {
    let mut world = World::of_services();
    world.run("UPDATE media SET severity = 8 WHERE userid = 101");
    world.service_problem(2);
    assert_eq!(world.sent(), Vec::<String>::new());
    let mut world = World::of_services();
    world.run("UPDATE media SET severity = 8 WHERE userid = 101");
    world.service_problem(3);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
}
