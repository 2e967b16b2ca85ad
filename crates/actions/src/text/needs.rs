//! What texts need to be read of an event, found out before anything is read.

use eval::macros::{Token, TokenKind, tokens};

/// What the texts about one event need, beside the event itself. Values of items are not among it:
/// they are read when a text has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    pub(super) tags: bool,
    pub(super) updates: bool,
    pub(super) cause: bool,
    /// Lists of other problems: symptoms, root causes.
    pub(super) problems: bool,
    pub(super) alerts: bool,
    pub(super) item_texts: bool,
    pub(super) trigger_texts: bool,
    pub(super) host_texts: bool,
    pub(super) templates: bool,
    pub(super) rights: bool,
    pub(super) counts: bool,
    pub(super) error: bool,
}

impl Needs {
    /// The needs of all these texts: subjects, messages, names and values of parameters.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut needs = Self::default();
        for text in texts {
            needs.add_text(text);
        }
        needs
    }

    fn add_text(&mut self, text: &str) {
        for token in tokens(text) {
            self.add(&token);
        }
    }

    fn add(&mut self, token: &Token<'_>) {
        match &token.kind {
            TokenKind::Function { inner, .. } => self.add(inner),
            TokenKind::Expression(text) => self.add_text(text),
            TokenKind::Builtin { name, .. } => self.add_macro(name),
            TokenKind::User(_) | TokenKind::Lld(_) | TokenKind::FunctionId(_) => {}
        }
    }

    fn add_macro(&mut self, name: &str) {
        let starts = |start: &str| name.starts_with(start);
        self.tags |= starts("EVENT.TAGS") || starts("EVENT.RECOVERY.TAGS");
        self.updates |= matches!(name, "EVENT.UPDATE.HISTORY" | "EVENT.ACK.HISTORY");
        self.cause |= starts("EVENT.CAUSE.");
        self.problems |= matches!(name, "EVENT.SYMPTOMS" | "SERVICE.ROOTCAUSE");
        self.alerts |= name == "ESC.HISTORY";
        let item = starts("ITEM.") || starts("LLDRULE.");
        self.item_texts |= item
            && (name.ends_with(".ORIG") || name.ends_with("NAME") || name.ends_with("DESCRIPTION"));
        self.trigger_texts |=
            starts("TRIGGER.URL") || matches!(name, "TRIGGER.DESCRIPTION" | "TRIGGER.COMMENT");
        self.host_texts |= name == "HOST.DESCRIPTION" || starts("PROXY.");
        self.templates |= name == "TRIGGER.TEMPLATE.NAME";
        self.rights |= matches!(name, "TRIGGER.TEMPLATE.NAME" | "TRIGGER.HOSTGROUP.NAME");
        self.counts |= starts("TRIGGER.EVENTS.");
        self.error |= name.ends_with(".STATE.ERROR");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_texts_need() {
        let none = Needs::default();
        for (text, needs) in [
            ("", none),
            ("{EVENT.NAME} {ITEM.VALUE2} {HOST.NAME} {ITEM.KEY} {$M} {?last(//k)}", none),
            ("{{EVENT.TAGS.a}.uppercase()}", Needs { tags: true, ..none }),
            ("{EVENT.RECOVERY.TAGSJSON}", Needs { tags: true, ..none }),
            ("{?last(/{ITEM.NAME3}/k)}", Needs { item_texts: true, ..none }),
            ("{ITEM.KEY.ORIG1}{LLDRULE.DESCRIPTION}", Needs { item_texts: true, ..none }),
            ("{EVENT.UPDATE.HISTORY}", Needs { updates: true, ..none }),
            ("{EVENT.CAUSE.TAGS.x}", Needs { cause: true, ..none }),
            ("{EVENT.SYMPTOMS}", Needs { problems: true, ..none }),
            ("{ESC.HISTORY}", Needs { alerts: true, ..none }),
            ("{TRIGGER.URL.NAME}", Needs { trigger_texts: true, ..none }),
            ("{TRIGGER.EVENTS.PROBLEM.ACK}", Needs { counts: true, ..none }),
            ("{SERVICE.ROOTCAUSE}", Needs { problems: true, ..none }),
            ("{TRIGGER.STATE.ERROR}", Needs { error: true, ..none }),
            ("{HOST.DESCRIPTION2}", Needs { host_texts: true, ..none }),
            ("{PROXY.NAME}", Needs { host_texts: true, ..none }),
            ("{TRIGGER.HOSTGROUP.NAME}", Needs { rights: true, ..none }),
            (
                "{TRIGGER.TEMPLATE.NAME} {ESC.HISTORY",
                Needs { templates: true, rights: true, ..none },
            ),
        ] {
            assert_eq!(Needs::of([text]), needs, "{text}");
        }
        let both = Needs { counts: true, alerts: true, ..none };
        assert_eq!(Needs::of(["{TRIGGER.EVENTS.ACK}", "{ESC.HISTORY}"]), both);
    }
}
