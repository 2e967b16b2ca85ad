//! Rows that the database refuses for what they say: each is found, and the others are written.

use config::Config;
use config::db::{DbError, DbResult};
use model::alert::{Outcome, Report};

use super::alerts::NewAlert;
use super::stored::Changes;
use crate::recipients::{Fate, Text};

/// Replaces an error that the database refused.
const NO_ERROR_TEXT: &str = "The database refused the text of the error. See the server's log.";

/// How a transaction ended that is always rolled back.
enum Trial {
    Fine,
    Failed(DbError),
}

impl From<DbError> for Trial {
    fn from(error: DbError) -> Self {
        Self::Failed(error)
    }
}

/// Whether the database accepts the changes.
fn accepts(config: &Config, mut changes: Changes, now: i64) -> DbResult<bool> {
    let tried: Result<(), Trial> = config.write_state(|state| {
        changes.write(state, now)?;
        Err(Trial::Fine)
    });
    match tried {
        Ok(()) | Err(Trial::Fine) => Ok(true),
        Err(Trial::Failed(error)) if error.is_of_values() => {
            tracing::debug!(%error, "the database refuses changes of escalations");
            Ok(false)
        }
        Err(Trial::Failed(error)) => Err(error),
    }
}

/// The items in their order, and whether each is accepted. One that is refused is found by halving.
fn tried<T: Clone>(
    items: Vec<T>,
    accepts: &mut dyn FnMut(&[T]) -> DbResult<bool>,
) -> DbResult<Vec<(T, bool)>> {
    if items.is_empty() || accepts(&items)? {
        return Ok(items.into_iter().map(|one| (one, true)).collect());
    }
    if items.len() == 1 {
        return Ok(items.into_iter().map(|one| (one, false)).collect());
    }
    let mut first = items;
    let second = first.split_off(first.len() / 2);
    let mut all = tried(first, accepts)?;
    all.extend(tried(second, accepts)?);
    Ok(all)
}

/// The changes that the database accepts. Alerts that it refuses fail, and say so.
pub(super) fn sift(config: &Config, changes: Changes, now: i64) -> DbResult<Changes> {
    let Changes { kept, ended, alerts, freed } = changes;
    let alerts = tried(alerts, &mut |alerts| {
        accepts(config, Changes { alerts: alerts.to_vec(), ..Changes::default() }, now)
    })?;
    let mut sifted = Changes { kept: Vec::new(), ended, alerts: Vec::new(), freed };
    for (alert, is_fine) in alerts {
        if is_fine {
            sifted.alerts.push(alert);
            continue;
        }
        let (action, event, user) = (alert.action, alert.event, alert.user);
        tracing::error!(action, event, user, "the database refuses an alert; it is not sent");
        let marked = marked(alert);
        let alone = Changes { alerts: vec![marked.clone()], ..Changes::default() };
        if accepts(config, alone, now)? {
            sifted.alerts.push(marked);
        }
    }
    let kept = tried(kept, &mut |kept| {
        accepts(config, Changes { kept: kept.to_vec(), ..Changes::default() }, now)
    })?;
    for (escalation, is_fine) in kept {
        if is_fine {
            sifted.kept.push(escalation);
        } else {
            tracing::error!(?escalation, "the database refuses an escalation; it ends");
            sifted.ended.extend(Some(escalation.id).filter(|id| *id != 0));
        }
    }
    Ok(sifted)
}

/// The same alert without what may be refused.
fn marked(alert: NewAlert) -> NewAlert {
    let fate = if alert.fate == Fate::Send { Fate::Refused } else { alert.fate };
    NewAlert { text: Text::default(), parameters: Vec::new(), fate, ..alert }
}

/// The same report without what may be refused.
pub(super) fn plain(report: &Report) -> Report {
    let error = || NO_ERROR_TEXT.to_owned();
    let outcome = match &report.outcome {
        Outcome::Sent { .. } => Outcome::SENT,
        Outcome::Failed { again, .. } => Outcome::Failed { error: error(), again: *again },
        Outcome::Impossible { .. } => Outcome::Impossible { error: error() },
        Outcome::Unknown { .. } => Outcome::Unknown { error: error() },
        Outcome::NotStarted => Outcome::NotStarted,
    };
    Report { alert: report.alert, outcome }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_items_are_found_in_their_order() {
        for bad in [&[][..], &[0], &[4], &[1, 2], &[0, 1, 2, 3, 4]] {
            let accepts = &mut |items: &[i32]| Ok(items.iter().all(|one| !bad.contains(one)));
            let all = tried((0..5).collect(), accepts).unwrap();
            let expected: Vec<_> = (0..5).map(|one| (one, !bad.contains(&one))).collect();
            assert_eq!(all, expected);
        }
    }
}
