//! Texts of events for people: names, operational data and tags with their macros resolved.
//!
//! Which macro works where stands in [`eval::macros::TABLE`]; what stands for a value that is not
//! there was measured on the field's server.

mod values;

use std::sync::Arc;

use config::snapshot::{Function, Host, Trigger};
use eval::expr::Expression;
use eval::macros::{
    FunctionEnv, Group, Place, Token, TokenKind, UNKNOWN, group_of, is_inner, substitute,
};
use model::{HostId, Timestamp};

use crate::evaluator::Evaluator;

/// Longest name of an event, in characters (the API's limit).
const NAME_CHARS_MAX: usize = 2_048;
/// Longest tag or value of a tag, in characters (the API's limit).
const TAG_CHARS_MAX: usize = 255;

/// What an event says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Texts {
    pub(crate) name: String,
    pub(crate) opdata: String,
    /// Of the trigger, its items and their hosts, each pair once.
    pub(crate) tags: Vec<(String, String)>,
}

/// Texts of an event of `trigger` at `at`, written at `now`.
pub(crate) fn of_event(
    evaluator: &mut Evaluator<'_>,
    trigger: &Trigger,
    at: Timestamp,
    now: Timestamp,
) -> Texts {
    let hosts = evaluator.snapshot.hosts_of(trigger);
    let mut resolver = Resolver { evaluator, trigger, hosts: &hosts, owner: None, at, now };
    let name = if trigger.event_name.is_empty() {
        resolver.text(&trigger.description, Place::EventName)
    } else {
        resolver.text(&trigger.event_name, Place::EventName)
    };
    let opdata = resolver.text(&trigger.opdata, Place::Shown);
    let tags = resolver.tags();
    Texts { name: cut(name, NAME_CHARS_MAX), opdata: cut(opdata, NAME_CHARS_MAX), tags }
}

/// Tags of an event of `trigger` at `at`, written at `now`.
pub(crate) fn tags_of(
    evaluator: &mut Evaluator<'_>,
    trigger: &Trigger,
    at: Timestamp,
    now: Timestamp,
) -> Vec<(String, String)> {
    let hosts = evaluator.snapshot.hosts_of(trigger);
    Resolver { evaluator, trigger, hosts: &hosts, owner: None, at, now }.tags()
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
    /// Whose user macros count.
    hosts: &'a [HostId],
    /// The host whose own text this is; without one, macros mean the hosts of functions.
    owner: Option<Arc<Host>>,
    at: Timestamp,
    now: Timestamp,
}

