//! Macros in texts of hosts, items and discovery rules, each where it works.

use objects::InterfaceType;
use std::borrow::Cow;
use std::cell::Cell;

use eval::macros::{
    FunctionEnv, Group, MacroKind, MacroScope, Place, TokenKind, UNKNOWN, UserMacros, group_of,
    inventory_field, substitute,
};
use model::HostId;

use super::{Host, Interface, Snapshot};

/// Agent before SNMP, JMX and IPMI, as the field chooses.
fn rank(interface: &Interface) -> usize {
    let order = InterfaceType::PREFERRED;
    let place = order.iter().position(|kind| kind.is(i64::from(interface.kind)));
    place.unwrap_or(order.len())
}

impl Host {
    /// The interface that macros of the host mean.
    pub fn main_interface(&self) -> Option<&Interface> {
        self.interfaces.iter().filter(|interface| interface.main).min_by_key(|one| rank(one))
    }

    /// The value of a macro of the host (`HOST.NAME`, `INVENTORY.OS`); `None` when the host does
    /// not have it.
    pub fn macro_value(&self, name: &str) -> Option<String> {
        self.macro_value_at(name, self.main_interface())
    }

    fn macro_value_at(&self, name: &str, interface: Option<&Interface>) -> Option<String> {
        Some(match name {
            "HOST.HOST" | "HOSTNAME" => self.host.to_string(),
            "HOST.NAME" => self.name.to_string(),
            "HOST.ID" => self.id.0.to_string(),
            "HOST.IP" | "IPADDRESS" => interface?.ip.to_string(),
            "HOST.DNS" => interface?.dns.to_string(),
            "HOST.PORT" => interface?.port.to_string(),
            "HOST.CONN" => interface?.address().to_owned(),
            _ if matches!(group_of(name)?, Group::Inventory | Group::InventoryOld) => {
                let field = inventory_field(name)?;
                let known = self.inventory.as_ref()?.iter().find(|(known, _)| **known == *field);
                known.map_or_else(String::new, |(_, value)| value.to_string())
            }
            _ => return None,
        })
    }
}

impl Interface {
    /// The kind in words: `agent`, `SNMP`, `IPMI`, `JMX`.
    pub fn kind_name(kind: u8) -> &'static str {
        InterfaceType::from_number(i64::from(kind)).map_or("unknown", InterfaceType::lower_label)
    }

    /// Address or name, whichever is used to connect.
    pub fn address(&self) -> &str {
        if self.use_ip { &self.ip } else { &self.dns }
    }
}

/// Resolves macros in the eyes of one host.
pub(crate) struct Resolver<'a> {
    scope: MacroScope<'a>,
    host: Option<&'a Host>,
    interface: Option<&'a Interface>,
    /// A macro was met whose value nobody here knows: it is a path in a vault.
    vault: Cell<bool>,
}

impl<'a> Resolver<'a> {
    /// For texts of `hosts[0]`; several hosts for a trigger over several.
    pub(crate) fn new(snapshot: &'a Snapshot, hosts: &'a [HostId]) -> Self {
        let host = hosts.first().and_then(|id| snapshot.hosts.get(id)).map(|host| &**host);
        let scope = MacroScope { nodes: &*snapshot.macros, hosts };
        Self { scope, host, interface: None, vault: Cell::new(false) }
    }

    /// For texts of `host`, whose id is all that `hosts` holds.
    pub(crate) fn of(snapshot: &'a Snapshot, host: &'a Host, hosts: &'a [HostId]) -> Self {
        let scope = MacroScope { nodes: &*snapshot.macros, hosts };
        Self { scope, host: Some(host), interface: None, vault: Cell::new(false) }
    }

    /// `{HOST.CONN}` and its kin mean this interface.
    pub(crate) fn with_interface(self, interface: Option<&'a Interface>) -> Self {
        Self { interface, ..self }
    }

    /// The text with the macros that work in `place` resolved; others, and unknown ones, stay.
    pub(crate) fn text<'t>(&self, text: &'t str, place: Place) -> Cow<'t, str> {
        self.replace(text, place, place.rules().user)
    }

    /// A key with the macros in its parameters resolved.
    pub(crate) fn key<'t>(&self, key: &'t str) -> Cow<'t, str> {
        self.replace_key(key, UserMacros::Bare)
    }

    /// The same key for people: without values of secret macros.
    pub(crate) fn shown_key<'t>(&self, key: &'t str) -> Cow<'t, str> {
        self.replace_key(key, UserMacros::Masked)
    }

    /// What is wrong with the macros that were resolved since the last call.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        self.vault.take().then_some(
            "A macro names a secret in a vault, and no vault is connected. \
             Give the macro a secret text as its value.",
        )
    }

    fn replace_key<'t>(&self, key: &'t str, user: UserMacros) -> Cow<'t, str> {
        if !key.contains('{') {
            return Cow::Borrowed(key);
        }
        let replace = |text: &str| self.replace(text, Place::ItemKey, user).into_owned();
        eval::key::map_params(key, &mut |param| replace(param))
            .unwrap_or_else(|_| replace(key))
            .into()
    }

    fn replace<'t>(&self, text: &'t str, place: Place, user: UserMacros) -> Cow<'t, str> {
        if !text.contains('{') {
            return Cow::Borrowed(text);
        }
        let rules = place.rules();
        substitute(text, &FunctionEnv { tz: &jiff::tz::TimeZone::UTC }, &mut |token| match &token
            .kind
        {
            TokenKind::User(wanted) => {
                let found = self.scope.resolve(wanted)?;
                Some(match (user, found.kind) {
                    (UserMacros::Bare, MacroKind::Vault) => {
                        self.vault.set(true);
                        UNKNOWN.to_owned()
                    }
                    (UserMacros::Bare, _) => found.value.clone(),
                    (UserMacros::Masked, _) => found.masked().to_owned(),
                })
            }
            TokenKind::Builtin { name, index } if rules.has(name, *index) => {
                let host = self.host?;
                let interface = self.interface.or_else(|| host.main_interface());
                let value = host.macro_value_at(name, interface);
                Some(value.unwrap_or_else(|| UNKNOWN.to_owned()))
            }
            _ => None,
        })
        .into()
    }
}
