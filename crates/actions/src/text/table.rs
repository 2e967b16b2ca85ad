//! Which macros work in messages about which events. The others stay as text.

use eval::macros::inventory_field;
use model::EventOrigin;

const TRIGGER: u8 = 1;
const DEVICE: u8 = 2;
const AGENT: u8 = 4;
const UNKNOWN_TRIGGER: u8 = 8;
const ITEM: u8 = 16;
const RULE: u8 = 32;
const SERVICE: u8 = 64;
const INTERNAL: u8 = UNKNOWN_TRIGGER | ITEM | RULE;
/// Events with a beginning and an end.
const LASTING: u8 = TRIGGER | INTERNAL | SERVICE;
const ALL: u8 = LASTING | DEVICE | AGENT;

const fn bit(origin: EventOrigin) -> u8 {
    match origin {
        EventOrigin::Trigger(_) => TRIGGER,
        EventOrigin::DiscoveredHost(_) | EventOrigin::DiscoveredService(_) => DEVICE,
        EventOrigin::AutoregisteredHost(_) => AGENT,
        EventOrigin::InternalTrigger(_) => UNKNOWN_TRIGGER,
        EventOrigin::InternalItem(_) => ITEM,
        EventOrigin::InternalLldRule(_) => RULE,
        EventOrigin::Service(_) => SERVICE,
    }
}

/// In which messages about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// The problem has ended.
    Recovered,
    /// The problem has not ended.
    Open,
    /// The message reports an update.
    Updated,
}

/// Sources, whether a digit behind the name means a function's item, when, names; `*` at the end
/// stands for what follows.
type Row = (u8, bool, When, &'static [&'static str]);

