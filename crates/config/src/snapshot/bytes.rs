//! What a snapshot takes of memory.

use std::collections::HashSet;
use std::sync::Arc;

use super::{CowMap, Host, Item, ItemShape, Snapshot, Spread, Trigger};

/// The counters of an `Arc` and what the allocator adds to each block.
const BLOCK: usize = 24;

impl Snapshot {
    /// Bytes in use, about: every object with its texts, shared ones once. Looks at all of them:
    /// some ten milliseconds for each 100,000 items.
    pub fn bytes(&self) -> usize {
        let mut seen = HashSet::new();
        let hosts: usize = self.hosts.values().map(|host| of_host(host)).sum();
        let items: usize = self.items.values().map(|item| of_item(item, &mut seen)).sum();
        let triggers: usize = self.triggers.values().map(|trigger| of_trigger(trigger)).sum();
        let tables = self.hosts.bytes() + self.items.bytes() + self.triggers.bytes();
        let macros = self.macros.of_host.values().flatten().chain(&self.macros.global);
        let macros: usize =
            macros.map(|def| size_of_val(def) + def.name.len() + def.value.len() + BLOCK).sum();
        let maps: usize = self.valuemaps.values().map(|map| size_of_val(&**map)).sum();
        hosts + items + triggers + tables + macros + maps
    }
}

fn of_host(host: &Host) -> usize {
    let lists = size_of_val(&*host.items)
        + size_of_val(&*host.groups)
        + size_of_val(&*host.group_names)
        + size_of_val(&*host.tags)
        + size_of_val(&*host.interfaces)
        + size_of_val(&*host.templates);
    let tags: usize = host.tags.iter().map(|(tag, value)| tag.len() + value.len()).sum();
    let interfaces = host.interfaces.iter();
    let interfaces: usize = interfaces.map(|i| i.ip.len() + i.dns.len() + 2 * BLOCK).sum();
    let inventory = host.inventory.iter().flatten();
    let inventory: usize = inventory.map(|field| size_of_val(field) + field.1.len() + BLOCK).sum();
    size_of::<Host>()
        + BLOCK
        + lists
        + host.host.len()
        + host.name.len()
        + tags
        + interfaces
        + inventory
}

fn of_item(item: &Item, seen: &mut HashSet<*const ItemShape>) -> usize {
    let lists = [item.dependents.len(), item.triggers.len()];
    let lists: usize = lists
        .into_iter()
        .filter(|len| *len > 0)
        .map(|len| 2 * BLOCK + len * size_of::<u64>())
        .sum();
    let is_new = seen.insert(Arc::as_ptr(&item.shape));
    size_of::<Item>() + BLOCK + lists + if is_new { of_shape(&item.shape) } else { 0 }
}

fn of_shape(shape: &ItemShape) -> usize {
    let extra = shape.extra.as_ref().map_or(0, |extra| {
        let texts = [&extra.params, &extra.timeout, &extra.trapper_hosts, &extra.logtimefmt];
        let texts: usize = texts.into_iter().map(|text| text.capacity()).sum();
        let texts = texts + extra.units.capacity() + extra.source.bytes();
        size_of_val(&**extra) + BLOCK + texts + size_of_val(&*extra.tags)
    });
    let keys = shape.shown_key.iter().chain(&shape.written_key);
    let shown: usize = keys.map(|key| key.len() + BLOCK).sum();
    size_of::<ItemShape>()
        + BLOCK
        + shown
        + shape.key.len()
        + BLOCK
        + size_of_val(&*shape.steps)
        + extra
}

fn of_trigger(trigger: &Trigger) -> usize {
    /// A parsed expression takes some times its text.
    const PARSED: usize = 8;
    let texts = [&trigger.description, &trigger.event_name, &trigger.opdata];
    let texts: usize = texts.into_iter().map(|text| text.len() + BLOCK).sum();
    let functions = trigger.functions.iter();
    let functions: usize =
        functions.map(|f| size_of_val(f) + f.name.len() + f.parameter.len() + 2 * BLOCK).sum();
    let expressions: usize = trigger.expressions().map(|e| e.text.len() * PARSED + BLOCK).sum();
    size_of::<Trigger>() + BLOCK + texts + functions + expressions
}

impl<K: Eq + Clone + Spread, V: Clone> CowMap<K, V> {
    /// Bytes of the tables, without what the entries point to.
    pub(super) fn bytes(&self) -> usize {
        // One byte of each place says whether it is taken.
        self.capacity() * (size_of::<(K, V)>() + 1)
    }
}