impl<'b> Resolver<'_, 'b> {
    fn of_host<'s>(&'s mut self, owner: Arc<Host>, hosts: &'s [HostId]) -> Resolver<'s, 'b> {
        Resolver {
            evaluator: self.evaluator,
            trigger: self.trigger,
            hosts,
            owner: Some(owner),
            at: self.at,
            now: self.now,
        }
    }

    /// Tags of the trigger, then those of hosts and items that the problem expression names.
    fn tags(&mut self) -> Vec<(String, String)> {
        let mut tags = Vec::new();
        for (tag, value) in &self.trigger.tags {
            let (tag, value) =
                (self.tag(tag, Place::TriggerTag), self.tag(value, Place::TriggerTag));
            add_tag(&mut tags, tag, value);
        }
        let mut seen = Vec::new();
        for function in self.trigger.problem_functions() {
            let Some(item) = self.evaluator.snapshot.items.get(&function.item).cloned() else {
                continue;
            };
            let Some(host) = self.evaluator.snapshot.hosts.get(&item.host).cloned() else {
                continue;
            };
            let mut own: Vec<(Arc<str>, Arc<str>)> = Vec::new();
            if !seen.contains(&host.id) {
                seen.push(host.id);
                own.extend(host.tags.iter().cloned());
            }
            own.extend(item.extra.iter().flat_map(|extra| extra.tags.iter().cloned()));
            let hosts = [host.id];
            let mut resolver = self.of_host(host, &hosts);
            for (tag, value) in own {
                let tag = resolver.tag(&tag, Place::HostTag);
                add_tag(&mut tags, tag, resolver.tag(&value, Place::HostTag));
            }
        }
        tags
    }

    fn tag(&mut self, text: &str, place: Place) -> String {
        cut(self.text(text, place).trim().to_owned(), TAG_CHARS_MAX)
    }

    fn text(&mut self, text: &str, place: Place) -> String {
        if !text.contains(['{', '$']) {
            return text.to_owned();
        }
        let text = if place.rules().constants {
            constants(text, &self.trigger.expression)
        } else {
            text.to_owned()
        };
        let tz = self.evaluator.env.tz.clone();
        substitute(&text, &FunctionEnv { tz: &tz }, &mut |token| {
            // Macro functions work on the bare value, not on the one with units.
            self.token(token, place, is_inner(&text, token))
        })
    }

    fn token(&mut self, token: &Token<'_>, place: Place, bare: bool) -> Option<String> {
        match &token.kind {
            TokenKind::User(wanted) => {
                let scope = self.evaluator.env.scope(self.hosts);
                scope.resolve(wanted).map(|found| found.masked().to_owned())
            }
            TokenKind::Expression(text) if place.rules().expressions => Some(self.expression(text)),
            TokenKind::Builtin { name, index } if place.rules().has(name, *index) => {
                let index = index.map_or(0, |n| usize::from(n) - 1);
                let value = self.builtin(name, index, bare);
                // In its own tags, a host without inventory keeps these macros.
                let kept = place == Place::HostTag && group_of(name) == Some(Group::Inventory);
                value.or_else(|| (!kept).then(|| UNKNOWN.to_owned()))
            }
            _ => None,
        }
    }

    /// The value of a macro that works in this place.
    fn builtin(&mut self, name: &str, index: usize, bare: bool) -> Option<String> {
        match group_of(name)? {
            Group::Host | Group::HostOld | Group::HostPort | Group::HostId | Group::Inventory => {
                self.host(index)?.macro_value(name)
            }
            Group::ItemValue => {
                let at = if name == "ITEM.VALUE" { self.at } else { LATEST };
                self.value(index, at, bare)
            }
            Group::ItemLog | Group::ItemLogTimestamp => self.log(name, index),
            Group::Time => {
                let now = eval::calendar::local(self.now.clock.into(), &self.evaluator.env.tz);
                Some(now.strftime("%H:%M:%S").to_string())
            }
            Group::TriggerId => Some(self.trigger.id.0.to_string()),
            Group::TriggerExplain => Some(self.explain()),
            Group::FunctionValue => {
                let id = self.trigger.problem_functions().get(index)?.id.0;
                self.function_value(id)
            }
            _ => None,
        }
    }

    /// The host of the n-th function, or the one whose text this is.
    fn host(&self, index: usize) -> Option<Arc<Host>> {
        if let Some(owner) = &self.owner {
            return Some(Arc::clone(owner));
        }
        let function = *self.trigger.problem_functions().get(index)?;
        let item = self.evaluator.snapshot.items.get(&function.item)?;
        self.evaluator.snapshot.hosts.get(&item.host).cloned()
    }

    /// `{?formula}`: hosts and keys may be macros.
    fn expression(&mut self, text: &str) -> String {
        let tz = self.evaluator.env.tz.clone();
        let text = substitute(text, &FunctionEnv { tz: &tz }, &mut |token| {
            let TokenKind::Builtin { name, index } = token.kind else { return None };
            let index = index.map_or(0, |n| usize::from(n) - 1);
            match name {
                "HOST.HOST" => self.host(index).map(|host| host.host.to_string()),
                "ITEM.KEY" => self.item(index).map(|item| item.key.to_string()),
                _ => None,
            }
        });
        let Ok(expression) = Expression::parse(&text) else { return UNKNOWN.to_owned() };
        let value = self.evaluator.formula(&expression, self.hosts, self.at);
        value.ok().and_then(|value| value.as_text()).unwrap_or_else(|| UNKNOWN.to_owned())
    }

    /// The expression with values in place of functions and user macros.
    fn explain(&mut self) -> String {
        let expression = Arc::clone(&self.trigger.expression);
        let env = self.evaluator.env;
        let scope = env.scope(self.hosts);
        expression.explained(
            &mut |id| self.function_value(id).unwrap_or_else(|| UNKNOWN.to_owned()),
            &mut |written| {
                eval::macros::substitute_user(written, &scope, &FunctionEnv { tz: &env.tz })
            },
        )
    }

    fn function_value(&mut self, id: u64) -> Option<String> {
        let function: &Function = self.trigger.functions.iter().find(|f| f.id.0 == id)?;
        self.evaluator.function(function, self.at).ok()?.as_text()
    }
}

const LATEST: Timestamp = Timestamp { clock: u32::MAX, ns: 999_999_999 };

/// `$1` to `$9` stand for the constants of the expression; missing ones stay unresolved.
fn constants(text: &str, expression: &Expression) -> String {
    let found = expression.constants();
    eval::macros::replace_constants(text, &mut |number| found.get(number - 1).cloned())
}
