//! Which fields an item of a type has, and what they may hold.

use config::db::Value;
use config::objects::{Place, check_expression};
use config::table;
use eval::interval::{IntervalError, UpdateInterval};
use eval::key::{ItemKey, KeyError};
use eval::macros::token_at;
use eval::num::parse_seconds;
use objects::{InterfaceNeed, ItemType, ValueType};

use super::fields::Kind;
use crate::error::{ApiError, ApiResult};
use crate::object::{Field, FieldKind};

/// What decides about the fields of an item.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// Which object.
    pub(crate) kind: Kind,
    /// Its host is a template.
    pub(crate) on_template: bool,
    /// How it gets its values.
    pub(crate) item_type: ItemType,
    /// The API's `value_type`.
    pub(crate) value_type: i64,
    pub(crate) key: String,
    pub(crate) authtype: i64,
    pub(crate) request_method: i64,
    pub(crate) post_type: i64,
    pub(crate) allow_traps: i64,
    pub(crate) lifetime_type: i64,
    /// `enabled_lifetime_type`
    pub(crate) enabled_type: i64,
    pub(crate) snmp_oid: String,
}

/// What a field is to an item of this shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Must be given.
    Required,
    /// May be given.
    Optional,
    /// Holds this and nothing else.
    Fixed(&'static str),
}

use Presence::{Fixed, Optional, Required};

/// Endpoint of JMX items that name none.
pub(crate) const JMX_ENDPOINT: &str =
    "service:jmx:rmi:///jndi/rmi://{HOST.CONN}:{HOST.PORT}/jmxrmi";

