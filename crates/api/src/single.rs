//! Objects of which there is one: settings of the whole server, as rows of the table `settings`.
//! What is not there has its default.

use std::collections::BTreeMap;

use config::Edit;
use config::audit::SettingsObject;
use config::db::Reader;
use eval::macros::UserMacro;
use jiff::tz::TimeZone;
use model::DAY_S;
use serde_json::Map;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::methods::trigger;
use crate::object::{Access, FieldKind};
use crate::params;
use crate::write::only;

/// Such an object.
pub(crate) struct Single {
    /// Which one.
    pub(crate) object: SettingsObject,
    /// Its settings in the order of output.
    pub(crate) settings: &'static [Setting],
    /// Refuses or completes a change.
    pub(crate) check: fn(&Call<'_>, &mut Edit<'_>, &mut Change) -> ApiResult<()>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// Its name in the API.
    pub(crate) name: &'static str,
    /// Its name in the table.
    pub(crate) stored: &'static str,
    /// Its value where the table has none.
    pub(crate) default: &'static str,
    /// What it may be.
    pub(crate) rule: Rule,
    /// Who may set it.
    pub(crate) access: Access,
    /// One line for people.
    pub(crate) doc: &'static str,
    /// It is in the output of `get` only if `output` names it: Zabbix does not have it. Only super admins can.
    pub(crate) named: bool,
}

impl Setting {
    /// The same setting, which `get` shows only if `output` names it.
    pub(crate) const fn named(self) -> Self {
        Self { named: true, ..self }
    }
}

/// Shorthand for tables of settings.
pub(crate) const fn setting(
    name: &'static str,
    rule: Rule,
    default: &'static str,
    doc: &'static str,
) -> Setting {
    Setting { name, stored: name, default, rule, access: Access::Optional, doc, named: false }
}

/// What a setting may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    /// What a field of this kind may be.
    Of(FieldKind),
    /// One of these texts.
    Word(&'static [&'static str]),
    /// A time with its unit.
    Time(Time),
    /// Six hexadecimal digits: red, green, blue.
    Color,
    /// Periods of the week, or macros, between semicolons.
    Periods,
    /// A link; so many characters at most.
    Url(usize),
    /// Name of a time zone, or `system`.
    Zone,
}

/// What a time with its unit may be, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Time {
    /// Shortest time.
    pub(crate) min: i64,
    /// Longest time.
    pub(crate) max: i64,
    /// 0 is accepted as well.
    pub(crate) or_zero: bool,
    /// Months of 30 days and years of 365 are units.
    pub(crate) years: bool,
    /// A user macro is accepted as well.
    pub(crate) or_macro: bool,
}

impl Time {
    /// From `min` to `max` seconds.
    pub(crate) const fn of(min: i64, max: i64) -> Rule {
        Rule::Time(Self { min, max, or_zero: false, years: false, or_macro: false })
    }
}

/// Characters of a time with its unit.
const TIME_CHARS: usize = 32;

/// A change of settings, by their names.
pub(crate) struct Change {
    before: BTreeMap<&'static str, String>,
    after: BTreeMap<&'static str, String>,
    names: Vec<&'static str>,
}

impl Change {
    /// Whether the call gives the setting.
    pub(crate) fn gives(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// The value that the setting had.
    pub(crate) fn before(&self, name: &str) -> &str {
        self.before.get(name).map_or("", String::as_str)
    }

    /// The value that the setting will have.
    pub(crate) fn value(&self, name: &str) -> &str {
        self.after.get(name).map_or_else(|| self.before(name), String::as_str)
    }

    /// The same as a number.
    pub(crate) fn number(&self, name: &str) -> i64 {
        self.value(name).parse().unwrap_or(0)
    }

    /// Gives the setting a value.
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.after.insert(name, value.into());
        if !self.gives(name) {
            self.names.push(name);
        }
    }
}

