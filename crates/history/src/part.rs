//! Stores that are given a part of the history: some types of values, or what is kept for some time.

use std::ops::RangeInclusive;
use std::sync::Arc;

use model::ItemId;

use crate::{Driver, Error, Extent, Kind, Store};

/// Words for types of values. Character, text and binary values are one kind.
const TYPES: [(&str, Kind); 4] = [
    ("float", Kind::Float),
    ("unsigned", Kind::Unsigned),
    ("text", Kind::Text),
    ("log", Kind::Log),
];

/// For how many days the rows of an item of a kind are kept, as it is configured now.
pub type Keeps = Arc<dyn Fn(ItemId, Kind) -> u16 + Send + Sync>;

/// Which rows a store is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Empty = all.
    types: Vec<Kind>,
    /// Days for which rows are kept.
    days: RangeInclusive<u16>,
}

impl Part {
    const ALL_DAYS: RangeInclusive<u16> = 0..=u16::MAX;

    /// Takes the settings `types=float,unsigned,text,log` and `days=FROM-TO` (each end may be left
    /// out) from a store's address. What is left is for its driver.
    pub fn take_from(address: &str) -> Result<(Self, String), Error> {
        let mut part = Self { types: Vec::new(), days: Self::ALL_DAYS };
        let Some((place, settings)) = address.split_once('?') else {
            return Ok((part, address.to_owned()));
        };
        let mut others = Vec::new();
        for setting in settings.split('&') {
            match setting.split_once('=') {
                Some(("types", words)) => part.types = types(words)?,
                Some(("days", ends)) => part.days = days(ends)?,
                _ => others.push(setting),
            }
        }
        let others = others.join("&");
        let address =
            if others.is_empty() { place.to_owned() } else { format!("{place}?{others}") };
        Ok((part, address))
    }

    /// A store that is given no more than this. Refused are types that it cannot keep.
    pub fn of(self, store: Arc<dyn Store>, keeps: Keeps) -> Result<Arc<dyn Store>, Error> {
        let cannot = |kind: &&Kind| store.extent(**kind) != Extent::All;
        if let Some(kind) = self.types.iter().find(cannot) {
            let (store, name) = (store.name(), TYPES.iter().find(|(_, other)| other == kind));
            let name = name.map_or("", |(name, _)| name);
            return Err(Error::config(format!(
                "the history store {store} cannot keep values of the type {name} whole: leave it \
                 out of types=, and they stay embedded"
            )));
        }
        if self.types.is_empty() && self.days == Self::ALL_DAYS {
            return Ok(store);
        }
        Ok(Arc::new(Partial { store, part: self, keeps }))
    }

    /// Trends are of the type of their values.
    fn has_type(&self, kind: Kind) -> bool {
        let is_of_type = |of: &Kind| match kind {
            Kind::FloatMin | Kind::FloatAvg | Kind::FloatMax | Kind::FloatNum => *of == Kind::Float,
            _ if kind.is_trend() => *of == Kind::Unsigned,
            _ => *of == kind,
        };
        self.types.is_empty() || self.types.iter().any(is_of_type)
    }
}

fn types(words: &str) -> Result<Vec<Kind>, Error> {
    let kind = |word: &str| TYPES.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind);
    words.split(',').map(kind).collect::<Option<_>>().ok_or_else(|| {
        Error::config(
            "the types that a history store is given are some of float, unsigned, text, log, with \
             commas between",
        )
    })
}

fn days(ends: &str) -> Result<RangeInclusive<u16>, Error> {
    let end = |text: &str, open: u16| {
        if text.is_empty() { Some(open) } else { text.parse::<u16>().ok() }
    };
    let read = || {
        let (from, to) = ends.split_once('-')?;
        let (from, to) = (end(from, 0)?, end(to, u16::MAX)?);
        (from <= to).then_some(from..=to)
    };
    read().ok_or_else(|| {
        Error::config(
            "the days for which values of a history store are kept are like 31-, -30 or 8-365",
        )
    })
}

struct Partial {
    store: Arc<dyn Store>,
    part: Part,
    keeps: Keeps,
}

impl Store for Partial {
    fn name(&self) -> String {
        self.store.name()
    }

    fn driver(&self) -> Box<dyn Driver> {
        self.store.driver()
    }

    fn tells_types(&self) -> bool {
        self.store.tells_types()
    }

    fn takes(&self, item: ItemId, kind: Kind) -> bool {
        self.store.takes(item, kind)
            && self.part.has_type(kind)
            && self.part.days.contains(&(self.keeps)(item, kind))
    }

