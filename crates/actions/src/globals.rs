//! What the whole configuration has in common: global user macros, the server's time zone.

use std::num::NonZeroU32;

use config::snapshot::{Macros, Snapshot};
use eval::macros::{FunctionEnv, MacroScope, TokenKind, substitute};
use eval::num::parse_seconds;
use eval::time::{PeriodError, in_periods, parse_periods};
use jiff::tz::TimeZone;

/// Shortest and longest duration of an escalation step, seconds.
const DURATION_S: std::ops::RangeInclusive<u32> = 60..=7 * 86_400;

/// Global macros and the server's time zone.
#[derive(Debug)]
pub(crate) struct Globals<'a> {
    pub(crate) macros: &'a Macros,
    pub(crate) tz: TimeZone,
}

impl<'a> Globals<'a> {
    /// Of a state of the configuration.
    pub(crate) fn of(snapshot: &'a Snapshot) -> Self {
        Self { macros: &snapshot.macros, tz: snapshot.settings.time_zone() }
    }

    /// The text with the values of global macros, secret ones included: it is for the server itself. Macros of hosts, and
    /// unknown ones, stay.
    fn expand(&self, text: &str) -> String {
        if !text.contains("{$") {
            return text.to_owned();
        }
        let scope = MacroScope { nodes: self.macros, hosts: &[] };
        substitute(text, &FunctionEnv { tz: &self.tz }, &mut |token| match &token.kind {
            TokenKind::User(wanted) => scope.resolve(wanted).map(|found| found.value.clone()),
            _ => None,
        })
    }

    /// Duration of a step. `None` = the text, with its macros expanded, is no duration that a step can have.
    pub(crate) fn duration(&self, text: &str) -> Option<NonZeroU32> {
        let seconds = parse_seconds(&self.expand(text))?;
        NonZeroU32::new(seconds).filter(|_| DURATION_S.contains(&seconds))
    }

    /// The second is in one of the periods.
    pub(crate) fn in_periods(
        &self,
        text: &str,
        at: i64,
        tz: &TimeZone,
    ) -> Result<bool, PeriodError> {
        Ok(in_periods(&parse_periods(&self.expand(text))?, at, tz))
    }

    /// The zone of this name; that of the server for `default` and for unknown names.
    pub(crate) fn zone(&self, name: &str) -> TimeZone {
        match name {
            "" | "default" => self.tz.clone(),
            "system" => TimeZone::system(),
            name => TimeZone::get(name).unwrap_or_else(|_| self.tz.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use eval::macros::{MacroDef, MacroKind};

    use super::*;

    #[test]
    fn durations_take_global_macros_only() {
        let secret = MacroDef { kind: MacroKind::Secret, ..MacroDef::text("{$S}", "2m").unwrap() };
        let global = vec![
            MacroDef::text("{$STEP}", "75s").unwrap(),
            MacroDef::text("{$BAD}", "soon").unwrap(),
            secret,
        ];
        let mut macros = Macros { global, ..Macros::default() };
        let of_host = vec![MacroDef::text("{$HOST}", "90s").unwrap()];
        macros.of_host.insert(model::HostId(1), of_host);
        let globals = Globals { macros: &macros, tz: TimeZone::UTC };
        for (text, seconds) in [
            ("1h", Some(3_600)),
            ("60", Some(60)),
            ("59s", None),
            ("1w", Some(604_800)),
            ("604801", None),
            ("{$STEP}", Some(75)),
            ("{$S}", Some(120)),
            ("{$BAD}", None),
            ("{$HOST}", None),
            ("{$NONE}", None),
            ("0", None),
            ("", None),
        ] {
            assert_eq!(globals.duration(text).map(NonZeroU32::get), seconds, "{text}");
        }
    }
}
