//! Readings of alerting: what waits to be sent, and how late escalations are.

use std::collections::BTreeMap;

use config::Config;
use config::db::DbResult;
use media::{Figures, Queues, Waiting};
use model::MediaTypeId;

/// State of alerting in the database, a few seconds old.
#[derive(Debug, Clone, Default)]
pub(crate) struct Alerting {
    /// By media type.
    waiting: BTreeMap<u64, Waiting>,
    /// How late the escalator is.
    pub(crate) delay_s: u64,
}

impl Alerting {
    pub(crate) fn read(config: &Config, now: u64) -> DbResult<Self> {
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        config.read(|connection| {
            let waiting = Waiting::read(connection)?;
            Ok(Self { waiting, delay_s: actions::delay_s(connection, now)? })
        })
    }
}

impl Alerting {
    /// A figure about messages, of one media type by its name or of all together.
    pub(crate) fn figure(
        &self,
        figure: &str,
        media_type: &str,
        queues: &Queues,
        now: u64,
    ) -> Result<u64, String> {
        let mut types: Vec<(&u64, &Waiting)> = self.waiting.iter().collect();
        if !media_type.is_empty() {
            types.retain(|(_, one)| one.name == media_type);
            if types.is_empty() {
                return Err("Invalid fourth parameter: no such media type.".to_owned());
            }
        }
        let counted = || match media_type {
            "" => queues.figures(),
            _ => types.iter().fold(Figures::default(), |all, (id, _)| {
                all + queues.figures_of(MediaTypeId(**id))
            }),
        };
        Ok(match figure {
            "waiting" => types.iter().map(|(_, one)| one.messages).sum(),
            "oldest" => {
                let oldest = types.iter().map(|(_, one)| one.oldest).filter(|oldest| *oldest > 0);
                oldest.min().map_or(0, |oldest| now.saturating_sub(oldest))
            }
            "sent" => counted().sent,
            "failed" => counted().failed,
            _ => return Err("Invalid third parameter.".to_owned()),
        })
    }
}
