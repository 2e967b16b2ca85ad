//! What equal items have in common, made once: 10,000 hosts with one template share the shapes of
//! its items.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use eval::macros::Place;
use foldhash::fast::RandomState;
use model::ValueType;

use super::text::{StepRow, Texts, days};
use crate::db::Cells;
use crate::snapshot::source::Source;
use crate::snapshot::{Host, ItemExtra, ItemShape, ItemType, Resolver, Settings};

/// A tag and its value.
pub(super) type Tag = (String, String);

/// Columns of `items` that shapes are made of, by their place in the query.
pub(super) const COLUMNS: &str = "i.flags, i.type, i.key_, i.delay, i.history, i.trends, \
    i.status, i.value_type, i.units, i.valuemapid, i.inventory_link, i.logtimefmt, \
    i.trapper_hosts, i.params, i.timeout, i.allow_traps";

/// A row in the eyes of its host: macros resolved, nothing parsed yet.
struct Seen<'a> {
    kind: ItemType,
    value_type: ValueType,
    discovery_rule: bool,
    enabled: bool,
    allow_traps: bool,
    inventory_link: u8,
    valuemap: u64,
    /// The key in the database.
    raw_key: &'a str,
    key: Cow<'a, str>,
    shown_key: Cow<'a, str>,
    /// What is wrong with its macros.
    fault: Option<&'static str>,
    delay: Cow<'a, str>,
    history: Cow<'a, str>,
    trends: Cow<'a, str>,
    params: Cow<'a, str>,
    timeout: Cow<'a, str>,
    source: Source,
    trapper_hosts: Cow<'a, str>,
    units: &'a str,
    logtimefmt: &'a str,
}

impl<'a> Seen<'a> {
    /// `None` when its type is none that we know.
    fn read(
        row: &'a dyn Cells,
        first: usize,
        host: &Host,
        resolver: &Resolver<'_>,
        source: &[String],
    ) -> Option<Self> {
        let at = |n: usize| first + n;
        let text = |n: usize, place: Place| resolver.text(row.text(at(n)), place);
        let kind = ItemType::from_api(row.small(at(1)))?;
        // A formula keeps its macros: they are resolved as operands, where a text needs no
        // quotes.
        let params = if kind == ItemType::Calculated {
            Cow::Borrowed(row.text(at(13)))
        } else if kind == ItemType::Web {
            // A scenario, which is read as the item's source.
            Cow::Borrowed("")
        } else {
            text(13, Place::ItemScript)
        };
        // Senders say the key as it is configured.
        let raw_key = row.text(at(2));
        let (key, shown_key) = if kind == ItemType::Trapper {
            (Cow::Borrowed(raw_key), Cow::Borrowed(raw_key))
        } else {
            (resolver.key(raw_key), resolver.shown_key(raw_key))
        };
        Some(Self {
            kind,
            value_type: ValueType::from_api(row.small(at(7)))?,
            discovery_rule: row.int(at(0)) == 1,
            enabled: row.int(at(6)) == 0 && host.monitored,
            allow_traps: row.int(at(15)) == 1,
            inventory_link: u8::try_from(row.int(at(10))).unwrap_or(0),
            valuemap: row.id(at(9)),
            raw_key,
            shown_key,
            key,
            fault: resolver.fault(),
            delay: text(3, Place::ItemPeriod),
            history: text(4, Place::ItemPeriod),
            trends: text(5, Place::ItemPeriod),
            params,
            timeout: text(14, Place::ItemPeriod),
            source: Source::new(
                kind,
                &|name| {
                    let at = Source::COLUMNS.iter().position(|column| *column == name);
                    at.and_then(|at| source.get(at)).cloned().unwrap_or_default()
                },
                &|text, place| resolver.text(text, place).into_owned(),
            ),
            trapper_hosts: text(12, Place::AllowedHosts),
            units: row.text(at(8)),
            logtimefmt: row.text(at(11)),
        })
    }

    /// Writes all of it in a form that differs where anything differs.
    fn print(&self, steps: &[StepRow], tags: &[Tag], out: &mut Vec<u8>) {
        out.clear();
        out.extend([self.kind as u8, self.value_type as u8, self.inventory_link]);
        let flags = [self.discovery_rule, self.enabled, self.allow_traps, self.fault.is_some()];
        out.extend(flags.map(u8::from));
        out.extend(self.valuemap.to_le_bytes());
        out.extend(steps.len().to_le_bytes());
        let mut text = |text: &str| {
            out.extend(text.len().to_le_bytes());
            out.extend_from_slice(text.as_bytes());
        };
        for part in [self.raw_key, self.units, self.logtimefmt] {
            text(part);
        }
        // Mostly there is no macro in it, and the key is the one above.
        for key in [&self.key, &self.shown_key] {
            text(if matches!(key, Cow::Borrowed(_)) { "" } else { key });
        }
        for part in [&self.delay, &self.history, &self.trends, &self.params] {
            text(part);
        }
        text(&self.timeout);
        if self.source != Source::Key {
            text(&format!("{:?}", self.source));
        }
        text(&self.trapper_hosts);
        for (_, params, _, more) in steps {
            text(params);
            text(more);
        }
        for (tag, value) in tags {
            text(tag);
            text(value);
        }
        out.extend(steps.iter().flat_map(|(kind, _, handler, _)| [*kind, *handler]));
    }

