//! Texts of triggers with their macros resolved, as lists show them.

use std::cell::Cell;
use std::sync::Arc;

use config::Snapshot;
use config::snapshot::Host;
use eval::expr::Expression;
use eval::macros::{Group, Place, TokenKind, UNKNOWN, group_of, is_inner, replace_constants};
use eval::units::{log_severity, show_value};
use history::{Order, RangeQuery, Span};
use model::{HostId, ItemId, Sample, SampleValue, Timestamp, ValueType};

use super::expand::Function;
use crate::call::Call;
use crate::methods::history::value_text;

/// Values of one second that are looked at to find the one of an event.
const VALUES_PER_SECOND_MAX: usize = 64;

/// What the texts of one trigger need.
pub(super) struct Shown<'a, 'c> {
    call: &'a Call<'c>,
    snapshot: &'a Snapshot,
    trigger: u64,
    /// In the order in which the problem expression names them.
    functions: Vec<&'a Function>,
    hosts: Vec<u64>,
    constants: Vec<String>,
    /// The event that `{ITEM.VALUE}` means; without one it is the newest value.
    event: Option<Timestamp>,
    /// A text had a value of the event's time.
    pub(super) of_event: Cell<bool>,
}

impl<'a, 'c> Shown<'a, 'c> {
    /// `all` = functions of both expressions; `expression` as it is stored.
    pub(super) fn new(
        call: &'a Call<'c>,
        snapshot: &'a Snapshot,
        all: &'a [Function],
        (trigger, expression): (u64, &str),
        event: Option<Timestamp>,
    ) -> Self {
        let parsed = Expression::parse(expression).ok();
        let ids = parsed.as_ref().map(Expression::function_ids).unwrap_or_default();
        let named = ids.iter().filter_map(|(id, _)| all.iter().find(|f| f.id == *id));
        let functions: Vec<&Function> = named.collect();
        let mut hosts: Vec<u64> = Vec::new();
        for function in functions.iter().copied().chain(all) {
            if !hosts.contains(&function.hostid) {
                hosts.push(function.hostid);
            }
        }
        let constants = parsed.map(|parsed| parsed.constants()).unwrap_or_default();
        let of_event = Cell::new(false);
        Self { call, snapshot, trigger, functions, hosts, constants, event, of_event }
    }

    /// The text with what works in `place`.
    pub(super) fn text(&self, text: &str, place: Place) -> String {
        let rules = place.rules();
        let text = if rules.constants {
            let constant = |n: usize| self.constants.get(n - 1).cloned().unwrap_or_default();
            replace_constants(text, &mut |n| Some(constant(n)))
        } else {
            text.to_owned()
        };
        crate::expand::macros(self.snapshot, &self.hosts, &text, &mut |token| match token.kind {
            // Links of one trigger lead to different events: the client that follows one knows the event.
            TokenKind::Builtin { name, .. } if group_of(name) == Some(Group::Event) => None,
            TokenKind::Builtin { name, index } if rules.has(name, index) => {
                let index = index.map_or(0, |n| usize::from(n) - 1);
                // Macro functions work on the bare value, not on the one with units.
                let bare = is_inner(&text, token);
                Some(self.builtin(name, index, bare).unwrap_or_else(|| UNKNOWN.to_owned()))
            }
            _ => None,
        })
    }

    /// The expression as people write it, user macros resolved: what is not a number stands in
    /// quotes, where it did not stand in some already.
    pub(super) fn expression(&self, stored: &str, written: &dyn Fn(&str) -> String) -> String {
        let resolve =
            |text: &str| crate::expand::macros(self.snapshot, &self.hosts, text, &mut |_| None);
        let Ok(parsed) = Expression::parse(stored) else { return resolve(&written(stored)) };
        let mut operands = Vec::new();
        parsed.root.walk(&mut |node| {
            if let eval::expr::NodeKind::Macro = node.kind {
                operands.push(node.span.clone());
            }
        });
        let mut out = String::new();
        let mut last = 0;
        for span in operands {
            out.push_str(&resolve(&written(&stored[last..span.start])));
            let operand = &stored[span.clone()];
            let value = resolve(operand);
            let plain = value == operand || eval::num::parse_suffixed(&value).is_some();
            out.push_str(&if plain { value } else { format!("\"{value}\"") });
            last = span.end;
        }
        out.push_str(&resolve(&written(&stored[last..])));
        out
    }

