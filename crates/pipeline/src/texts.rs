//! Texts of events for people: names, operational data and tags with their macros resolved.
//!
//! Which macro works where, and what stands for a value that is not there, was measured on the
//! field's server.

use std::sync::Arc;

use config::Snapshot;
use config::snapshot::{Function, Host, Item, Trigger};
use eval::expr::{Expression, NodeKind};
use eval::func::HistoryView;
use eval::macros::{FunctionEnv, Token, TokenKind, UNKNOWN, substitute};
use eval::num::format_f64;
use eval::units::format_value;
use model::{HostId, SampleValue, Timestamp};

use crate::evaluator::{Evaluator, hosts_of, ordered_functions};

/// Longest name of an event, in characters (the API's limit).
const NAME_CHARS_MAX: usize = 2_048;
/// Longest tag or value of a tag, in characters (the API's limit).
const TAG_CHARS_MAX: usize = 255;

/// What an event says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Texts {
    pub(crate) name: String,
    pub(crate) opdata: String,
    pub(crate) tags: Vec<(String, String)>,
}

/// Where a text stands: that decides which macros work in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Description,
    EventName,
    Opdata,
    Tag,
}

/// Texts of an event of `trigger` at `at`, written at `now`.
pub(crate) fn of_event(
    evaluator: &mut Evaluator<'_>,
    trigger: &Trigger,
    at: Timestamp,
    now: Timestamp,
) -> Texts {
    let hosts = hosts_of(evaluator.snapshot, trigger);
    let mut resolver = Resolver { evaluator, trigger, hosts: &hosts, at, now };
    let name = if trigger.event_name.is_empty() {
        resolver.text(&trigger.description, Place::Description)
    } else {
        resolver.text(&trigger.event_name, Place::EventName)
    };
    let opdata = resolver.text(&trigger.opdata, Place::Opdata);
    let mut tags: Vec<(String, String)> = Vec::new();
    for (tag, value) in &trigger.tags {
        add_tag(&mut tags, resolver.tag(tag), resolver.tag(value));
    }
    for (number, id) in hosts.iter().enumerate() {
        let Some(host) = resolver.evaluator.snapshot.hosts.get(id).cloned() else { continue };
        let own = &hosts[number..=number];
        let mut of_host = Resolver { hosts: own, ..resolver.again() };
        for (tag, value) in &host.tags {
            add_tag(&mut tags, of_host.tag(tag), of_host.tag(value));
        }
    }
    Texts { name: cut(name, NAME_CHARS_MAX), opdata: cut(opdata, NAME_CHARS_MAX), tags }
}

fn add_tag(tags: &mut Vec<(String, String)>, tag: String, value: String) {
    if !tag.is_empty() && !tags.iter().any(|(t, v)| *t == tag && *v == value) {
        tags.push((tag, value));
    }
}

fn cut(mut text: String, chars: usize) -> String {
    if text.len() > chars
        && let Some((end, _)) = text.char_indices().nth(chars)
    {
        text.truncate(end);
    }
    text
}

struct Resolver<'a, 'b> {
    evaluator: &'a mut Evaluator<'b>,
    trigger: &'a Trigger,
    hosts: &'a [HostId],
    at: Timestamp,
    now: Timestamp,
}