impl Shape {
    /// What the field of that name is.
    pub(crate) fn presence(&self, name: &str) -> Presence {
        let kind = self.item_type;
        let when = |holds: bool, default: &'static str| {
            if holds { Optional } else { Fixed(default) }
        };
        let numeric = matches!(self.value_type, 0 | 3);
        match name {
            "uuid" => when(self.on_template, ""),
            "units" => when(numeric, ""),
            "trends" => when(numeric, "0"),
            "valuemapid" => when(matches!(self.value_type, 0 | 1 | 3), "0"),
            "inventory_link" => when(!matches!(self.value_type, 2 | 5), "0"),
            "logtimefmt" => when(ValueType::Log.is(self.value_type), ""),
            "delay" if !kind.has_interval(&self.key) => Fixed("0"),
            "delay" => Required,
            "interfaceid" if self.on_template => Fixed("0"),
            "interfaceid" => match kind.interface() {
                InterfaceNeed::Any => Optional,
                InterfaceNeed::Of(_) => Required,
                InterfaceNeed::None => Fixed("0"),
            },
            "timeout" => when(kind.has_timeout(&self.key, &self.snmp_oid), ""),
            "lifetime" => when(self.lifetime_type == 0, "0"),
            "enabled_lifetime_type" => when(self.lifetime_type != 2, "2"),
            "enabled_lifetime" => when(self.enabled_type == 0, "0"),
            _ => self.of_type(name),
        }
    }

    /// What a field is that only items of some types have.
    fn of_type(&self, name: &str) -> Presence {
        match (self.item_type, name) {
            (ItemType::Ipmi, "ipmi_sensor") if self.key == "ipmi.get" => Optional,
            (ItemType::Ssh, "publickey" | "privatekey") if self.authtype == 1 => Required,
            (ItemType::HttpAgent, "username" | "password") if self.authtype != 0 => Optional,
            (ItemType::HttpAgent, "trapper_hosts") if self.allow_traps == 1 => Optional,
            (ItemType::HttpAgent, "posts") if matches!(self.post_type, 2 | 3) => Required,
            (ItemType::HttpAgent, "retrieve_mode") if self.request_method == 3 => Fixed("1"),
            (kind, _) if kind.info().required.contains(&name) => Required,
            (kind, _) if kind.info().optional.contains(&name) => Optional,
            _ if ItemType::is_of_some_types(name) => {
                let column = table::ITEMS.column(name);
                Fixed(column.map_or("", |column| column.default))
            }
            _ => Optional,
        }
    }

    /// LLD macros may stand where user macros may.
    fn lld(&self) -> bool {
        self.kind == Kind::Prototype
    }

    /// Checks what a field of this name holds beyond its kind in the field table.
    pub(crate) fn check(&self, name: &str, value: &Value, path: &str) -> ApiResult<()> {
        let text = value.to_string();
        let required = self.presence(name) == Required;
        match name {
            "key_" => self.check_key(&text, path),
            "delay" => self.check_delay(&text, path),
            "history" => self.check_period(&text, path, 3_600),
            "trends" => self.check_period(&text, path, 86_400),
            "lifetime" => self.check_period(&text, path, 3_600),
            "enabled_lifetime" => self.check_period(&text, path, 3_600),
            "timeout" => self.check_timeout(&text, path),
            "trapper_hosts" => check_addresses(&text, path),
            "status_codes" => check_ranges(&text, path),
            "uuid" => crate::write::check_uuid(&text, path),
            "jmx_endpoint" if text.is_empty() => Err(ApiError::at(path, "cannot be empty")),
            "authtype" if self.item_type == ItemType::Ssh && value.as_int() > 1 => {
                Err(ApiError::at(path, "value must be one of 0, 1"))
            }
            "posts" => self.check_posts(&text, path),
            "interfaceid" | "master_itemid" => Ok(()),
            _ if required && text.is_empty() => Err(ApiError::at(path, "cannot be empty")),
            "params" if self.item_type == ItemType::Calculated => {
                check_formula(&text, matches!(self.kind, Kind::Prototype), path)
            }
            _ => Ok(()),
        }
    }

    fn check_key(&self, key: &str, path: &str) -> ApiResult<()> {
        match ItemKey::parse(key) {
            Ok(_) => {}
            Err(KeyError::Empty) => return Err(ApiError::at(path, "cannot be empty")),
            Err(KeyError::Syntax { near, .. }) if near.is_empty() => {
                return Err(ApiError::at(path, "unexpected end of key"));
            }
            Err(KeyError::Syntax { near, .. }) => {
                return Err(ApiError::at(path, format_args!("incorrect syntax near \"{near}\"")));
            }
        }
        if self.lld() && !has_lld_macro(key) {
            let text = "must contain at least one low-level discovery macro";
            return Err(ApiError::at(path, text));
        }
        Ok(())
    }

    fn check_delay(&self, delay: &str, path: &str) -> ApiResult<()> {
        if delay.is_empty() {
            return Err(ApiError::at(path, "cannot be empty"));
        }
        match UpdateInterval::validate(delay, self.lld()) {
            Ok(()) => {}
            Err(IntervalError::TooLong(_)) => {
                return Err(ApiError::at(path, "value must be one of 0-86400"));
            }
            Err(IntervalError::Syntax(part)) if delay.starts_with(&part) => {
                return Err(ApiError::at(path, "a time unit is expected"));
            }
            Err(_) => return Err(ApiError::at(path, "invalid custom interval")),
        }
        // With macros nobody knows before they are resolved.
        if UpdateInterval::parse(delay).is_ok_and(|interval| !interval.ever_checks()) {
            let text = "cannot be equal to zero without custom intervals";
            return Err(ApiError::at(path, text));
        }
        Ok(())
    }

    fn check_period(&self, text: &str, path: &str, least_s: u32) -> ApiResult<()> {
        /// 25 years of 365 days.
        const MOST_S: u32 = 788_400_000;
        match self.seconds(text, path)? {
            Some(s) if s != 0 && !(least_s..=MOST_S).contains(&s) => {
                let text = format!("value must be one of 0, {least_s}-{MOST_S}");
                Err(ApiError::at(path, text))
            }
            _ => Ok(()),
        }
    }

    fn check_timeout(&self, text: &str, path: &str) -> ApiResult<()> {
        if text.is_empty() {
            return Ok(());
        }
        match self.seconds(text, path)? {
            Some(s) if !(1..=600).contains(&s) => {
                Err(ApiError::at(path, "value must be one of 1-600"))
            }
            _ => Ok(()),
        }
    }

    /// Seconds of a time with suffix; `None` for a macro.
    fn seconds(&self, text: &str, path: &str) -> ApiResult<Option<u32>> {
        if text.is_empty() {
            return Err(ApiError::at(path, "cannot be empty"));
        }
        if is_macro(text, self.lld()) {
            return Ok(None);
        }
        match parse_seconds(text) {
            Some(s) => Ok(Some(s)),
            None => Err(ApiError::at(path, "a time unit is expected")),
        }
    }

    fn check_posts(&self, text: &str, path: &str) -> ApiResult<()> {
        if matches!(self.post_type, 2 | 3) && text.is_empty() {
            return Err(ApiError::at(path, "cannot be empty"));
        }
        if text.contains("{$") || text.contains("{#") || text.contains("{HOST.") {
            return Ok(());
        }
        if self.post_type == 2 && serde_json::from_str::<serde::de::IgnoredAny>(text).is_err() {
            return Err(ApiError::at(path, "JSON is expected"));
        }
        if self.post_type == 3 && !text.trim_start().starts_with('<') {
            return Err(ApiError::at(path, "XML is expected"));
        }
        Ok(())
    }
}

