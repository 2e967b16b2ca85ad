//! How many days of values are all embedded, where stores have what is older.

use std::path::Path;

use crate::{Day, Error};

/// First line of the file.
const TITLE: &str = "vedette history embedded days 1";
/// In the folder of the stores' positions.
const FILE: &str = "embedded.days";

/// The days of the parameter, once they are there: what was written while the parameter said fewer
/// leaves as it said then. So after a raise they become more one by one, from the first day on that
/// was written wholly since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddedDays {
    days: u16,
    /// Fewer, for what was written until this day.
    before: Option<(u16, Day)>,
}

impl EmbeddedDays {
    /// So many ever since.
    pub const fn always(days: u16) -> Self {
        Self { days, before: None }
    }

    /// What a parameter of so many days comes to today, by a file in `dir`, which exists. When it
    /// returns `Ok`, a change is remembered, also over a power cut.
    pub fn since(dir: &Path, days: u16, today: Day) -> Result<Self, Error> {
        let path = dir.join(FILE);
        let known = match std::fs::read_to_string(&path) {
            Ok(text) => Some(Self::parse(&text).ok_or_else(|| {
                Error::config(format!(
                    "{path:?} is damaged: move it away, and if --history-embedded-days was raised \
                     lately, lower it to what it was and raise it again"
                ))
            })?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed("read", &path, &error)),
        };
        let now = known.map_or(Self::always(days), |known| known.changed(days, today));
        if known != Some(now) {
            stdx::file::replace(&path, now.to_text().as_bytes())
                .map_err(|error| failed("write", &path, &error))?;
        }
        Ok(now)
    }

    /// Whole days before `today` of which everything is embedded.
    pub fn on(&self, today: Day) -> u16 {
        let Some((fewer, until)) = self.before else { return self.days };
        let since = today.0.saturating_sub(until.0.saturating_add(1));
        u16::try_from(since).unwrap_or(u16::MAX).max(fewer).min(self.days)
    }

    /// The same with another parameter from today on. Who raises it again before the days are there
    /// starts from the fewest: stores have what they are asked for too much.
    fn changed(self, days: u16, today: Day) -> Self {
        let is_raise = days > self.days;
        let fewest = match self.before {
            Some((fewer, _)) if self.on(today) < self.days => fewer,
            _ => self.days,
        };
        let before = if is_raise { Some((fewest, today)) } else { self.before };
        Self { days, before: before.filter(|(fewer, _)| *fewer < days) }
    }

    fn to_text(self) -> String {
        let before = self.before.map(|(fewer, until)| format!("{fewer} until {}\n", until.0));
        format!("{TITLE}\n{}{}\nend\n", before.unwrap_or_default(), self.days)
    }

    /// Blanks and empty lines more or less do no harm.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        if lines.next()? != TITLE || lines.next_back()? != "end" {
            return None;
        }
        let days = lines.next_back()?.parse().ok()?;
        let before = |line: &str| {
            let (fewer, until) = line.split_once(" until ")?;
            Some((fewer.trim().parse().ok()?, Day(until.trim().parse().ok()?)))
        };
        let before = lines.next().map(|line| before(line).ok_or(())).transpose().ok()?;
        lines.next().is_none().then_some(Self { days, before })
    }
}

fn failed(what: &str, path: &Path, cause: &std::io::Error) -> Error {
    Error::storage_away(format!(
        "cannot {what} {path:?}: {cause}; check that the disk is healthy and has space"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days by the parameter that values of each day were written under: what of a class is gone.
    fn embedded(parameters: &[(u32, u16)], today: u32) -> u32 {
        let class = |day: u32| {
            let of_day = parameters.iter().enumerate().filter(|(n, (from, _))| {
                let till = parameters.get(n + 1).map_or(u32::MAX, |(next, _)| *next);
                // On the day of a change some values were written before and some after it.
                *from <= day && day <= till
            });
            of_day.map(|(_, (_, days))| u32::from(*days)).min().unwrap()
        };
        (0..today).take_while(|back| class(today - back - 1) > *back).count() as u32
    }

    #[test]
    fn days_are_there_when_they_have_filled() {
        let dir = tempfile::tempdir().unwrap();
        for changes in [
            &[(0, 7), (100, 30)][..],
            &[(0, 7), (100, 30), (110, 90), (300, 7)],
            &[(0, 7), (100, 30), (103, 31), (140, 200)],
            &[(0, 30), (100, 7), (102, 30)],
            &[(0, 7), (100, 90), (110, 30), (115, 90)],
            &[(0, 7), (100, 90), (110, 3), (115, 60)],
            &[(0, 7), (100, 9), (100, 30), (100, 7), (101, 7)],
        ] {
            let mut days = EmbeddedDays::always(1);
            drop(std::fs::remove_file(dir.path().join(FILE)));
            for today in 0..400 {
                for (_, parameter) in changes.iter().filter(|(day, _)| *day == today) {
                    // As after restarts.
                    for _ in 0..2 {
                        days = EmbeddedDays::since(dir.path(), *parameter, Day(today)).unwrap();
                    }
                }
                if today < 50 {
                    continue;
                }
                let there = embedded(changes, today);
                let said = u32::from(days.on(Day(today)));
                assert!(said <= there, "{changes:?} {today}: {said} of {there}");
                if today > 350 || changes.len() == 2 {
                    assert_eq!(said, there, "{changes:?} {today}");
                }
            }
        }
    }

    #[test]
    fn damage_is_reported_and_blanks_are_no_damage() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        let read = |days| EmbeddedDays::since(dir.path(), days, Day(20_000));
        assert_eq!(read(7).unwrap(), EmbeddedDays::always(7));
        let raised = read(30).unwrap();
        assert_eq!((raised.on(Day(20_000)), raised.on(Day(20_031))), (7, 30));
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, whole.replace('\n', " \r\n\n")).unwrap();
        assert_eq!(read(30).unwrap(), raised);
        for len in 0..whole.trim_end().len() {
            std::fs::write(&path, &whole[..len]).unwrap();
            let error = read(30).unwrap_err();
            assert!(error.message.contains("move it away"), "{len}: {error}");
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(read(30).unwrap_err().message.contains("cannot read"));
    }
}