impl<'b> Resolver<'_, 'b> {
    fn again(&mut self) -> Resolver<'_, 'b> {
        Resolver {
            evaluator: self.evaluator,
            trigger: self.trigger,
            hosts: self.hosts,
            at: self.at,
            now: self.now,
        }
    }

    fn tag(&mut self, text: &str) -> String {
        cut(self.text(text, Place::Tag), TAG_CHARS_MAX)
    }

    fn text(&mut self, text: &str, place: Place) -> String {
        if !text.contains(['{', '$']) {
            return text.to_owned();
        }
        let text = if place == Place::Description {
            constants(text, self.trigger)
        } else {
            text.to_owned()
        };
        let tz = self.evaluator.env.tz.clone();
        substitute(&text, &FunctionEnv { tz: &tz }, &mut |token| {
            // Macro functions work on the bare value, not on the one with units.
            let bare = token.span.start > 0 && text.as_bytes()[token.span.start - 1] == b'{';
            self.token(token, place, bare)
        })
    }

    fn token(&mut self, token: &Token<'_>, place: Place, bare: bool) -> Option<String> {
        match &token.kind {
            TokenKind::User(wanted) => {
                let scope = self.evaluator.env.scope(self.hosts);
                let found = scope.resolve(wanted)?;
                let secret = found.kind != eval::macros::MacroKind::Text;
                Some(if secret { String::from("******") } else { found.value.clone() })
            }
            TokenKind::Expression(text) if place == Place::EventName => Some(self.expression(text)),
            TokenKind::Builtin { name, index } => {
                let index = index.map_or(0, |n| usize::from(n) - 1);
                self.builtin(name, index, place, bare)
            }
            _ => None,
        }
    }

    fn builtin(&mut self, name: &str, index: usize, place: Place, bare: bool) -> Option<String> {
        let known = |value: Option<String>| Some(value.unwrap_or_else(|| UNKNOWN.to_owned()));
        match name {
            "HOST.HOST" | "HOST.NAME" | "HOST.IP" | "HOST.DNS" | "HOST.CONN" | "HOST.PORT" => {
                known(self.host(name, index))
            }
            "ITEM.VALUE" => known(self.value(index, self.at, bare)),
            "ITEM.LASTVALUE" => known(self.value(index, LATEST, bare)),
            _ if name.starts_with("ITEM.LOG.") => known(self.log(name, index)),
            "TIME" => Some(self.clock("%H:%M:%S")),
            "DATE" => Some(self.clock("%Y.%m.%d")),
            "TRIGGER.EXPRESSION.EXPLAIN" if place == Place::EventName => {
                let expression = Arc::clone(&self.trigger.expression);
                Some(self.explain(&expression))
            }
            "TRIGGER.EXPRESSION.RECOVERY.EXPLAIN" if place == Place::EventName => {
                let recovery = self.trigger.recovery.clone();
                known(recovery.map(|expression| self.explain(&expression)))
            }
            "FUNCTION.VALUE" if place == Place::EventName => {
                let expression = Arc::clone(&self.trigger.expression);
                known(self.function_value(&expression, index))
            }
            "FUNCTION.RECOVERY.VALUE" if place == Place::EventName => {
                let recovery = self.trigger.recovery.clone();
                known(recovery.and_then(|expression| self.function_value(&expression, index)))
            }
            _ => None,
        }
    }

    fn clock(&self, format: &str) -> String {
        let at = eval::calendar::local(self.now.clock.into(), &self.evaluator.env.tz);
        at.strftime(format).to_string()
    }

    fn item(&self, index: usize) -> Option<Arc<Item>> {
        let function = *ordered_functions(self.trigger).get(index)?;
        self.evaluator.snapshot.items.get(&function.item).cloned()
    }

    fn host(&self, name: &str, index: usize) -> Option<String> {
        let id = self.hosts.get(index)?;
        let host = self.evaluator.snapshot.hosts.get(id)?;
        host_macro(host, name)
    }

    fn value(&mut self, index: usize, at: Timestamp, bare: bool) -> Option<String> {
        let item = self.item(index)?;
        let values = self.evaluator.history.last_n(item.id, 1, at).ok()?;
        let text = value_text(&values.first()?.value);
        if bare {
            return Some(text);
        }
        Some(format_of(self.evaluator.snapshot, &item, &text, &self.evaluator.env.tz))
    }

    fn log(&mut self, name: &str, index: usize) -> Option<String> {
        let item = self.item(index)?;
        let values = self.evaluator.history.last_n(item.id, 1, self.at).ok()?;
        let value = values.first()?;
        let SampleValue::Log(log) = &value.value else { return None };
        let meta = &log.1;
        let when = if meta.timestamp > 0 { meta.timestamp } else { value.at.clock };
        let local = || eval::calendar::local(when.into(), &self.evaluator.env.tz);
        Some(match name {
            "ITEM.LOG.DATE" => local().strftime("%Y.%m.%d").to_string(),
            "ITEM.LOG.TIME" => local().strftime("%H:%M:%S").to_string(),
            "ITEM.LOG.TIMESTAMP" => when.to_string(),
            "ITEM.LOG.AGE" => {
                let age = self.now.clock.saturating_sub(when).to_string();
                format_value(&age, model::ValueType::Unsigned, "s", &[], &self.evaluator.env.tz)
            }
            "ITEM.LOG.EVENTID" => meta.eventid.to_string(),
            "ITEM.LOG.SEVERITY" | "ITEM.LOG.NSEVERITY" => meta.severity.to_string(),
            "ITEM.LOG.SOURCE" => meta.source.to_string(),
            _ => return None,
        })
    }

    /// `{?formula}`
    fn expression(&mut self, text: &str) -> String {
        let tz = self.evaluator.env.tz.clone();
        let mut hosts_in_text = |token: &Token<'_>| match &token.kind {
            TokenKind::User(_) => self.token(token, Place::EventName, true),
            _ => None,
        };
        let text = substitute(text, &FunctionEnv { tz: &tz }, &mut hosts_in_text);
        let Ok(expression) = Expression::parse(&text) else { return UNKNOWN.to_owned() };
        let value = self.evaluator.formula(&expression, self.hosts, self.at);
        value.ok().and_then(|value| value.as_text()).unwrap_or_else(|| UNKNOWN.to_owned())
    }

    fn explain(&mut self, expression: &Expression) -> String {
        expression
            .replace_function_ids(&mut |id| self.value_of(id).unwrap_or_else(|| UNKNOWN.to_owned()))
    }

    fn function_value(&mut self, expression: &Expression, index: usize) -> Option<String> {
        let (id, _) = *expression.function_ids().get(index)?;
        self.value_of(id)
    }

    fn value_of(&mut self, id: u64) -> Option<String> {
        let function: &Function = self.trigger.functions.iter().find(|f| f.id.0 == id)?;
        self.evaluator.function(function, self.at).ok()?.as_text()
    }
}

