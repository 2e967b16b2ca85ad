//! Changes of the configuration by an administrator.

use config::db::{DbResult, Value};
use config::schema::Table;
use config::{Edit, table};

use super::estate::{Estate, MAINTAINED};
use crate::escalation::simulation::Random;

/// A change by an administrator.
#[derive(Debug, Clone)]
pub(super) enum Change {
    ActionEnabled(u64, bool),
    ActionPeriod(u64, u32),
    ActionDeleted(u64),
    OperationLast(u64, u64, u32),
    UserDeleted(u64),
    MediumEnabled(u64, bool),
    MediumAddress(u64, String),
    MediumDeleted(u64),
    MediaTypeEnabled(u64, bool),
    MediaTypeDeleted(u64),
    TriggerEnabled(u64, bool),
    TriggerSeverity(u64, i64),
    TriggerDeleted(u64),
    HostEnabled(u64, bool),
    MaintenanceBegins(i64, i64),
    MaintenanceDeleted,
}

impl Change {
    /// `None` = what it would change is deleted.
    pub(super) fn of(random: &mut Random, estate: &Estate, now: i64) -> Option<Self> {
        let action = 301 + random.below(2);
        let (medium, media_type) = (random.below(20), 901 + random.below(3));
        let medium = estate.media.keys().copied().nth(medium as usize);
        let (trigger, host) = (1 + random.below(5), 50 + random.below(2));
        let (is_deletion, on) = (random.one_in(3), random.one_in(2));
        let has_action = estate.actions.contains_key(&action);
        let has_trigger = estate.triggers.contains_key(&trigger);
        Some(match random.below(13) {
            0 if has_action => Self::ActionEnabled(action, on),
            1 if has_action => Self::ActionPeriod(action, [60, 90, 150][random.below(3) as usize]),
            2 if has_action && is_deletion => Self::ActionDeleted(action),
            3 if has_action => {
                let first = estate.actions[&action].operations.first()?;
                Self::OperationLast(action, first.id, first.first + random.below(3) as u32)
            }
            4 => {
                let users = &estate.users;
                Self::UserDeleted(*users.get(random.below(6) as usize)?)
            }
            5 => Self::MediumEnabled(medium?, on),
            6 if is_deletion => Self::MediumDeleted(medium?),
            6 => Self::MediumAddress(medium?, format!("new-{}", estate.changes)),
            7 if estate.media_types.contains_key(&media_type) => {
                if random.one_in(5) {
                    Self::MediaTypeDeleted(media_type)
                } else {
                    Self::MediaTypeEnabled(media_type, on)
                }
            }
            8 if has_trigger && is_deletion => Self::TriggerDeleted(trigger),
            8 if has_trigger => Self::TriggerEnabled(trigger, on),
            9 if has_trigger => Self::TriggerSeverity(trigger, 2 + random.seconds(4)),
            10 => Self::HostEnabled(host, on),
            11 | 12 if estate.maintenance.is_some() => Self::MaintenanceDeleted,
            11 | 12 => Self::MaintenanceBegins(now - 5, now + 60 + random.seconds(300)),
            _ => return None,
        })
    }