/// The object's `get` method.
pub(crate) fn get(single: &Single, call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = members(input)?;
    only(&members, "/", &["output"])?;
    let seen = |one: &&Setting| !one.named || call.is_super_admin();
    let shown: Vec<&Setting> =
        single.settings.iter().filter(|one| one.access != Access::WriteOnly).filter(seen).collect();
    let wanted = match members.get("output") {
        Some(output) => wanted(&shown, output)?,
        None => every(&shown),
    };
    if wanted.is_empty() {
        return Ok(Json::Array(Vec::new()));
    }
    let stored = call.read(|connection| stored(single, connection))?;
    let value = |one: &&Setting| (one.name.to_owned(), stored[one.name].as_str().into());
    Ok(Json::Object(wanted.iter().map(value).collect()))
}

/// All settings but those that are shown only by name.
fn every<'s>(shown: &[&'s Setting]) -> Vec<&'s Setting> {
    shown.iter().copied().filter(|one| !one.named).collect()
}

fn wanted<'s>(shown: &[&'s Setting], output: &Json) -> ApiResult<Vec<&'s Setting>> {
    let names = match output {
        Json::String(text) if text == "extend" => return Ok(every(shown)),
        Json::String(_) => return Err(ApiError::at("/output", "value must be \"extend\"")),
        Json::Array(names) => names,
        _ => return Err(ApiError::at("/output", "an array or a character string is expected")),
    };
    let mut wanted: Vec<&Setting> = Vec::new();
    for (n, name) in names.iter().enumerate() {
        let path = format!("/output/{}", n + 1);
        let name = params::text(name, &path)?;
        let Some(one) = shown.iter().find(|one| one.name == name) else {
            let names: Vec<&str> = every(shown).iter().map(|one| one.name).collect();
            return Err(ApiError::at(&path, one_of(&names)));
        };
        if wanted.iter().any(|other| other.name == name) {
            return Err(ApiError::at(&path, format_args!("value ({name}) already exists")));
        }
        wanted.push(one);
    }
    Ok(wanted)
}

/// The object's `update` method; returns the names of the settings that are given.
pub(crate) fn update(
    single: &Single,
    call: &Call<'_>,
    input: &Json,
) -> ApiResult<Vec<&'static str>> {
    let members = members(input)?;
    let may_set = |one: &&Setting| one.access != Access::ReadOnly;
    let settings: Vec<&Setting> = single.settings.iter().filter(may_set).collect();
    let known: Vec<&'static str> = settings.iter().map(|one| one.name).collect();
    only(&members, "/", &known)?;
    let mut after = BTreeMap::new();
    for one in &settings {
        if let Some(value) = members.get(one.name) {
            after.insert(one.name, one.rule.check(value, &format!("/{}", one.name))?);
        }
    }
    let name = |given: &String| known.iter().copied().find(|name| name == given);
    let names = members.keys().filter_map(name).collect();
    call.write(|edit| {
        let before = stored(single, edit)?;
        let mut change = Change { before, after, names };
        (single.check)(call, edit, &mut change)?;
        for one in settings {
            if change.value(one.name) != change.before(one.name) {
                edit.set(&config::audit::Setting {
                    object: single.object,
                    name: one.name,
                    stored: one.stored,
                    is_secret: one.access == Access::WriteOnly,
                    before: change.before(one.name),
                    after: change.value(one.name),
                })?;
            }
        }
        Ok(change.names)
    })
}

/// An object, or no parameters at all.
fn members(input: &Json) -> ApiResult<Map<String, Json>> {
    match input {
        Json::Object(members) => Ok(members.clone()),
        Json::Array(values) if values.is_empty() => Ok(Map::new()),
        Json::Array(_) => Err(ApiError::at("/", "unexpected parameter \"0\"")),
        _ => Err(ApiError::at("/", "an array is expected")),
    }
}

/// Gives one setting another value.
pub(crate) fn set(
    single: &Single,
    edit: &mut Edit<'_>,
    name: &'static str,
    after: &str,
) -> ApiResult<()> {
    let before = stored(single, edit)?;
    let Some(one) = single.settings.iter().find(|one| one.name == name) else { return Ok(()) };
    if before[name] == after {
        return Ok(());
    }
    Ok(edit.set(&config::audit::Setting {
        object: single.object,
        name,
        stored: one.stored,
        is_secret: one.access == Access::WriteOnly,
        before: &before[name],
        after,
    })?)
}

