//! Macros about triggers, items, low-level discovery rules and their hosts.

use std::sync::Arc;

use config::snapshot::{Function, Host, Item, Trigger, TriggerRecovery};
use eval::macros::{FunctionEnv, MacroScope, Place, TokenKind, UNKNOWN, substitute_user};
use eval::units::{log_text, value_text};
use model::{EventOrigin, GroupId, HostId, SampleValue, Timestamp};

use super::facts::{ItemTexts, Monitored};
use super::values::LATEST;
use super::{Expander, Recipient, Sees};

/// A text that is part of a text, seen from what the event is about.
pub(super) struct About<'a> {
    pub(super) expander: &'a Expander,
    pub(super) facts: &'a Monitored,
    pub(super) recipient: &'a Recipient,
}

impl About<'_> {
    /// The value of a macro that works in messages about the event. `bare`: without units and value
    /// map.
    pub(super) fn value(&self, name: &str, index: usize, bare: bool) -> Option<String> {
        match name {
            "PROXY.NAME" | "PROXY.DESCRIPTION" | "HOST.DESCRIPTION" => {
                let host = self.host(index)?;
                let texts = self.facts.host_texts.get(&host.id).cloned().unwrap_or_default();
                Some(match name {
                    "PROXY.NAME" => texts.proxy,
                    "PROXY.DESCRIPTION" => texts.proxy_description,
                    _ => texts.description,
                })
            }
            "ITEM.VALUE" => self.item_value(index, self.at(), bare),
            "ITEM.LASTVALUE" => self.item_value(index, LATEST, bare),
            "FUNCTION.VALUE" => {
                self.function(*self.facts.trigger.as_ref()?.problem_functions().get(index)?)
            }
            "FUNCTION.RECOVERY.VALUE" => {
                self.function(*self.facts.trigger.as_ref()?.recovery_functions().get(index)?)
            }
            _ if name.starts_with("ITEM.LOG.") => self.log(name, index),
            "TRIGGER.KEY" => self.item_text("ITEM.KEY", index),
            _ if name.starts_with("ITEM.") => self.item_text(name, index),
            _ if name.starts_with("LLDRULE.") => self.item_text(name, index),
            _ if name.starts_with("TRIGGER.") => self.trigger(name),
            _ => self.host(index)?.macro_value(&present_name(name)),
        }
    }

    fn at(&self) -> Timestamp {
        self.expander.facts.current().at
    }

    fn item(&self, index: usize) -> Option<&Arc<Item>> {
        self.facts.items.get(index)?.as_ref()
    }

    fn host(&self, index: usize) -> Option<&Arc<Host>> {
        self.expander.facts.snapshot.hosts.get(&self.item(index)?.host)
    }

    fn sample(&self, index: usize, till: Timestamp) -> Option<SampleValue> {
        self.expander.values.of_item(self.item(index)?, till)
    }

    fn item_value(&self, index: usize, till: Timestamp, bare: bool) -> Option<String> {
        let text = value_text(&self.sample(index, till)?);
        if bare {
            return Some(text);
        }
        let item = self.item(index)?;
        let snapshot = &self.expander.facts.snapshot;
        Some(snapshot.message_text(item, &text, &self.recipient.time_zone))
    }

    fn log(&self, name: &str, index: usize) -> Option<String> {
        let value = self.sample(index, self.at())?;
        if name == "ITEM.LOG.TIMESTAMP" {
            let SampleValue::Log(log) = &value else { return None };
            return Some(log.1.timestamp.to_string());
        }
        let key = &self.item(index)?.key;
        log_text(name, key, &value, self.expander.facts.now.clock, &self.recipient.time_zone)
    }

    fn function(&self, function: &Function) -> Option<String> {
        self.expander.values.of_function(function, self.at())
    }

    /// Texts of items and discovery rules.
    fn item_text(&self, name: &str, index: usize) -> Option<String> {
        let item = self.item(index)?;
        let texts = || self.facts.item_texts.get(&item.id);
        let written = |part: fn(&ItemTexts) -> &String| Some(part(texts()?).clone());
        let shown =
            |part: fn(&ItemTexts) -> &String| Some(self.user_macros(part(texts()?), &[item.host]));
        let normal = self.expander.facts.current().value == 0;
        match name.strip_prefix("LLDRULE.").or_else(|| name.strip_prefix("ITEM."))? {
            "ID" => Some(item.id.0.to_string()),
            "KEY" => Some(item.shown_key().to_owned()),
            "KEY.ORIG" => written(|texts| &texts.key),
            "NAME" => shown(|texts| &texts.name),
            "NAME.ORIG" => written(|texts| &texts.name),
            "DESCRIPTION" => shown(|texts| &texts.description),
            "DESCRIPTION.ORIG" => written(|texts| &texts.description),
            "VALUETYPE" => Some(item.value_type.number().to_string()),
            "STATE" => Some(if normal { "Normal" } else { "Not supported" }.to_owned()),
            "STATE.ERROR" => Some(if normal { String::new() } else { self.facts.error.clone() }),
            _ => None,
        }
    }

    fn trigger(&self, name: &str) -> Option<String> {
        let trigger = self.facts.trigger.as_ref()?;
        let texts = &self.facts.trigger_texts;
        let counts = &self.facts.counts;
        let value = self.expander.facts.current().value;
        let normal = value == 0;
        Some(match name {
            "TRIGGER.ID" => trigger.id.0.to_string(),
            "TRIGGER.NAME" => self.part(&trigger.description, Place::TriggerName),
            "TRIGGER.NAME.ORIG" => trigger.description.to_string(),
            "TRIGGER.DESCRIPTION" | "TRIGGER.COMMENT" => self.part(&texts.comments, Place::Shown),
            "TRIGGER.URL" => self.part(&texts.url, Place::TriggerUrl),
            "TRIGGER.URL.NAME" => self.part(&texts.url_name, Place::TriggerUrl),
            "TRIGGER.SEVERITY" => trigger.priority.label().to_owned(),
            "TRIGGER.NSEVERITY" => trigger.priority.number().to_string(),
            "TRIGGER.STATUS" => if normal { "OK" } else { "PROBLEM" }.to_owned(),
            "TRIGGER.VALUE" => value.to_string(),
            "TRIGGER.STATE" => if normal { "Normal" } else { "Unknown" }.to_owned(),
            "TRIGGER.STATE.ERROR" if normal => String::new(),
            "TRIGGER.STATE.ERROR" => self.facts.error.clone(),
            "TRIGGER.EXPRESSION" => self.written(trigger, &trigger.expression.text),
            "TRIGGER.EXPRESSION.RECOVERY" => match &trigger.recovery {
                TriggerRecovery::RecoveryExpression(recovery) => {
                    self.written(trigger, &recovery.text)
                }
                TriggerRecovery::Expression | TriggerRecovery::None => String::new(),
            },
            "TRIGGER.EXPRESSION.EXPLAIN" => self.explained(trigger, &trigger.expression),
            "TRIGGER.EXPRESSION.RECOVERY.EXPLAIN" => match &trigger.recovery {
                TriggerRecovery::RecoveryExpression(recovery) => self.explained(trigger, recovery),
                TriggerRecovery::Expression | TriggerRecovery::None => String::new(),
            },
            "TRIGGER.HOSTGROUP.NAME" => return self.groups(),
            "TRIGGER.TEMPLATE.NAME" => return self.templates(),
            "TRIGGER.EVENTS.ACK" => counts.acknowledged.to_string(),
            "TRIGGER.EVENTS.UNACK" => counts.unacknowledged.to_string(),
            "TRIGGER.EVENTS.PROBLEM.ACK" => counts.problems_acknowledged.to_string(),
            "TRIGGER.EVENTS.PROBLEM.UNACK" => counts.problems_unacknowledged.to_string(),
            _ => return None,
        })
    }

    /// Names of the groups of all hosts, each once, in the order of the alphabet.
    fn groups(&self) -> Option<String> {
        let hosts = self.facts.hosts.iter();
        let hosts = hosts.filter_map(|id| self.expander.facts.snapshot.hosts.get(id));
        let groups = hosts.flat_map(|host| host.groups.iter().zip(&host.group_names));
        let readable = groups.filter(|(id, _)| self.reads(**id));
        joined(readable.map(|(_, name)| &**name).collect())
    }

    fn templates(&self) -> Option<String> {
        let templates = self.facts.templates.iter();
        let readable = templates.filter(|one| one.groups.iter().any(|group| self.reads(*group)));
        joined(readable.map(|template| template.name.as_str()).collect())
    }

    /// The recipient may read the group.
    fn reads(&self, group: GroupId) -> bool {
        let Sees::Groups { groups, .. } = &self.recipient.sees else { return true };
        let rights = self.facts.rights.iter();
        let mut own =
            rights.filter(|right| right.group == group && groups.contains(&right.user_group));
        own.next().is_some_and(|right| right.reads && own.all(|right| right.reads))
    }

    /// An expression as people write it.
    fn written(&self, trigger: &Trigger, stored: &str) -> String {
        let snapshot = &self.expander.facts.snapshot;
        config::objects::replace_ids(stored, &mut |id| {
            let written = || {
                let function = trigger.functions.iter().find(|one| one.id.0 == id)?;
                let item = snapshot.items.get(&function.item)?;
                let host = snapshot.host_of(item)?;
                let stored = &*function.parameter;
                let parameter = stored.strip_prefix('$').unwrap_or(stored);
                let parameter = parameter.strip_prefix(',').unwrap_or(parameter);
                let comma = if parameter.is_empty() { "" } else { "," };
                let (name, host, key) = (&function.name, &host.host, item.written_key());
                Some(format!("{name}(/{host}/{key}{comma}{parameter})"))
            };
            written().unwrap_or_else(|| UNKNOWN.to_owned())
        })
    }

    fn explained(&self, trigger: &Trigger, expression: &eval::expr::Expression) -> String {
        let value =
            |id: u64| self.function(trigger.functions.iter().find(|function| function.id.0 == id)?);
        expression
            .explained(&mut |id| value(id).unwrap_or_else(|| UNKNOWN.to_owned()), &mut |written| {
                self.user_macros(written, &self.facts.hosts)
            })
    }

    fn user_macros(&self, text: &str, hosts: &[HostId]) -> String {
        let snapshot = &self.expander.facts.snapshot;
        let scope = MacroScope { nodes: &*snapshot.macros, hosts };
        substitute_user(text, &scope, &FunctionEnv { tz: &self.recipient.time_zone })
    }

    /// Operational data now: as the trigger writes them, or else the values of its items.
    pub(super) fn opdata(&self) -> Option<String> {
        let trigger = self.facts.trigger.as_ref()?;
        if !trigger.opdata.is_empty() {
            return Some(self.part(&trigger.opdata, Place::Shown));
        }
        let mut seen = Vec::new();
        let mut values = Vec::new();
        for (index, item) in self.facts.items.iter().enumerate() {
            let Some(item) = item.as_ref().filter(|item| !seen.contains(&item.id)) else {
                continue;
            };
            seen.push(item.id);
            let value = self.item_value(index, self.at(), false);
            values.push(value.unwrap_or_else(|| UNKNOWN.to_owned()));
        }
        Some(values.join(", "))
    }

    /// A text of the trigger with what works in it.
    fn part(&self, text: &str, place: Place) -> String {
        let rules = place.rules();
        let constants = self.facts.trigger.as_ref().filter(|_| rules.constants);
        let constants = constants.map(|trigger| trigger.expression.constants());
        let text = match constants {
            Some(constants) => eval::macros::replace_constants(text, &mut |number| {
                constants.get(number - 1).cloned()
            }),
            None => text.to_owned(),
        };
        self.expander.substitute(&text, self.recipient, &mut |token, bare| match &token.kind {
            TokenKind::User(_) => {
                Some(self.user_macros(&text[token.span.clone()], &self.facts.hosts))
            }
            TokenKind::Builtin { name: "EVENT.ID", index: None } if rules.has("EVENT.ID", None) => {
                Some(self.expander.facts.event.id.to_string())
            }
            TokenKind::Builtin { name, index } if rules.has(name, *index) => {
                let value = self.value(name, position(*index), bare);
                Some(value.unwrap_or_else(|| UNKNOWN.to_owned()))
            }
            _ => None,
        })
    }

    /// `{?formula}`: hosts and keys may be macros.
    pub(super) fn expression(&self, text: &str) -> Option<String> {
        let text =
            self.expander.substitute(text, self.recipient, &mut |token, _| match token.kind {
                TokenKind::Builtin { name: "HOST.HOST", index } => {
                    self.host(position(index)).map(|host| host.host.to_string())
                }
                TokenKind::Builtin { name: "ITEM.KEY", index } => {
                    self.item(position(index)).map(|item| item.written_key().to_owned())
                }
                _ => None,
            });
        let anywhere = self.recipient.sees == Sees::Everybody;
        self.expander.values.of_formula(text, &self.facts.hosts, anywhere, self.at())
    }
}

/// Names in the order of the alphabet, each once; `None` = there are none.
fn joined(mut names: Vec<&str>) -> Option<String> {
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}

/// The place of a function by the digit behind a macro's name.
pub(super) fn position(index: Option<u8>) -> usize {
    index.map_or(0, |digit| usize::from(digit).saturating_sub(1))
}

/// Macros of the inventory by the names that they have now.
fn present_name(name: &str) -> String {
    match name.strip_prefix("PROFILE.") {
        Some("SERIALNO") => "INVENTORY.SERIALNO.A".to_owned(),
        Some("MACADDRESS") => "INVENTORY.MACADDRESS.A".to_owned(),
        Some(field) => format!("INVENTORY.{field}"),
        None => name.to_owned(),
    }
}

/// The word for the state of an internal event's object.
pub(super) fn state(origin: EventOrigin, value: i64) -> &'static str {
    match (origin, value) {
        (_, 0) => "Normal",
        (EventOrigin::InternalTrigger(_), _) => "Unknown",
        _ => "Not supported",
    }
}
