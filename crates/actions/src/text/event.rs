//! Macros about the event itself, the action, and about what is neither a trigger nor an item.

use eval::units::age;
use jiff::tz::TimeZone;
use objects::{DiscoveryState, EventSource};

use super::facts::{Agent, Cause, Device, Event, Facts, Related, Service, Subject, Update};
use super::monitored::state;
use super::{Expander, Recipient, words};

impl Expander {
    /// The value of a macro that works in messages about the event.
    pub(super) fn builtin(
        &self,
        name: &str,
        index: usize,
        bare: bool,
        recipient: &Recipient,
    ) -> Option<String> {
        let facts = &self.facts;
        let tz = &recipient.time_zone;
        match name {
            "DATE" => return Some(words::date(facts.now.clock, tz)),
            "TIME" => return Some(words::time(facts.now.clock, tz)),
            "ACTION.ID" => return Some(facts.action.id.to_string()),
            "ACTION.NAME" => return Some(facts.action.name.clone()),
            "ESC.HISTORY" => return Some(words::escalation(facts, recipient)),
            "EVENT.OPDATA" => return self.about(recipient)?.opdata(),
            "EVENT.SYMPTOMS" => return self.symptoms(recipient),
            "EVENT.ACK.HISTORY" => return Some(words::update_history(&facts.updates, recipient)),
            _ => {}
        }
        if let Some(part) = name.strip_prefix("EVENT.RECOVERY.") {
            return self.of_event(facts.recovery.as_ref()?, part, tz);
        }
        if let Some(part) = name.strip_prefix("EVENT.CAUSE.") {
            let Cause { event, updates, hosts } = facts.related.cause.as_ref()?;
            if !recipient.sees_problem(&facts.related.rights, hosts, &event.tags) {
                return None;
            }
            return match part {
                "UPDATE.HISTORY" => Some(words::update_history(updates, recipient)),
                "OPDATA" => Some(event.opdata.clone()),
                _ => self.of_event(event, part, tz),
            };
        }
        if let Some(part) = name.strip_prefix("EVENT.UPDATE.").or(user_part(name)) {
            return self.of_update(part, recipient);
        }
        match name.strip_prefix("EVENT.") {
            Some("DURATION") => {
                let end = facts.recovery.as_ref().map_or(facts.now.clock, |event| event.at.clock);
                Some(age(end.saturating_sub(facts.event.at.clock)))
            }
            Some("VALUE") => Some(facts.current().value.to_string()),
            Some("STATUS") => Some(status(facts.current()).to_owned()),
            Some(part) => self.of_event(&facts.event, part, tz),
            None => match &facts.subject {
                Subject::Monitored(_) => self.about(recipient)?.value(name, index, bare),
                Subject::Device(device) => of_device(device, name, facts.now.clock),
                Subject::Agent(agent) => of_agent(agent, name),
                Subject::Service(service) => of_service(service, name, facts.now.clock),
                Subject::Gone => None,
            },
        }
    }

    /// Those that the recipient sees.
    fn symptoms(&self, recipient: &Recipient) -> Option<String> {
        let Facts { related: Related { symptoms, rights, .. }, now, .. } = &self.facts;
        let seen = symptoms
            .iter()
            .filter(|one| recipient.sees_problem(rights, &one.hosts, &one.line.tags))
            .map(|one| &one.line);
        let mut seen = seen.peekable();
        seen.peek()?;
        Some(words::problems(seen, now.clock))
    }

