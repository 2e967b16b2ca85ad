//! The configuration: what is monitored, who gets messages, and changes of it. The model reads it here, the server in the
//! database.

use std::collections::BTreeMap;

use config::db::{DbResult, Value};
use config::{Edit, table};

use crate::escalation::simulation::Random;

const GROUP: u64 = 5_000;
const TEAM: u64 = 201;
/// The host that has maintenances.
pub(super) const MAINTAINED: u64 = 50;

#[derive(Debug, Clone)]
pub(super) struct Trigger {
    pub(super) host: u64,
    pub(super) severity: i64,
    /// Each bad value opens a problem.
    pub(super) multiple: bool,
    pub(super) master: Option<u64>,
    pub(super) enabled: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Medium {
    pub(super) user: u64,
    pub(super) media_type: u64,
    pub(super) sendto: String,
    pub(super) enabled: bool,
}

#[derive(Debug, Clone)]
pub(super) struct MediaType {
    pub(super) enabled: bool,
    pub(super) deduplicates: bool,
    pub(super) living: bool,
    /// 0 = no limit.
    pub(super) sessions: usize,
}

#[derive(Debug, Clone)]
pub(super) struct Operation {
    pub(super) id: u64,
    pub(super) first: u32,
    /// 0 = all steps that follow.
    pub(super) last: u32,
    /// 0 = that of the action.
    pub(super) duration_s: u32,
    pub(super) acknowledged: Option<bool>,
    pub(super) users: Vec<u64>,
    /// 0 = all.
    pub(super) media_type: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Action {
    pub(super) enabled: bool,
    pub(super) period_s: u32,
    pub(super) least_severity: i64,
    pub(super) pauses: bool,
    pub(super) notifies: bool,
    pub(super) operations: Vec<Operation>,
    /// The operation that tells all involved of the end.
    pub(super) recovery: Option<u64>,
    /// The same of updates.
    pub(super) update: Option<u64>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Estate {
    pub(super) hosts: BTreeMap<u64, bool>,
    pub(super) triggers: BTreeMap<u64, Trigger>,
    pub(super) users: Vec<u64>,
    pub(super) media: BTreeMap<u64, Medium>,
    pub(super) media_types: BTreeMap<u64, MediaType>,
    pub(super) actions: BTreeMap<u64, Action>,
    /// A maintenance of the first host: from when to when.
    pub(super) maintenance: Option<(i64, i64)>,
    /// Changes so far, which the database counts, too.
    pub(super) changes: u64,
}

impl Estate {
    pub(super) fn new(random: &mut Random) -> Self {
        let mut estate = Self { users: (101..=104).collect(), ..Self::default() };
        estate.hosts.extend([(50, true), (51, true)]);
        for id in 1..=5 {
            let trigger = Trigger {
                host: if id == 5 { 51 } else { 50 },
                severity: 2 + random.seconds(4),
                multiple: id == 4,
                master: (id == 2).then_some(1),
                enabled: true,
            };
            estate.triggers.insert(id, trigger);
        }
        for (id, deduplicates, living, sessions) in
            [(901, false, false, 1), (902, true, false, 2), (903, false, true, 0)]
        {
            let media_type = MediaType { enabled: true, deduplicates, living, sessions };
            estate.media_types.insert(id, media_type);
        }
        for (at, user) in estate.users.clone().into_iter().enumerate() {
            for media_type in 901..=903 {
                if media_type == 901 + at as u64 % 3 || random.one_in(3) {
                    let id = media_type * 1_000 + user;
                    let sendto = format!("to-{id}");
                    let medium = Medium { user, media_type, sendto, enabled: !random.one_in(6) };
                    estate.media.insert(id, medium);
                }
            }
        }
        for id in [301, 302] {
            let action = action(random, id);
            estate.actions.insert(id, action);
        }
        estate
    }

    /// Fills an empty database.
    pub(super) fn write(&self, edit: &mut Edit<'_>) -> DbResult<()> {
        edit.insert(&table::GROUPS, &[("groupid", GROUP.into()), ("name", "Web".into())])?;
        for host in self.hosts.keys() {
            let name = format!("host {host}");
            let row = [("hostid", (*host).into()), ("host", text(&name)), ("name", text(&name))];
            edit.insert(&table::HOSTS, &row)?;
            let row = [("hostid", (*host).into()), ("groupid", GROUP.into())];
            edit.insert(&table::HOST_GROUPS, &row)?;
            let row = [
                ("itemid", (host * 10).into()),
                ("hostid", (*host).into()),
                ("key_", "k".into()),
                ("type", 2_i64.into()),
            ];
            edit.insert(&table::ITEMS, &row)?;
        }
        self.triggers.iter().try_for_each(|(id, trigger)| trigger.write(edit, *id))?;
        for (id, one) in self.triggers.iter().filter_map(|(id, one)| Some((id, one.master?))) {
            let row = [("triggerid", (*id).into()), ("depends_on", one.into())];
            edit.insert(&table::TRIGGER_DEPENDS, &row)?;
        }
        self.write_people(edit)?;
        self.actions.iter().try_for_each(|(id, action)| action.write(edit, *id))
    }

    fn write_people(&self, edit: &mut Edit<'_>) -> DbResult<()> {
        let row = [("roleid", 1_u64.into()), ("name", "user".into()), ("type", 1_i64.into())];
        edit.insert(&table::ROLES, &row)?;
        edit.insert(&table::USERGROUPS, &[("usrgrpid", TEAM.into()), ("name", "0".into())])?;
        let row =
            [("usrgrpid", TEAM.into()), ("groupid", GROUP.into()), ("permission", 2_i64.into())];
        edit.insert(&table::GROUP_RIGHTS, &row)?;
        for user in &self.users {
            let name = format!("user {user}");
            let row =
                [("userid", (*user).into()), ("username", text(&name)), ("roleid", 1_u64.into())];
            edit.insert(&table::USERS, &row)?;
            let row = [("userid", (*user).into()), ("usrgrpid", TEAM.into())];
            edit.insert(&table::USER_GROUPS, &row)?;
        }
        for (id, one) in &self.media_types {
            let row = [
                ("mediatypeid", (*id).into()),
                ("name", format!("m{id}").into()),
                ("type", 4_i64.into()),
                ("status", 0_i64.into()),
                ("maxsessions", (one.sessions as u64).into()),
                ("deduplicates", one.deduplicates.into()),
                ("living", one.living.into()),
            ];
            edit.insert(&table::MEDIA_TYPES, &row)?;
            let row = [
                ("mediatypeid", (*id).into()),
                ("position", 0_i64.into()),
                ("name", "id".into()),
                ("value", "{ALERT.ID}".into()),
            ];
            edit.insert(&table::MEDIA_TYPE_PARAMS, &row)?;
        }
        for (id, one) in &self.media {
            let row = [
                ("mediaid", (*id).into()),
                ("userid", one.user.into()),
                ("mediatypeid", one.media_type.into()),
                ("sendto", text(&one.sendto)),
                ("active", (!one.enabled).into()),
            ];
            edit.insert(&table::MEDIA, &row)?;
        }
        Ok(())
    }
}

fn text(text: &str) -> Value {
    Value::from(text)
}

fn action(random: &mut Random, id: u64) -> Action {
    let first_id = id * 10;
    let operation = |at: u64, random: &mut Random| {
        let first = 1 + u32::try_from(random.below(3)).unwrap();
        let mut users: Vec<u64> = (101..=104).filter(|_| random.one_in(2)).collect();
        if users.is_empty() {
            users.push(101 + random.below(4));
        }
        Operation {
            id: first_id + at,
            first,
            last: [0, first, first + 1, first + 2][random.below(4) as usize],
            duration_s: [0, 0, 60, 90, 200][random.below(5) as usize],
            acknowledged: [None, None, Some(false), Some(true)][random.below(4) as usize],
            users,
            media_type: [0, 0, 901, 902, 903][random.below(5) as usize],
        }
    };
    Action {
        enabled: true,
        period_s: [60, 75, 120][random.below(3) as usize],
        least_severity: 2 + random.seconds(3),
        pauses: !random.one_in(4),
        notifies: !random.one_in(3),
        operations: (1..=1 + random.below(3)).map(|at| operation(at, random)).collect(),
        recovery: (!random.one_in(4)).then_some(first_id + 8),
        update: (!random.one_in(3)).then_some(first_id + 9),
    }
}

impl Trigger {
    fn write(&self, edit: &mut Edit<'_>, id: u64) -> DbResult<()> {
        let row = [
            ("triggerid", id.into()),
            ("priority", self.severity.into()),
            ("type", self.multiple.into()),
            ("description", format!("trigger {id}").into()),
            ("expression", format!("{{{id}}}>0").into()),
            ("manual_close", 1_i64.into()),
        ];
        edit.insert(&table::TRIGGERS, &row)?;
        let row = [
            ("functionid", id.into()),
            ("triggerid", id.into()),
            ("itemid", (self.host * 10).into()),
            ("name", "last".into()),
        ];
        edit.insert(&table::FUNCTIONS, &row)
    }
}

impl Action {
    fn write(&self, edit: &mut Edit<'_>, id: u64) -> DbResult<()> {
        let row = [
            ("actionid", id.into()),
            ("name", format!("action {id}").into()),
            ("eventsource", 0_i64.into()),
            ("esc_period", format!("{}s", self.period_s).into()),
            ("pause_suppressed", self.pauses.into()),
            ("notify_if_canceled", self.notifies.into()),
        ];
        edit.insert(&table::ACTIONS, &row)?;
        // Severity, at least.
        let row = [
            ("actionid", id.into()),
            ("sortorder", 0_i64.into()),
            ("conditiontype", 4_i64.into()),
            ("operator", 5_i64.into()),
            ("value", self.least_severity.to_string().into()),
        ];
        edit.insert(&table::ACTION_CONDITIONS, &row)?;
        for one in &self.operations {
            let steps = (one.first, one.last, one.duration_s);
            write_operation(edit, id, one.id, (0, 0), steps, one.media_type)?;
            for user in &one.users {
                let row = [("operationid", one.id.into()), ("userid", (*user).into())];
                edit.insert(&table::OPERATION_MESSAGE_USERS, &row)?;
            }
            if let Some(acknowledged) = one.acknowledged {
                let row = [
                    ("operationid", one.id.into()),
                    ("position", 0_i64.into()),
                    ("conditiontype", 14_i64.into()),
                    ("value", i64::from(acknowledged).to_string().into()),
                ];
                edit.insert(&table::OPERATION_CONDITIONS, &row)?;
            }
        }
        for (mode, operation) in [(1, self.recovery), (2, self.update)] {
            if let Some(operation) = operation {
                write_operation(edit, id, operation, (mode, 10 + mode), (1, 1, 0), 0)?;
            }
        }
        Ok(())
    }
}

/// `(mode, kind)` and `(first, last, duration)`. The subject of its messages is its id.
fn write_operation(
    edit: &mut Edit<'_>,
    action: u64,
    id: u64,
    (mode, kind): (i64, i64),
    (first, last, duration_s): (u32, u32, u32),
    media_type: u64,
) -> DbResult<()> {
    let row = [
        ("operationid", id.into()),
        ("actionid", action.into()),
        ("operationtype", kind.into()),
        ("esc_period", duration_s.to_string().into()),
        ("esc_step_from", i64::from(first).into()),
        ("esc_step_to", i64::from(last).into()),
        ("recovery", mode.into()),
    ];
    edit.insert(&table::OPERATIONS, &row)?;
    let row = [
        ("operationid", id.into()),
        ("default_msg", 0_i64.into()),
        ("subject", id.to_string().into()),
        ("message", "text".into()),
        ("mediatypeid", media_type.into()),
    ];
    edit.insert(&table::OPERATION_MESSAGES, &row)
}

impl Estate {
    /// Writes how many changes there were.
    pub(super) fn count(&self, edit: &mut Edit<'_>) -> DbResult<()> {
        let count = [("name", self.changes.to_string().into())];
        edit.update(&table::USERGROUPS, TEAM, &count)
    }
}
