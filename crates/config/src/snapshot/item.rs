//! Items, in as few bytes as possible: what equal items of many hosts have in common is kept once.

use std::ops::Deref;
use std::sync::Arc;

use eval::interval::UpdateInterval;
use eval::preproc::Step;
use model::{HostId, InterfaceId, ItemId, TriggerId, ValueType};

use super::source::Source;
pub use objects::ItemType;

/// An item or a discovery rule of a host: what is its own. Everything else is its [`ItemShape`],
/// whose members read like members of the item.
#[derive(Debug, Clone)]
pub struct Item {
    pub id: ItemId,
    pub host: HostId,
    /// Where its values come from: the master of a dependent item, the interface of others; 0 =
    /// none. No item has both, and eight bytes are 16 of the allocator's.
    pub(super) origin: u64,
    /// Items that depend on this one.
    pub dependents: Few<ItemId>,
    /// Triggers whose expressions name this item.
    pub triggers: Few<TriggerId>,
    /// What it shares with others.
    pub shape: Arc<ItemShape>,
}

/// What the items of one template item have in common on all hosts where macros do not make a
/// difference.
#[derive(Debug, Clone)]
pub struct ItemShape {
    /// Key with macros resolved, but for trapper items: senders name those as they are
    /// configured. Shared when equal.
    pub key: Arc<str>,
    /// The key for people, where `key` holds the value of a secret macro.
    pub shown_key: Option<Arc<str>>,
    /// The key as it is configured, where macros make `key` another: formulas name it so.
    pub written_key: Option<Arc<str>>,
    /// How it gets its values.
    pub kind: ItemType,
    /// How its values are kept.
    pub value_type: ValueType,
    /// It is a low-level discovery rule.
    pub discovery_rule: bool,
    /// Item and host are both switched on.
    pub enabled: bool,
    /// Update interval; `None` for items that are not polled, or with an invalid interval (then
    /// `invalid` tells why).
    pub interval: Option<Arc<UpdateInterval>>,
    /// Why the item cannot work (bad interval, bad step), for its error text.
    pub invalid: Option<Box<str>>,
    /// Preprocessing.
    pub steps: Arc<[Step]>,
    /// Days of history to keep; 0 = do not store.
    pub history_days: u16,
    /// Days of trends to keep; 0 = none.
    pub trends_days: u16,
    /// Seldom used members.
    pub extra: Option<Arc<ItemExtra>>,
}

impl ItemShape {
    /// The key for people: of secret macros stand asterisks.
    pub fn shown_key(&self) -> &str {
        self.shown_key.as_deref().unwrap_or(&self.key)
    }

    /// The key as it is configured.
    pub fn written_key(&self) -> &str {
        self.written_key.as_deref().unwrap_or(&self.key)
    }
}

impl Deref for Item {
    type Target = ItemShape;
    fn deref(&self) -> &ItemShape {
        &self.shape
    }
}

/// A change of one item does not reach those that it shared its shape with.
impl std::ops::DerefMut for Item {
    fn deref_mut(&mut self) -> &mut ItemShape {
        Arc::make_mut(&mut self.shape)
    }
}

/// All members of an item side by side, to make one of.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the members of Item and ItemShape, which tell")]
pub struct ItemParts {
    pub id: ItemId,
    pub host: HostId,
    pub key: Arc<str>,
    pub kind: ItemType,
    pub value_type: ValueType,
    pub discovery_rule: bool,
    pub enabled: bool,
    pub interval: Option<Arc<UpdateInterval>>,
    pub invalid: Option<Box<str>>,
    pub interface: InterfaceId,
    pub master: ItemId,
    pub dependents: Box<[ItemId]>,
    pub steps: Arc<[Step]>,
    pub triggers: Box<[TriggerId]>,
    pub history_days: u16,
    pub trends_days: u16,
    pub extra: Option<Arc<ItemExtra>>,
}

impl ItemParts {
    /// Those of an item that is nowhere configured: it is on, has texts and no interval.
    pub fn unconfigured(host: HostId, kind: ItemType, key: Arc<str>) -> Self {
        Self {
            id: ItemId(0),
            host,
            key,
            kind,
            value_type: ValueType::Text,
            discovery_rule: false,
            enabled: true,
            interval: None,
            invalid: None,
            interface: InterfaceId(0),
            master: ItemId(0),
            dependents: Box::default(),
            steps: Arc::new([]),
            triggers: Box::default(),
            history_days: 0,
            trends_days: 0,
            extra: None,
        }
    }
}