    fn extent(&self, kind: Kind) -> Extent {
        if !self.part.has_type(kind) {
            Extent::Nothing
        } else if self.part.days == Part::ALL_DAYS {
            self.store.extent(kind)
        } else {
            self.store.extent(kind).min(Extent::Some)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Class, Fault, Memory};

    struct Whole;

    /// It has no room for what a log line is more than its text.
    struct Narrow;

    impl Store for Narrow {
        fn name(&self) -> String {
            "narrow".to_owned()
        }
        fn driver(&self) -> Box<dyn Driver> {
            Whole.driver()
        }
        fn takes(&self, _: ItemId, kind: Kind) -> bool {
            kind != Kind::Log
        }
        fn extent(&self, kind: Kind) -> Extent {
            if kind == Kind::Log { Extent::Some } else { Extent::All }
        }
    }

    impl Store for Whole {
        fn name(&self) -> String {
            "whole".to_owned()
        }
        fn driver(&self) -> Box<dyn Driver> {
            Box::new(Memory::new(Arc::new(Class(1))))
        }
    }

    /// Items are kept for as many days as their number says, trends for ten times as many.
    fn store(settings: &str) -> Arc<dyn Store> {
        let (part, address) = Part::take_from(&format!("http://u:p%3F@h/d{settings}")).unwrap();
        assert!(!address.contains("types") && !address.contains("days"), "{address}");
        let keeps = |item: ItemId, kind: Kind| {
            let days = u16::try_from(item.0).unwrap();
            if kind.is_trend() { days * 10 } else { days }
        };
        part.of(Arc::new(Whole), Arc::new(keeps)).unwrap()
    }

    #[test]
    fn what_a_store_cannot_keep_it_is_not_given() {
        let of = |settings: &str| {
            let (part, _) = Part::take_from(&format!("http://h/d{settings}")).unwrap();
            part.of(Arc::new(Narrow), Arc::new(|_, _| 31))
        };
        for settings in ["", "?days=8-"] {
            let store = of(settings).unwrap();
            let takes = [Kind::Text, Kind::Log].map(|kind| store.takes(ItemId(1), kind));
            assert_eq!(takes, [true, false], "{settings}");
            assert_eq!(store.extent(Kind::Log), Extent::Some, "{settings}");
        }
        assert!(of("?types=text,float").is_ok());
        let error = of("?types=text,log").err().unwrap();
        assert!(error.fault == Fault::Config, "{error}");
        assert!(error.message.contains("narrow") && error.message.contains("type log"), "{error}");
    }

    #[test]
    fn the_rest_of_the_address_is_as_it_was() {
        for (address, rest) in [
            ("http://h/d", "http://h/d"),
            ("http://h/d?types=log", "http://h/d"),
            ("http://h/d?cluster=two&types=log&x=1", "http://h/d?cluster=two&x=1"),
            ("http://h/d?days=31-&cluster=a%26b", "http://h/d?cluster=a%26b"),
            ("http://h/d?cluster=types", "http://h/d?cluster=types"),
        ] {
            assert_eq!(Part::take_from(address).unwrap().1, rest);
        }
    }

    #[test]
    fn rows_are_taken_by_type_and_by_how_long_they_are_kept() {
        use Extent::{All, Nothing, Some};
        use Kind::{Float, FloatAvg, Log, Text, Unsigned, UnsignedAvg, UnsignedNum};
        for (settings, kind, days, takes, extent) in [
            ("", Float, 1, true, All),
            ("?types=float,log", Float, 1, true, All),
            ("?types=float,log", FloatAvg, 1, true, All),
            ("?types=float,log", Log, 1, true, All),
            ("?types=float,log", Text, 1, false, Nothing),
            ("?types=float,log", Unsigned, 1, false, Nothing),
            ("?types=float,log", UnsignedAvg, 1, false, Nothing),
            ("?types=unsigned", UnsignedNum, 1, true, All),
            ("?days=31-", Float, 30, false, Some),
            ("?days=31-", Float, 31, true, Some),
            ("?days=31-", FloatAvg, 30, true, Some),
            ("?days=-30", Text, 30, true, Some),
            ("?days=-30", Text, 31, false, Some),
            ("?days=8-90&types=text", Text, 90, true, Some),
            ("?days=8-90&types=text", Float, 90, false, Nothing),
            ("?days=-", Text, 1, true, All),
        ] {
            let store = store(settings);
            assert_eq!(store.takes(ItemId(days), kind), takes, "{settings} {kind:?} {days}");
            assert_eq!(store.extent(kind), extent, "{settings} {kind:?}");
        }
    }

    #[test]
    fn anomalies_are_reported() {
        for settings in [
            "types=",
            "types=float,",
            "types=integer",
            "types=Float",
            "days=",
            "days=30",
            "days=31-30",
            "days=a-b",
            "days=1-70000",
            "days=1-2-3",
        ] {
            let error = Part::take_from(&format!("http://u:secret@h/d?{settings}")).unwrap_err();
            assert!(error.fault == Fault::Config && !error.message.contains("secret"), "{error}");
        }
    }
}