    fn builtin(&self, name: &str, index: usize, bare: bool) -> Option<String> {
        let function = *self.functions.get(index)?;
        match group_of(name)? {
            Group::ItemValue => {
                let newest = name == "ITEM.LASTVALUE" || self.event.is_none();
                self.value(function, if newest { None } else { self.event }, bare)
            }
            Group::ItemLog => self.log(function, name),
            Group::TriggerId => Some(self.trigger.to_string()),
            _ => match self.host(function) {
                Some(host) => host.macro_value(name),
                // Of a template, the name is all that there is.
                None if name == "HOST.NAME" => Some(function.name.clone()),
                None if name == "HOST.HOST" => Some(function.host.clone()),
                None => None,
            },
        }
    }

    fn host(&self, function: &Function) -> Option<&'a Arc<Host>> {
        self.snapshot.hosts.get(&HostId(function.hostid))
    }

    fn newest(&self, function: &Function) -> Option<Sample> {
        let states = self.call.api.deps.live.item_states(&[ItemId(function.itemid)]);
        states.into_iter().next()?.last
    }

    /// The item's value at a time, or its newest.
    fn value(&self, function: &Function, at: Option<Timestamp>, bare: bool) -> Option<String> {
        let item = self.snapshot.items.get(&ItemId(function.itemid))?;
        let sample = match at {
            None => self.newest(function)?,
            Some(at) => {
                self.of_event.set(true);
                let query = RangeQuery {
                    item: item.id,
                    value_type: item.value_type,
                    span: Span { from: 0, till: at.clock },
                    limit: Some(VALUES_PER_SECOND_MAX),
                    order: Order::NewestFirst,
                };
                let found = self.call.api.deps.history.range(&query).ok()?;
                found.into_iter().find(|sample| sample.at <= at)?
            }
        };
        let text = match &sample.value {
            SampleValue::Float(value) if bare => eval::num::format_f64(*value),
            value => value_text(value),
        };
        if bare {
            return Some(text);
        }
        let (units, map) = item.extra.as_ref().map_or(("", &[][..]), |extra| {
            let map = self.snapshot.valuemaps.get(&extra.valuemap).map_or(&[][..], |map| map);
            (extra.units.as_str(), map)
        });
        let tz = self.snapshot.settings.time_zone();
        Some(show_value(&text, item.value_type, units, map, &tz))
    }

    /// What the newest line of a log carries.
    fn log(&self, function: &Function, name: &str) -> Option<String> {
        let sample = self.newest(function)?;
        let SampleValue::Log(log) = &sample.value else { return None };
        let (meta, tz) = (&log.1, self.snapshot.settings.time_zone());
        let local = || eval::calendar::local(meta.timestamp.into(), &tz);
        Some(match name {
            "ITEM.LOG.DATE" => local().strftime("%Y.%m.%d").to_string(),
            "ITEM.LOG.TIME" => local().strftime("%H:%M:%S").to_string(),
            "ITEM.LOG.AGE" => {
                let age = self.call.now().saturating_sub(meta.timestamp.into());
                show_value(&age.to_string(), ValueType::Unsigned, "s", &[], &tz)
            }
            "ITEM.LOG.EVENTID" => meta.eventid.to_string(),
            "ITEM.LOG.SEVERITY" => log_severity(meta.severity).unwrap_or("Unknown").to_owned(),
            "ITEM.LOG.NSEVERITY" => meta.severity.to_string(),
            "ITEM.LOG.SOURCE" => meta.source.to_string(),
            _ => return None,
        })
    }
}