impl From<ItemParts> for Item {
    fn from(parts: ItemParts) -> Self {
        let origin = match parts.kind {
            ItemType::Dependent => parts.master.0,
            _ => parts.interface.0,
        };
        Self {
            id: parts.id,
            host: parts.host,
            origin,
            dependents: parts.dependents.into_vec().into(),
            triggers: parts.triggers.into_vec().into(),
            shape: Arc::new(ItemShape {
                key: parts.key,
                shown_key: None,
                written_key: None,
                kind: parts.kind,
                value_type: parts.value_type,
                discovery_rule: parts.discovery_rule,
                enabled: parts.enabled,
                interval: parts.interval,
                invalid: parts.invalid,
                steps: parts.steps,
                history_days: parts.history_days,
                trends_days: parts.trends_days,
                extra: parts.extra,
            }),
        }
    }
}

impl Item {
    /// Interface to poll; 0 = none.
    pub fn interface(&self) -> InterfaceId {
        InterfaceId(if self.kind == ItemType::Dependent { 0 } else { self.origin })
    }

    /// Master of a dependent item; 0 = none.
    pub fn master(&self) -> ItemId {
        ItemId(if self.kind == ItemType::Dependent { self.origin } else { 0 })
    }

    /// Polls it at that interface from now on.
    pub fn poll_at(&mut self, interface: InterfaceId) {
        self.origin = interface.0;
    }

    /// Makes it of the values of that item from now on.
    pub fn depend_on(&mut self, master: ItemId) {
        self.kind = ItemType::Dependent;
        self.origin = master.0;
    }

    /// An item that is nowhere configured, to be checked once.
    pub fn unconfigured(host: HostId, kind: ItemType, key: Arc<str>, extra: ItemExtra) -> Self {
        let extra = Some(Arc::new(extra));
        Self::from(ItemParts { extra, ..ItemParts::unconfigured(host, kind, key) })
    }
}

/// Members that few items have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ItemExtra {
    /// Formula, script, command or query of the item (macros resolved).
    pub params: String,
    /// What only its type has.
    pub source: Source,
    /// Own timeout, with suffix; empty = the default.
    pub timeout: String,
    /// Who may send values, for trapper items; empty = everybody.
    pub trapper_hosts: String,
    /// Time format of log items.
    pub logtimefmt: String,
    /// The HTTP agent item accepts sent values.
    pub allow_traps: bool,
    /// Host inventory field that the value fills; 0 = none.
    pub inventory_link: u8,
    /// Units, for texts for people.
    pub units: String,
    /// Value map, for texts for people; 0 = none.
    pub valuemap: u64,
    /// Tags of the item, for filters of aggregate functions.
    pub tags: Box<[(Arc<str>, Arc<str>)]>,
}

/// A list that is empty most of the time: 8 bytes then, and no allocation.
#[derive(Clone, PartialEq, Eq)]
pub struct Few<T>(#[expect(clippy::box_collection, reason = "a thin pointer")] Option<Box<Vec<T>>>);

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> From<Vec<T>> for Few<T> {
    fn from(mut list: Vec<T>) -> Self {
        list.shrink_to_fit();
        Self((!list.is_empty()).then(|| Box::new(list)))
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        iter.into_iter().collect::<Vec<T>>().into()
    }
}

impl<T> Deref for Few<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl<'a, T> IntoIterator for &'a Few<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Few<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.deref().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_stays_small() {
        // With the two counters of its Arc it fits the allocator's block of 64 bytes.
        assert_eq!(size_of::<Item>(), 48);
    }

    #[test]
    fn few_is_a_list() {
        let mut few = Few::default();
        assert_eq!((few.len(), format!("{few:?}")), (0, String::from("[]")));
        few = vec![1, 2].into();
        assert_eq!(few.iter().sum::<i32>(), 3);
        assert_eq!((&few).into_iter().count(), 2);
    }
}
