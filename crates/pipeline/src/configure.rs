//! A new configuration: swapped whole, then whatever depends on what changed is brought up to
//! date.

use std::collections::BTreeSet;
use std::sync::Arc;

use config::snapshot::Item;
use config::{Snapshot, Touched};
use history::value_cache::Need;
use model::{ItemId, Timestamp, TriggerId};
use stdx::sync::lock;

use crate::command::{NewConfig, PeerMessage, Scope, is_calculated};
use crate::core::{Core, send};
use crate::foreign::POINTS_MAX;
use crate::needs;

impl Core {
    /// Takes over the configuration that lies in the letter box, if one does.
    pub(crate) fn open_letters(&mut self) {
        let letter = lock(&self.letters).take();
        if let Some(letter) = letter {
            self.configure(letter);
        }
    }

    pub(crate) fn configure(&mut self, letter: NewConfig) {
        let before = std::mem::replace(&mut self.snapshot, letter.snapshot);
        self.slots.next_revision();
        self.triggers.forget_levels();
        self.env.update(&self.snapshot);
        self.export.configure(&self.snapshot);
        match letter.touched {
            Some(touched) if !touched.global => self.configure_touched(&before, &touched),
            _ => self.configure_all(Some(&before)),
        }
    }

    /// Looks at everything; `before` = `None` at the start.
    pub(crate) fn configure_all(&mut self, before: Option<&Snapshot>) {
        let snapshot = Arc::clone(&self.snapshot);
        for id in snapshot.triggers.iter().map(|(id, _)| *id) {
            self.configure_trigger(id);
        }
        let Some(before) = before else {
            self.configure_first(&snapshot);
            return;
        };
        for id in snapshot.items.iter().map(|(id, _)| *id) {
            self.configure_item(Some(before), id);
        }
        self.triggers.retain(|id| snapshot.triggers.get(&id).is_some());
        let gone = |id: &&ItemId| snapshot.items.get(*id).is_none();
        for id in before.items.iter().map(|(id, _)| id).filter(gone) {
            self.forget_item(*id);
        }
    }

    /// At the start only items that somebody looks back at, or that the shard calculates, need
    /// anything.
    fn configure_first(&mut self, snapshot: &Snapshot) {
        let place = self.place;
        for host in snapshot.hosts.values().filter(|host| place.owns_host(host.id)) {
            for item in &host.items {
                if !item.triggers.is_empty() || is_calculated(item) {
                    self.configure_item(None, item.id);
                }
            }
        }
        for trigger in snapshot.triggers.values().filter(|trigger| trigger.functions.len() > 1) {
            for function in &trigger.functions {
                let foreign = |item: &&Arc<Item>| !place.owns(item);
                if snapshot.items.get(&function.item).filter(foreign).is_some() {
                    self.configure_item(None, function.item);
                }
            }
        }
    }

    fn configure_touched(&mut self, before: &Snapshot, touched: &Touched) {
        let snapshot = Arc::clone(&self.snapshot);
        let mut items: BTreeSet<ItemId> = touched.items.clone();
        let mut triggers: BTreeSet<TriggerId> = touched.triggers.clone();
        for id in &touched.hosts {
            // Hosts of other shards concern this one by their triggers alone, which may have functions of its items.
            let own = self.place.owns_host(*id);
            let concerns = |item: &&Arc<Item>| own || !item.triggers.is_empty();
            for hosts in [&before.hosts, &snapshot.hosts] {
                let of_host = hosts.get(id).map_or(&[][..], |host| &host.items);
                items.extend(of_host.iter().filter(concerns).map(|item| item.id));
            }
        }
        for id in &items {
            for items in [&before.items, &snapshot.items] {
                triggers.extend(items.get(id).map_or(&[][..], |item| &item.triggers));
            }
        }
        for id in &triggers {
            for triggers in [&before.triggers, &snapshot.triggers] {
                let functions = triggers.get(id).map_or(&[][..], |trigger| &trigger.functions);
                items.extend(functions.iter().map(|function| function.item));
            }
        }
        for id in &triggers {
            self.configure_trigger(*id);
        }
        for id in &items {
            if snapshot.items.get(id).is_some() {
                self.configure_item(Some(before), *id);
            } else {
                self.forget_item(*id);
            }
        }
    }