    fn of_event(&self, event: &Event, part: &str, tz: &TimeZone) -> Option<String> {
        let now = self.facts.now.clock;
        Some(match part {
            "ID" => event.id.to_string(),
            "NAME" => event.name.clone(),
            "DATE" => words::date(event.at.clock, tz),
            "TIME" => words::time(event.at.clock, tz),
            "AGE" | "DURATION" => age(now.saturating_sub(event.at.clock)),
            "SOURCE" => event.origin.source().number().to_string(),
            "OBJECT" => event.origin.object().number().to_string(),
            "VALUE" => event.value.to_string(),
            "STATUS" => status(event).to_owned(),
            "SEVERITY" => event.severity.label().to_owned(),
            "NSEVERITY" => event.severity.number().to_string(),
            "ACK.STATUS" => if event.acknowledged { "Yes" } else { "No" }.to_owned(),
            "TAGS" => words::tags(&event.tags),
            "TAGSJSON" => words::tags_json(&event.tags),
            _ => return words::tag_value(&event.tags, part.strip_prefix("TAGS.")?),
        })
    }

    fn of_update(&self, part: &str, recipient: &Recipient) -> Option<String> {
        let facts = &self.facts;
        let tz = &recipient.time_zone;
        match part {
            "STATUS" => {
                let is_update = facts.update.is_some() || facts.status_changed;
                return Some(i32::from(is_update).to_string());
            }
            "HISTORY" => return Some(words::update_history(&facts.updates, recipient)),
            _ => {}
        }
        let update: &Update = facts.update.as_ref()?;
        Some(match part {
            "ACTION" => words::actions(update, true, tz),
            "DATE" => words::date(update.clock, tz),
            "TIME" => words::time(update.clock, tz),
            "MESSAGE" => update.message.clone(),
            "FULLNAME" => words::person(update.author.as_ref(), recipient),
            _ => return None,
        })
    }
}

/// `{USER.FULLNAME}` is who made the update.
fn user_part(name: &str) -> Option<&str> {
    name.strip_prefix("USER.")
}

/// The word for what an event says.
fn status(event: &Event) -> &'static str {
    match (event.origin.source(), event.value) {
        (EventSource::Internal, value) => state(event.origin, value),
        (_, 0) => "RESOLVED",
        _ => "PROBLEM",
    }
}

fn up_or_down(state: DiscoveryState) -> String {
    match state {
        DiscoveryState::Up | DiscoveryState::Discovered => "UP",
        DiscoveryState::Down | DiscoveryState::Lost => "DOWN",
    }
    .to_owned()
}

fn of_device(device: &Device, name: &str, now: u32) -> Option<String> {
    Some(match name {
        "PROXY.NAME" | "PROXY.DESCRIPTION" => String::new(),
        "DISCOVERY.RULE.NAME" => device.rule.clone(),
        "DISCOVERY.DEVICE.IPADDRESS" => device.ip.clone(),
        "DISCOVERY.DEVICE.DNS" => device.dns.clone(),
        "DISCOVERY.DEVICE.STATUS" => up_or_down(device.status),
        "DISCOVERY.DEVICE.UPTIME" => age(now.saturating_sub(device.since)),
        _ => {
            let service = device.service?;
            match name.strip_prefix("DISCOVERY.SERVICE.")? {
                "NAME" => service.check.label().to_owned(),
                "PORT" => service.port.to_string(),
                "STATUS" => up_or_down(service.status),
                "UPTIME" => age(now.saturating_sub(service.since)),
                _ => return None,
            }
        }
    })
}

fn of_agent(agent: &Agent, name: &str) -> Option<String> {
    Some(match name {
        "PROXY.NAME" | "PROXY.DESCRIPTION" => String::new(),
        "HOST.HOST" => agent.host.clone(),
        "HOST.IP" => agent.ip.clone(),
        "HOST.PORT" => agent.port.to_string(),
        "HOST.METADATA" => agent.metadata.clone(),
        _ => return None,
    })
}

fn of_service(service: &Service, name: &str, now: u32) -> Option<String> {
    Some(match name.strip_prefix("SERVICE.")? {
        "NAME" => service.name.clone(),
        "DESCRIPTION" => service.description.clone(),
        "ROOTCAUSE" => words::problems(&service.root_cause, now),
        "TAGS" => words::tags(&service.tags),
        "TAGSJSON" => words::tags_json(&service.tags),
        part => return words::tag_value(&service.tags, part.strip_prefix("TAGS.")?),
    })
}