/// The values of all settings, by their names.
pub(crate) fn stored(
    single: &Single,
    connection: &mut dyn Reader,
) -> ApiResult<BTreeMap<&'static str, String>> {
    let rows = connection.query("SELECT name, value FROM settings", &[])?;
    let value = |one: &Setting| {
        let row = rows.iter().find(|row| row.text("name") == one.stored);
        (one.name, row.map_or(one.default, |row| row.text("value")).to_owned())
    };
    Ok(single.settings.iter().map(value).collect())
}

fn one_of(words: &[&str]) -> String {
    let listed: Vec<String> =
        words.iter().filter(|word| !word.is_empty()).map(|word| format!("\"{word}\"")).collect();
    match (words.contains(&""), &listed[..]) {
        (true, _) => format!("value must be empty or one of {}", listed.join(", ")),
        (false, [one]) => format!("value must be {one}"),
        (false, _) => format!("value must be one of {}", listed.join(", ")),
    }
}

impl Rule {
    /// The value as it is kept, or why it is refused.
    fn check(self, value: &Json, path: &str) -> ApiResult<String> {
        if let Self::Of(kind) = self {
            let value = kind.check(value, path)?;
            return Ok(value.map(|value| value.to_string()).unwrap_or_default());
        }
        let text = params::text(value, path)?;
        let refused = |error: &str| Err(ApiError::at(path, error));
        if text.is_empty() && matches!(self, Self::Time(_) | Self::Color | Self::Periods) {
            return refused("cannot be empty");
        }
        match self {
            Self::Word(words) if !words.contains(&text.as_str()) => refused(&one_of(words)),
            Self::Time(time) => time.check(&text, path).map(|()| text),
            Self::Color if text.len() != 6 || !text.bytes().all(|c| c.is_ascii_hexdigit()) => {
                refused("a hexadecimal color code (6 symbols) is expected")
            }
            Self::Periods if !text.split(';').all(is_period) => {
                refused("a time period is expected")
            }
            Self::Url(max) if text.chars().count() > max => refused("value is too long"),
            Self::Url(_) => trigger::check_url(&text, path).map(|()| text),
            Self::Zone if text != "system" && TimeZone::get(&text).is_err() => {
                refused("the name of a time zone is expected")
            }
            _ => Ok(text),
        }
    }
}

fn is_period(text: &str) -> bool {
    UserMacro::parse(text).is_ok() || eval::time::parse_periods(text).is_ok()
}

impl Time {
    pub(crate) fn check(self, text: &str, path: &str) -> ApiResult<()> {
        if text.len() > TIME_CHARS {
            return Err(ApiError::at(path, "value is too long"));
        }
        if self.or_macro && UserMacro::parse(text).is_ok() {
            return Ok(());
        }
        let Some(seconds) = self.seconds(text) else {
            return Err(ApiError::at(path, "a time unit is expected"));
        };
        if (self.min..=self.max).contains(&seconds) || (self.or_zero && seconds == 0) {
            return Ok(());
        }
        let zero = if self.or_zero { "0, " } else { "" };
        let error = format!("value must be one of {zero}{}-{}", self.min, self.max);
        Err(ApiError::at(path, error))
    }

    /// The seconds of a text.
    pub(crate) fn seconds(self, text: &str) -> Option<i64> {
        let day_s = i64::from(DAY_S);
        let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
        let (digits, unit) = match digits.char_indices().last()? {
            (at, 'M') if self.years => (&digits[..at], 30 * day_s),
            (at, 'y') if self.years => (&digits[..at], 365 * day_s),
            _ => return Some(sign * i64::from(eval::num::parse_seconds(digits)?)),
        };
        let number = u32::try_from(eval::num::parse_u64(digits)?).ok()?;
        i64::from(number).checked_mul(sign * unit)
    }
}
