//! Settings of the server in the audit log.

use super::catalog::{self, Resource};
use super::{AuditAction, Trail};

/// An object of which there is one, stored as rows of the table `settings`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsObject {
    /// Settings of the whole server.
    Settings,
    /// How long what is kept.
    Housekeeping,
    /// How users sign in.
    Authentication,
    /// How agents register.
    Autoregistration,
}

impl SettingsObject {
    /// Its name in the API.
    pub fn word(self) -> &'static str {
        self.resource().word
    }

    fn resource(self) -> &'static Resource {
        match self {
            Self::Settings => &catalog::SETTINGS,
            Self::Housekeeping => &catalog::HOUSEKEEPING,
            Self::Authentication => &catalog::AUTHENTICATION,
            Self::Autoregistration => &catalog::AUTOREGISTRATION,
        }
    }
}

/// A change of a setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The object that it belongs to.
    pub object: SettingsObject,
    /// Its name in the API.
    pub name: &'a str,
    /// Its name in the table.
    pub stored: &'a str,
    /// The audit log does not show its values.
    pub is_secret: bool,
    /// The value that it had, or its default.
    pub before: &'a str,
    /// The new value.
    pub after: &'a str,
}

/// Id of the only object of its kind, in Zabbix the row of the table `config`.
const ONLY: u64 = 1;

impl Trail {
    /// A setting gets another value.
    pub(crate) fn set(&mut self, setting: &Setting<'_>) {
        let resource = setting.object.resource();
        let shown = |value| if setting.is_secret { catalog::mask(value) } else { value };
        self.rows += 1;
        let entry = self.entry(resource.word, ONLY);
        entry.kind = Some(resource);
        entry.action = Some(AuditAction::Update);
        entry.details.repeats = true;
        let what = ["update", shown(setting.after), shown(setting.before)];
        entry.details.push("", setting.name, &what);
    }
}
