//! Parts of texts: moments, users, tags, updates of problems, lists of problems and alerts.

use std::fmt::Write as _;

use eval::units::age;
use jiff::tz::TimeZone;
use objects::ProblemAction;

use super::Recipient;
use super::facts::{Alert, AlertKind, Facts, Line, Person, Progress, Update};

/// What stands for a user whom the recipient may not see.
const INACCESSIBLE: &str = "Inaccessible user";
/// What stands for a user who is deleted.
const DELETED: &str = "unknown";

pub(super) fn date(clock: u32, tz: &TimeZone) -> String {
    eval::calendar::local(clock.into(), tz).strftime("%Y.%m.%d").to_string()
}

pub(super) fn time(clock: u32, tz: &TimeZone) -> String {
    eval::calendar::local(clock.into(), tz).strftime("%H:%M:%S").to_string()
}

/// The user as the recipient may know him: `Name Surname (username)`.
pub(super) fn person(person: Option<&Person>, recipient: &Recipient) -> String {
    let Some(person) = person else { return DELETED.to_owned() };
    if !recipient.sees(person) {
        return INACCESSIBLE.to_owned();
    }
    full_name(person)
}

/// `Name Surname (username)`.
pub(super) fn full_name(person: &Person) -> String {
    let names = [person.name.as_str(), person.surname.as_str()];
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return person.username.clone();
    }
    format!("{} ({})", names.join(" "), person.username)
}

fn sorted(tags: &[(String, String)]) -> Vec<&(String, String)> {
    let mut tags: Vec<_> = tags.iter().collect();
    tags.sort();
    tags
}

/// `name:value` of each tag, in the order of the alphabet.
pub(super) fn tags(tags: &[(String, String)]) -> String {
    let one = |(tag, value): &(String, String)| {
        if value.is_empty() { tag.clone() } else { format!("{tag}:{value}") }
    };
    sorted(tags).into_iter().map(one).collect::<Vec<_>>().join(", ")
}

pub(super) fn tags_json(tags: &[(String, String)]) -> String {
    let one = |(tag, value): &(String, String)| serde_json::json!({"tag": tag, "value": value});
    serde_json::Value::Array(tags.iter().map(one).collect()).to_string()
}

/// The value of the tag with this name, written as macros write it.
pub(super) fn tag_value(tags: &[(String, String)], written: &str) -> Option<String> {
    let tags = tags.iter().map(|(tag, value)| (tag.as_str(), value.as_str()));
    eval::macros::tag_value(tags, written).map(str::to_owned)
}

/// What the user did, such as `acknowledged and closed`; comments are named where `comments` says so.
pub(super) fn actions(update: &Update, comments: bool, tz: &TimeZone) -> String {
    use ProblemAction as Action;
    let did = |action: Action| action.is_in(update.actions);
    let mut parts: Vec<String> = Vec::new();
    for (action, word) in [
        (Action::Acknowledge, "acknowledged"),
        (Action::Unacknowledge, "unacknowledged"),
        (Action::Message, "commented"),
    ] {
        if did(action) && (comments || action != Action::Message) {
            parts.push(word.to_owned());
        }
    }
    if did(Action::Severity) {
        let (before, after) = update.severity;
        parts.push(format!("changed severity from {} to {}", before.label(), after.label()));
    }
    if did(Action::Suppress) {
        parts.push(match update.suppress_until {
            0 => "suppressed indefinitely".to_owned(),
            until => format!("suppressed until {} {}", date(until, tz), time(until, tz)),
        });
    }
    for (action, word) in [(Action::Unsuppress, "unsuppressed"), (Action::Close, "closed")] {
        if did(action) {
            parts.push(word.to_owned());
        }
    }
    match parts.pop() {
        Some(last) if !parts.is_empty() => format!("{} and {last}", parts.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// What users did so far, each update as a paragraph.
pub(super) fn update_history(updates: &[Update], recipient: &Recipient) -> String {
    let tz = &recipient.time_zone;
    let paragraph = |update: &Update| {
        let who = person(update.author.as_ref(), recipient);
        let mut text = format!("{} {} \"{who}\"", date(update.clock, tz), time(update.clock, tz));
        let actions = actions(update, false, tz);
        if !actions.is_empty() {
            text.push_str("\nActions: ");
            text.push_str(&actions);
            text.push('.');
        }
        if !update.message.is_empty() {
            text.push('\n');
            text.push_str(&update.message);
        }
        text
    };
    updates.iter().map(paragraph).collect::<Vec<_>>().join("\n\n")
}

/// One line for each problem.
pub(super) fn problems<'a>(lines: impl IntoIterator<Item = &'a Line>, now: u32) -> String {
    let line = |line: &Line| {
        format!(
            "Host: \"{}\" Problem name: \"{}\" Severity: \"{}\" Age: {} Problem tags: \"{}\"",
            line.hosts.join(", "),
            line.name,
            line.severity.label(),
            age(now.saturating_sub(line.clock)),
            tags(&line.tags),
        )
    };
    lines.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What the action did so far about the problem.
pub(super) fn escalation(facts: &Facts, recipient: &Recipient) -> String {
    let tz = &recipient.time_zone;
    let moment = |clock: u32| format!("{} {}", date(clock, tz), time(clock, tz));
    let started = facts.event.at.clock;
    let lasts = age(facts.now.clock.saturating_sub(started));
    let mut text = format!("Problem started: {} Age: {lasts}", moment(started));
    for alert in &facts.alerts {
        text.push('\n');
        text.push_str(&alert_line(alert, &moment(alert.clock), recipient));
    }
    if let Some(recovery) = &facts.recovery {
        text.push_str("\nProblem ended: ");
        text.push_str(&moment(recovery.at.clock));
    }
    text
}

fn alert_line(alert: &Alert, moment: &str, recipient: &Recipient) -> String {
    let (kind, done) = match alert.kind {
        AlertKind::Message { .. } => ("message", "sent"),
        AlertKind::Command { .. } => ("script", "executed"),
    };
    let state = match alert.progress {
        Progress::Running => "in progress",
        Progress::Done => done,
        Progress::Failed => "failed",
        Progress::Withheld => "withheld",
    };
    let mut line = format!("{}. {moment} {kind:<7} {state:<11} ", alert.step);
    let written = match &alert.kind {
        AlertKind::Message { media, sendto, user } => {
            let who = person(user.as_ref(), recipient);
            write!(line, "{media} {sendto} \"{who}\"")
        }
        AlertKind::Command { host } => write!(line, "\"{host}\""),
    };
    written.expect("BUG: a text takes what is written into it");
    if !alert.error.is_empty() {
        line.push(' ');
        line.push_str(&alert.error);
    }
    line
}