    pub(super) fn apply(&self, estate: &mut Estate) {
        estate.changes += 1;
        let Estate { hosts, triggers, users, media, media_types, actions, maintenance, .. } =
            estate;
        match *self {
            Self::ActionEnabled(id, on) => actions.get_mut(&id).unwrap().enabled = on,
            Self::ActionPeriod(id, s) => actions.get_mut(&id).unwrap().period_s = s,
            Self::ActionDeleted(id) => drop(actions.remove(&id)),
            Self::OperationLast(id, operation, last) => {
                let mut operations = actions.get_mut(&id).unwrap().operations.iter_mut();
                operations.find(|one| one.id == operation).unwrap().last = last;
            }
            Self::UserDeleted(id) => {
                users.retain(|user| *user != id);
                media.retain(|_, medium| medium.user != id);
            }
            Self::MediumEnabled(id, on) => media.get_mut(&id).unwrap().enabled = on,
            Self::MediumAddress(id, ref to) => media.get_mut(&id).unwrap().sendto.clone_from(to),
            Self::MediumDeleted(id) => drop(media.remove(&id)),
            Self::MediaTypeEnabled(id, on) => media_types.get_mut(&id).unwrap().enabled = on,
            Self::MediaTypeDeleted(id) => {
                media_types.remove(&id);
                media.retain(|_, medium| medium.media_type != id);
            }
            Self::TriggerEnabled(id, on) => triggers.get_mut(&id).unwrap().enabled = on,
            Self::TriggerSeverity(id, severity) => {
                triggers.get_mut(&id).unwrap().severity = severity;
            }
            Self::TriggerDeleted(id) => {
                triggers.remove(&id);
                triggers.values_mut().filter(|one| one.master == Some(id)).for_each(|one| {
                    one.master = None;
                });
            }
            Self::HostEnabled(id, on) => drop(hosts.insert(id, on)),
            Self::MaintenanceBegins(since, until) => *maintenance = Some((since, until)),
            Self::MaintenanceDeleted => *maintenance = None,
        }
    }

    /// `after`: the configuration with it.
    pub(super) fn write(&self, edit: &mut Edit<'_>, after: &Estate) -> DbResult<()> {
        if let Some((table, key, id)) = self.deletes() {
            edit.delete(table, key, &[id])?;
            return after.count(edit);
        }
        if let Self::MaintenanceBegins(since, until) = *self {
            write_maintenance(edit, since, until)?;
            return after.count(edit);
        }
        let status = |on: bool| Value::from(!on);
        let (table, id, column, value): (&'static Table, _, _, _) = match *self {
            Self::ActionEnabled(id, on) => (&table::ACTIONS, id, "status", status(on)),
            Self::ActionPeriod(id, s) => {
                (&table::ACTIONS, id, "esc_period", format!("{s}s").into())
            }
            Self::OperationLast(_, id, last) => {
                (&table::OPERATIONS, id, "esc_step_to", i64::from(last).into())
            }
            Self::MediumEnabled(id, on) => (&table::MEDIA, id, "active", status(on)),
            Self::MediumAddress(id, ref to) => (&table::MEDIA, id, "sendto", to.as_str().into()),
            Self::MediaTypeEnabled(id, on) => (&table::MEDIA_TYPES, id, "status", status(on)),
            Self::TriggerEnabled(id, on) => (&table::TRIGGERS, id, "status", status(on)),
            Self::TriggerSeverity(id, severity) => {
                (&table::TRIGGERS, id, "priority", severity.into())
            }
            Self::HostEnabled(id, on) => (&table::HOSTS, id, "status", status(on)),
            ref deletion => unreachable!("{deletion:?}"),
        };
        edit.update(table, id, &[(column, value)])?;
        after.count(edit)
    }

    /// The row that it deletes, if it is a deletion.
    fn deletes(&self) -> Option<(&'static Table, &'static str, u64)> {
        Some(match *self {
            Self::ActionDeleted(id) => (&table::ACTIONS, "actionid", id),
            Self::UserDeleted(id) => (&table::USERS, "userid", id),
            Self::MediumDeleted(id) => (&table::MEDIA, "mediaid", id),
            Self::MediaTypeDeleted(id) => (&table::MEDIA_TYPES, "mediatypeid", id),
            Self::TriggerDeleted(id) => (&table::TRIGGERS, "triggerid", id),
            Self::MaintenanceDeleted => (&table::MAINTENANCES, "maintenanceid", 1),
            _ => return None,
        })
    }
}

fn write_maintenance(edit: &mut Edit<'_>, since: i64, until: i64) -> DbResult<()> {
    let id = || ("maintenanceid", Value::from(1_u64));
    let row = [id(), ("active_since", since.into()), ("active_till", until.into())];
    edit.insert(&table::MAINTENANCES, &row)?;
    let row = [id(), ("start_date", since.into()), ("period", (until - since).into())];
    edit.insert(&table::MAINTENANCE_PERIODS, &row)?;
    edit.insert(&table::MAINTENANCE_HOSTS, &[id(), ("hostid", MAINTAINED.into())])
}