const ROWS: &[Row] = &[
    (
        ALL,
        false,
        When::Always,
        &[
            "EVENT.AGE",
            "EVENT.DATE",
            "EVENT.ID",
            "EVENT.OBJECT",
            "EVENT.SOURCE",
            "EVENT.TIME",
            "ACTION.ID",
            "ACTION.NAME",
            "DATE",
            "TIME",
        ],
    ),
    (ALL & !SERVICE, true, When::Always, &["PROXY.NAME", "PROXY.DESCRIPTION"]),
    (
        LASTING,
        false,
        When::Always,
        &[
            "EVENT.DURATION",
            "EVENT.STATUS",
            "EVENT.VALUE",
            "EVENT.TAGS",
            "EVENT.TAGSJSON",
            "EVENT.TAGS.*",
            "ESC.HISTORY",
        ],
    ),
    (LASTING & !RULE, false, When::Always, &["EVENT.NAME"]),
    (
        LASTING,
        false,
        When::Recovered,
        &[
            "EVENT.RECOVERY.DATE",
            "EVENT.RECOVERY.ID",
            "EVENT.RECOVERY.STATUS",
            "EVENT.RECOVERY.TAGS",
            "EVENT.RECOVERY.TAGSJSON",
            "EVENT.RECOVERY.TAGS.*",
            "EVENT.RECOVERY.TIME",
            "EVENT.RECOVERY.VALUE",
        ],
    ),
    (LASTING & !RULE, false, When::Recovered, &["EVENT.RECOVERY.NAME"]),
    (
        TRIGGER | SERVICE,
        false,
        When::Always,
        &["EVENT.SEVERITY", "EVENT.NSEVERITY", "EVENT.UPDATE.STATUS"],
    ),
    (
        TRIGGER,
        false,
        When::Always,
        &[
            "EVENT.ACK.STATUS",
            "EVENT.ACK.HISTORY",
            "EVENT.UPDATE.HISTORY",
            "EVENT.OPDATA",
            "EVENT.SYMPTOMS",
            "EVENT.CAUSE.ACK.STATUS",
            "EVENT.CAUSE.AGE",
            "EVENT.CAUSE.DATE",
            "EVENT.CAUSE.DURATION",
            "EVENT.CAUSE.ID",
            "EVENT.CAUSE.NAME",
            "EVENT.CAUSE.NSEVERITY",
            "EVENT.CAUSE.OBJECT",
            "EVENT.CAUSE.OPDATA",
            "EVENT.CAUSE.SEVERITY",
            "EVENT.CAUSE.SOURCE",
            "EVENT.CAUSE.STATUS",
            "EVENT.CAUSE.TAGS",
            "EVENT.CAUSE.TAGSJSON",
            "EVENT.CAUSE.TAGS.*",
            "EVENT.CAUSE.TIME",
            "EVENT.CAUSE.UPDATE.HISTORY",
            "EVENT.CAUSE.VALUE",
            "TRIGGER.EVENTS.ACK",
            "TRIGGER.EVENTS.UNACK",
            "TRIGGER.EVENTS.PROBLEM.ACK",
            "TRIGGER.EVENTS.PROBLEM.UNACK",
            "TRIGGER.EXPRESSION.EXPLAIN",
            "TRIGGER.EXPRESSION.RECOVERY.EXPLAIN",
            "TRIGGER.STATUS",
            "TRIGGER.VALUE",
        ],
    ),
    (
        TRIGGER,
        false,
        When::Updated,
        &[
            "EVENT.UPDATE.ACTION",
            "EVENT.UPDATE.DATE",
            "EVENT.UPDATE.TIME",
            "EVENT.UPDATE.MESSAGE",
            "USER.FULLNAME",
        ],
    ),
    (
        TRIGGER | INTERNAL,
        true,
        When::Always,
        &[
            "HOST.CONN",
            "HOST.DESCRIPTION",
            "HOST.DNS",
            "HOST.HOST",
            "HOST.ID",
            "HOST.IP",
            "HOST.NAME",
            "HOST.PORT",
            "HOSTNAME",
            "IPADDRESS",
            "INVENTORY.*",
            "PROFILE.*",
        ],
    ),
    (AGENT, false, When::Always, &["HOST.HOST", "HOST.IP", "HOST.PORT", "HOST.METADATA"]),
    (
        TRIGGER | UNKNOWN_TRIGGER | ITEM,
        true,
        When::Always,
        &[
            "ITEM.DESCRIPTION",
            "ITEM.DESCRIPTION.ORIG",
            "ITEM.ID",
            "ITEM.KEY",
            "ITEM.KEY.ORIG",
            "ITEM.NAME",
            "ITEM.NAME.ORIG",
            "ITEM.VALUETYPE",
            "TRIGGER.KEY",
        ],
    ),
    (
        TRIGGER,
        true,
        When::Always,
        &[
            "ITEM.VALUE",
            "ITEM.LASTVALUE",
            "ITEM.LOG.AGE",
            "ITEM.LOG.DATE",
            "ITEM.LOG.EVENTID",
            "ITEM.LOG.NSEVERITY",
            "ITEM.LOG.SEVERITY",
            "ITEM.LOG.SOURCE",
            "ITEM.LOG.TIME",
            "ITEM.LOG.TIMESTAMP",
            "FUNCTION.VALUE",
            "FUNCTION.RECOVERY.VALUE",
        ],
    ),
    (
        TRIGGER | UNKNOWN_TRIGGER,
        false,
        When::Always,
        &[
            "TRIGGER.COMMENT",
            "TRIGGER.DESCRIPTION",
            "TRIGGER.EXPRESSION",
            "TRIGGER.EXPRESSION.RECOVERY",
            "TRIGGER.HOSTGROUP.NAME",
            "TRIGGER.ID",
            "TRIGGER.NAME",
            "TRIGGER.NAME.ORIG",
            "TRIGGER.NSEVERITY",
            "TRIGGER.SEVERITY",
            "TRIGGER.TEMPLATE.NAME",
            "TRIGGER.URL",
            "TRIGGER.URL.NAME",
        ],
    ),
    (UNKNOWN_TRIGGER, false, When::Always, &["TRIGGER.STATE", "TRIGGER.STATE.ERROR"]),
    (ITEM, false, When::Always, &["ITEM.STATE", "ITEM.STATE.ERROR"]),
    (
        RULE,
        false,
        When::Always,
        &[
            "LLDRULE.DESCRIPTION",
            "LLDRULE.DESCRIPTION.ORIG",
            "LLDRULE.ID",
            "LLDRULE.KEY",
            "LLDRULE.KEY.ORIG",
            "LLDRULE.NAME",
            "LLDRULE.NAME.ORIG",
            "LLDRULE.STATE",
            "LLDRULE.STATE.ERROR",
        ],
    ),
    (
        DEVICE,
        false,
        When::Always,
        &[
            "DISCOVERY.RULE.NAME",
            "DISCOVERY.DEVICE.IPADDRESS",
            "DISCOVERY.DEVICE.DNS",
            "DISCOVERY.DEVICE.STATUS",
            "DISCOVERY.DEVICE.UPTIME",
            "DISCOVERY.SERVICE.NAME",
            "DISCOVERY.SERVICE.PORT",
            "DISCOVERY.SERVICE.STATUS",
            "DISCOVERY.SERVICE.UPTIME",
        ],
    ),
    (
        SERVICE,
        false,
        When::Always,
        &[
            "SERVICE.NAME",
            "SERVICE.DESCRIPTION",
            "SERVICE.TAGS",
            "SERVICE.TAGSJSON",
            "SERVICE.TAGS.*",
        ],
    ),
    (SERVICE, false, When::Open, &["SERVICE.ROOTCAUSE"]),
];