/// Is the whole text one user macro (or LLD macro)?
pub(crate) fn is_macro(text: &str, lld: bool) -> bool {
    token_at(text, 0).is_some_and(|t| {
        t.span.end == text.len() && (t.is_user_macro() || (lld && t.is_lld_macro()))
    })
}

/// Does an LLD macro stand anywhere in the text?
pub(crate) fn has_lld_macro(text: &str) -> bool {
    eval::macros::tokens(text).any(|token| token.is_lld_macro())
}

/// Addresses, networks, names and macros, separated by commas.
pub(crate) fn check_addresses(text: &str, path: &str) -> ApiResult<()> {
    let fine = |c: char| c.is_ascii_alphanumeric() || ".:-_/".contains(c);
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        if !is_macro(part, false) && !part.starts_with('{') && !part.chars().all(fine) {
            let from = text.find(part).unwrap_or(0);
            return Err(ApiError::at(path, incorrect_address(&text[from..])));
        }
    }
    Ok(())
}

/// What is wrong with a list of addresses from here on.
pub(crate) fn incorrect_address(rest: &str) -> String {
    format!("incorrect address starting from \"{rest}\"")
}

/// `200,201-203,{$CODES}`
fn check_ranges(text: &str, path: &str) -> ApiResult<()> {
    let number = |part: &str| {
        part.contains('{') || (!part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    let fine = |part: &str| match part.split_once('-') {
        Some((from, to)) => number(from.trim()) && number(to.trim()),
        None => number(part),
    };
    if text.is_empty() || text.split(',').all(|part| fine(part.trim())) {
        return Ok(());
    }
    Err(ApiError::at(path, "invalid range expression"))
}

fn check_formula(text: &str, prototype: bool, path: &str) -> ApiResult<()> {
    let place = if prototype { Place::FormulaPrototype } else { Place::Formula };
    check_expression(text, place).map(drop).map_err(|error| ApiError::at(path, error))
}

/// Refuses a value of a field that has a fixed one.
pub(crate) fn refuse_other(
    field: &Field,
    value: &Value,
    fixed: &'static str,
    path: &str,
) -> ApiResult<()> {
    if value.to_string() == fixed {
        return Ok(());
    }
    let number = matches!(field.kind, FieldKind::Id | FieldKind::Int(..) | FieldKind::OneOf(_));
    Err(ApiError::at(
        path,
        if number || !fixed.is_empty() {
            format!("value must be {}", if fixed.is_empty() { "0" } else { fixed })
        } else {
            "value must be empty".to_owned()
        },
    ))
}
