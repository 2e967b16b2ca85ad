//! Numbers of the catalogs for SQL texts, to be set in by `formatcp!` or `format!`. Each name begins with
//! the column that the number belongs to.

use const_format::formatcp;

use crate::{
    EventObject, EventSource, GroupKind, HostKind, InventoryMode, ItemType, MacroType, Origin,
    State, Status, UserType, ValueType,
};

/// A host.
pub const KIND_HOST: &str = HostKind::Host.text();
/// A template.
pub const KIND_TEMPLATE: &str = HostKind::Template.text();
/// A host prototype.
pub const KIND_PROTOTYPE: &str = HostKind::Prototype.text();
/// List: hosts and templates, which share their names.
pub const KIND_OWNERS: &str = formatcp!("({KIND_HOST}, {KIND_TEMPLATE})");
/// Hosts without an inventory.
pub const INVENTORY_MODE_DISABLED: &str = InventoryMode::Disabled.text();

/// Group of hosts, in `type`.
pub const GROUP_OF_HOSTS: &str = GroupKind::Hosts.text();
/// Group of templates, in `type`.
pub const GROUP_OF_TEMPLATES: &str = GroupKind::Templates.text();

/// What users and templates create.
pub const FLAGS_PLAIN: &str = Origin::Plain.text();
/// Discovery rules.
pub const FLAGS_RULE: &str = Origin::Rule.text();
/// Prototypes.
pub const FLAGS_PROTOTYPE: &str = Origin::Prototype.text();
/// What discovery creates.
pub const FLAGS_DISCOVERED: &str = Origin::Discovered.text();
/// List: items and triggers that are neither rules nor prototypes.
pub const FLAGS_REAL: &str = formatcp!("({FLAGS_PLAIN}, {FLAGS_DISCOVERED})");
/// List: items and discovery rules, which have values.
pub const FLAGS_WITH_VALUES: &str = formatcp!("({FLAGS_PLAIN}, {FLAGS_RULE}, {FLAGS_DISCOVERED})");
/// List: what discovery has not created.
pub const FLAGS_CONFIGURED: &str = formatcp!("({FLAGS_PLAIN}, {FLAGS_RULE}, {FLAGS_PROTOTYPE})");

/// Monitoring uses it.
pub const STATUS_ENABLED: &str = Status::Enabled.text();
/// Monitoring does not use it.
pub const STATUS_DISABLED: &str = Status::Disabled.text();
/// It cannot be collected or evaluated.
pub const STATE_NOT_SUPPORTED: &str = State::NotSupported.text();

/// Events of triggers.
pub const SOURCE_TRIGGER: &str = EventSource::Trigger.text();
/// Events about what became unsupported or unknown.
pub const SOURCE_INTERNAL: &str = EventSource::Internal.text();
/// Events about triggers.
pub const OBJECT_TRIGGER: &str = EventObject::Trigger.text();

/// Items of web scenarios.
pub const TYPE_WEB: &str = ItemType::Web.info().number;
/// Dependent items.
pub const TYPE_DEPENDENT: &str = ItemType::Dependent.info().number;
/// List of the value types that are numbers.
pub const NUMERIC: &str =
    formatcp!("({}, {})", ValueType::Float.text(), ValueType::Unsigned.text());
/// Roles of super admins, in `type`.
pub const TYPE_SUPER_ADMIN: &str = UserType::SuperAdmin.text();
/// Secret macros, in `type`.
pub const MACRO_SECRET: &str = MacroType::Secret.text();

#[cfg(test)]
mod tests {
    #[test]
    fn lists_are_lists_of_numbers() {
        assert_eq!([super::FLAGS_REAL, super::FLAGS_WITH_VALUES], ["(0, 4)", "(0, 1, 4)"]);
        assert_eq!([super::FLAGS_CONFIGURED, super::NUMERIC], ["(0, 1, 2)", "(0, 3)"]);
    }
}