/// Which message about which event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occasion {
    pub(super) origin: EventOrigin,
    pub(super) recovered: bool,
    pub(super) updated: bool,
}

impl Occasion {
    /// The macro works; `index` = the digit behind its name.
    pub(super) fn has(self, name: &str, index: Option<u8>) -> bool {
        let source = bit(self.origin);
        let named = |pattern: &&str| match pattern.strip_suffix('*') {
            Some(start) => name.len() > start.len() && name.starts_with(start),
            None => name == *pattern,
        };
        let row = ROWS
            .iter()
            .find(|(sources, _, _, names)| sources & source != 0 && names.iter().any(named));
        let Some((_, indexed, when, _)) = row else { return false };
        let field = !name.starts_with("INVENTORY.") || inventory_field(name).is_some();
        let now = match when {
            When::Always => true,
            When::Recovered => self.recovered,
            When::Open => !self.recovered,
            When::Updated => self.updated,
        };
        field && now && (index.is_none() || *indexed)
    }

    /// Expression macros work.
    pub(super) fn has_expressions(self) -> bool {
        bit(self.origin) == TRIGGER
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/macros.md");

    /// The rows of the table as the documentation shows them.
    fn document() -> String {
        let mut text = String::from(
            "| Macros | Trigger | Service | Internal | Discovery | Autoregistration | With a number |\n\
             | --- | --- | --- | --- | --- | --- | --- |\n",
        );
        for (sources, indexed, when, names) in ROWS {
            let names: Vec<String> = names.iter().map(|name| format!("`{{{name}}}`")).collect();
            let yes = match when {
                When::Always => "yes",
                When::Recovered => "recovery",
                When::Open => "problem, update",
                When::Updated => "update",
            };
            let kinds = match sources & INTERNAL {
                0 | INTERNAL => "",
                UNKNOWN_TRIGGER => "triggers",
                ITEM => "items",
                RULE => "discovery rules",
                _ => "triggers, items",
            };
            let internal = match (kinds, sources & INTERNAL) {
                ("", 0) => String::new(),
                ("", _) => yes.to_owned(),
                _ if yes == "yes" => kinds.to_owned(),
                _ => format!("{kinds}: {yes}"),
            };
            let cell = |bit: u8| if sources & bit == 0 { "" } else { yes };
            let number = if *indexed { "yes" } else { "" };
            text.push_str(&format!(
                "| {} | {} | {} | {internal} | {} | {} | {number} |\n",
                names.join(" "),
                cell(TRIGGER),
                cell(SERVICE),
                cell(DEVICE),
                cell(AGENT),
            ));
        }
        text
    }

    #[test]
    fn the_documentation_has_this_table() {
        let table = document();
        assert!(PAGE.contains(&table), "docs/macros.md must hold this table:\n{table}");
    }

    #[test]
    fn each_macro_of_a_source_has_one_row() {
        for (n, (sources, .., names)) in ROWS.iter().enumerate() {
            for (others, .., known) in &ROWS[n + 1..] {
                let twice = names.iter().find(|name| known.contains(name));
                assert!(sources & others == 0 || twice.is_none(), "{twice:?}");
            }
        }
    }
}