    fn interval(
        &self,
        texts: &mut Texts,
    ) -> Result<Option<Arc<eval::interval::UpdateInterval>>, String> {
        use ItemType::{AgentActive, Dependent, SnmpTrap, Trapper};
        if matches!(self.kind, Trapper | SnmpTrap | Dependent) {
            return Ok(None);
        }
        if self.kind == AgentActive && (self.delay == "0" || self.raw_key.starts_with("mqtt.get")) {
            return Ok(None);
        }
        texts.interval(&self.delay).map(Some)
    }

    fn extra(&self, tags: &[Tag], texts: &mut Texts) -> Option<Arc<ItemExtra>> {
        let extra = ItemExtra {
            params: self.params.clone().into_owned(),
            source: self.source.clone(),
            timeout: self.timeout.clone().into_owned(),
            trapper_hosts: self.trapper_hosts.clone().into_owned(),
            logtimefmt: self.logtimefmt.to_owned(),
            allow_traps: self.allow_traps,
            inventory_link: self.inventory_link,
            units: self.units.to_owned(),
            valuemap: self.valuemap,
            tags: tags.iter().map(|(tag, value)| (texts.share(tag), texts.share(value))).collect(),
        };
        (extra != ItemExtra::default()).then(|| Arc::new(extra))
    }

    fn shape(
        &self,
        steps: &[StepRow],
        tags: &[Tag],
        settings: &Settings,
        texts: &mut Texts,
    ) -> ItemShape {
        let mut invalid = self.fault.map(str::to_owned);
        let interval = self.interval(texts).unwrap_or_else(|error| {
            invalid = Some(error);
            None
        });
        let steps = texts.steps(steps).unwrap_or_else(|error| {
            invalid = Some(error);
            Arc::from([])
        });
        // The global setting changes how long an item keeps its values, not whether it does.
        let kept = |text: &str, global: Option<u16>| match days(text).unwrap_or(0) {
            0 => 0,
            own => global.unwrap_or(own),
        };
        ItemShape {
            key: texts.share(&self.key),
            shown_key: (self.key != self.shown_key).then(|| texts.share(&self.shown_key)),
            written_key: (self.key != self.raw_key).then(|| texts.share(self.raw_key)),
            kind: self.kind,
            value_type: self.value_type,
            discovery_rule: self.discovery_rule,
            enabled: self.enabled,
            interval,
            invalid: invalid.map(String::into_boxed_str),
            steps,
            history_days: kept(&self.history, settings.history_days_global),
            trends_days: if self.value_type.is_numeric() {
                kept(&self.trends, settings.trends_days_global)
            } else {
                0
            },
            extra: self.extra(tags, texts),
        }
    }
}

/// The API's number of the step that runs a script.
const SCRIPT: u8 = 21;

/// All shapes made so far.
#[derive(Default)]
pub(super) struct Shapes {
    texts: Texts,
    /// By two hashes with seeds of this process, which nobody can aim at: a table of the texts
    /// themselves would be larger than what is shared.
    known: HashMap<(u64, u64), Arc<ItemShape>, RandomState>,
    other: RandomState,
    printed: Vec<u8>,
}

impl Shapes {
    /// The shape of a row of an item of `host`; `first` = the place of the first of [`COLUMNS`].
    /// `None` when its type is none that we know.
    pub(super) fn of(
        &mut self,
        (row, first): (&dyn Cells, usize),
        host: &Host,
        resolver: &Resolver<'_>,
        (steps, tags, source): (&[StepRow], &[Tag], &[String]),
        settings: &Settings,
    ) -> Option<Arc<ItemShape>> {
        let mut seen = Seen::read(row, first, host, resolver, source)?;
        let steps = resolved(steps, resolver);
        seen.fault = seen.fault.or(resolver.fault());
        seen.print(&steps, tags, &mut self.printed);
        let hashes =
            (self.known.hasher().hash_one(&self.printed), self.other.hash_one(&self.printed));
        if let Some(known) = self.known.get(&hashes) {
            return Some(Arc::clone(known));
        }
        let shape = Arc::new(seen.shape(&steps, tags, settings, &mut self.texts));
        self.known.insert(hashes, Arc::clone(&shape));
        Some(shape)
    }
}

fn resolved<'s>(steps: &'s [StepRow], resolver: &Resolver<'_>) -> Cow<'s, [StepRow]> {
    if !steps.iter().any(|(_, params, _, more)| params.contains('{') || more.contains('{')) {
        return Cow::Borrowed(steps);
    }
    let text = |text: &str, place: Place| resolver.text(text, place).into_owned();
    let step = |(kind, params, handler, more): &StepRow| {
        let place = if *kind == SCRIPT { Place::StepScript } else { Place::Step };
        (*kind, text(params, place), *handler, text(more, Place::Step))
    };
    Cow::Owned(steps.iter().map(step).collect())
}