    fn configure_trigger(&mut self, id: TriggerId) {
        let Some(trigger) = self.snapshot.triggers.get(&id).cloned() else {
            self.triggers.forget(id);
            return;
        };
        let own = self.evaluates(&trigger);
        if let Some(error) = self.triggers.move_to(id, own)
            && let Some(shard) = self.place.evaluator(&self.snapshot, &trigger)
        {
            send(&mut self.peers, shard, PeerMessage::TriggerError { trigger: id, error });
        }
        // A disabled trigger keeps its state: its problem is still open when it comes back.
        if trigger.enabled && own {
            let now = self.clock.unix_s();
            self.clock_trigger(&trigger, now);
        }
    }

    pub(crate) fn configure_item(&mut self, before: Option<&Snapshot>, id: ItemId) {
        let Some(item) = self.snapshot.items.get(&id).cloned() else { return };
        let need = if item.triggers.is_empty() {
            Need::default()
        } else {
            needs::of_item(self.place, &self.snapshot, &mut self.compiler, &item)
        };
        if !self.place.owns(&item) {
            self.watch_foreign(id, need);
            return;
        }
        self.cache.need(id, need);
        let known = before.map(|before| before.items.get(&id));
        match known {
            // It was not there before: values cannot be expected from before now.
            Some(None) => drop(self.born.insert(id, self.now_s())),
            Some(Some(old)) if old.value_type != item.value_type => self.cache.forget(id),
            _ => {}
        }
        if is_calculated(&item) {
            self.schedule_calculated(&item);
        }
    }

    fn watch_foreign(&mut self, id: ItemId, need: Need) {
        if need == Need::default() {
            self.foreign.forget(id);
            return;
        }
        if !self.foreign.watch(id, need) {
            return;
        }
        if need.seconds > 0 {
            let from = self.now_s().saturating_sub(need.seconds);
            let span = history::Span::new(from, u32::MAX);
            // The newest values may be older than the period.
            let then = (need.count > 0).then(|| newest_count(need));
            self.ask_for_past(id, Scope::Span(span), then);
        } else {
            self.ask_for_past(id, Scope::Newest(newest_count(need)), None);
        }
    }

    /// The clock was set back: what is due at a second is due at another one, and nothing starts
    /// in the future.
    pub(crate) fn clock_set_back(&mut self, now: u64) {
        tracing::warn!(
            seconds = self.second - now,
            "the clock was set back; timed triggers and calculated items are scheduled again"
        );
        let now_s = u32::try_from(now).unwrap_or(u32::MAX);
        self.started_s = self.started_s.min(now_s);
        self.born.values_mut().for_each(|born| *born = (*born).min(now_s));
        self.progress.clock_set_back();
        self.triggers.stop_clocks();
        self.calculated.stop_clocks();
        self.foreign.forget_trends();
        self.tickets.clock_set_back(now);
        let snapshot = Arc::clone(&self.snapshot);
        for trigger in snapshot.triggers.values() {
            if trigger.enabled && self.evaluates(trigger) {
                self.clock_trigger(trigger, now);
            }
        }
        for item in snapshot.items.values() {
            if is_calculated(item) && self.place.owns(item) {
                self.schedule_calculated(item);
            }
        }
    }

    fn forget_item(&mut self, id: ItemId) {
        self.slots.remove(id);
        self.cache.forget(id);
        self.folder.forget(id);
        self.foreign.forget(id);
        self.born.remove(&id);
        self.calculated.forget(id);
    }

    pub(crate) fn now_s(&self) -> u32 {
        Timestamp::from_unix(self.clock.unix()).clock
    }
}

/// How many of the newest values of an item of another shard are fetched.
fn newest_count(need: Need) -> usize {
    usize::try_from(need.count.max(2)).unwrap_or(POINTS_MAX).min(POINTS_MAX)
}