const LATEST: Timestamp = Timestamp { clock: u32::MAX, ns: 999_999_999 };

fn value_text(value: &SampleValue) -> String {
    match value {
        SampleValue::Float(v) => format_f64(*v),
        SampleValue::Unsigned(v) => v.to_string(),
        SampleValue::Text(text) => text.to_string(),
        SampleValue::Log(log) => log.0.to_string(),
    }
}

/// A value with units and value map, as messages show it.
fn format_of(snapshot: &Snapshot, item: &Item, text: &str, tz: &jiff::tz::TimeZone) -> String {
    let Some(extra) = &item.extra else {
        return format_value(text, item.value_type, "", &[], tz);
    };
    let map = snapshot.valuemaps.get(&extra.valuemap).map_or(&[][..], |map| map);
    format_value(text, item.value_type, &extra.units, map, tz)
}

fn host_macro(host: &Host, name: &str) -> Option<String> {
    // Agent before SNMP, IPMI and JMX, as the field chooses.
    let interface = || {
        let main = host.interfaces.iter().filter(|interface| interface.main);
        main.min_by_key(|interface| match interface.kind {
            1 => 0,
            2 => 1,
            4 => 2,
            _ => 3,
        })
    };
    Some(match name {
        "HOST.HOST" => host.host.to_string(),
        "HOST.NAME" => host.name.to_string(),
        "HOST.IP" => interface()?.ip.to_string(),
        "HOST.DNS" => interface()?.dns.to_string(),
        "HOST.PORT" => interface()?.port.to_string(),
        _ => {
            let interface = interface()?;
            if interface.use_ip { interface.ip.to_string() } else { interface.dns.to_string() }
        }
    })
}

/// `$1` to `$9` in a trigger's name stand for the constants of its expression.
fn constants(text: &str, trigger: &Trigger) -> String {
    let marked = |at: usize| text.as_bytes().get(at + 1).is_some_and(|b| (b'1'..=b'9').contains(b));
    if !text.match_indices('$').any(|(at, _)| marked(at)) {
        return text.to_owned();
    }
    let mut found: Vec<String> = Vec::new();
    let expression = &trigger.expression;
    expression.root.walk(&mut |node| match &node.kind {
        NodeKind::Unsigned(_) | NodeKind::Float(_) => {
            found.push(expression.text[node.span.clone()].to_owned());
        }
        NodeKind::Text(constant) => found.push(constant.clone()),
        _ => {}
    });
    let mut out = String::with_capacity(text.len());
    let mut last = 0;
    for (at, _) in text.match_indices('$').filter(|(at, _)| marked(*at)) {
        // `{$1}` is no macro, but `$` inside of a macro's name is none of ours.
        if at > 0 && text.as_bytes()[at - 1] == b'{' {
            continue;
        }
        let number = usize::from(text.as_bytes()[at + 1] - b'1');
        out.push_str(&text[last..at]);
        out.push_str(found.get(number).map_or("", String::as_str));
        last = at + 2;
    }
    out.push_str(&text[last..]);
    out
}
