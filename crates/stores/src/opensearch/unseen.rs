//! What was written, and is found by searches only after a refresh.
//!
//! A refresh of an index that is written to costs more than a search, so it is asked for the indices of
//! the time that is looked for, and for each batch of rows once. What others write is found a second
//! later, when OpenSearch refreshes by itself.

use std::collections::BTreeSet;

use super::client::Client;
use super::indices::{self, Index};
use history::{Error, Span};

/// Indices of one request, whose names are in its address: that may have 4 KiB.
const INDICES_MAX: usize = 30;

/// Indices with rows of ours that searches may not find.
pub(crate) struct Unseen(BTreeSet<Index>);

impl Unseen {
    /// All existing documents count as seen, including those of other programs.
    pub(crate) fn none(client: &Client) -> Result<Self, Error> {
        for trends in [false, true] {
            client.refresh(&indices::pattern(&client.prefix, trends))?;
        }
        Ok(Self(BTreeSet::new()))
    }

    /// The cluster has confirmed rows in these.
    pub(crate) fn written(&mut self, indices: BTreeSet<Index>) {
        self.0.extend(indices);
    }

    /// Makes searches find what is in the indices of a span.
    pub(crate) fn see(&mut self, client: &Client, trends: bool, span: Span) -> Result<(), Error> {
        let wanted = |index: &&Index| index.trends == trends && index.overlaps(span);
        let due: Vec<Index> = self.0.iter().filter(wanted).copied().collect();
        for some in due.chunks(INDICES_MAX) {
            let names: Vec<String> = some.iter().map(|index| index.name(&client.prefix)).collect();
            client.refresh(&names.join(","))?;
        }
        due.iter().for_each(|index| {
            self.0.remove(index);
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::{DAY_S, ItemId, Sample, SampleValue, Timestamp};

    use super::super::OpenSearch;
    use crate::script::Script;
    use history::{Class, Kind, Span, Store};

    const KNOWN: &str = r#"{"index_templates":[{"index_template":{"version":1}}]}"#;
    const TAKEN: &str = r#"{"errors":false}"#;
    const NOTHING: &str = r#"{"hits":{"hits":[]}}"#;
    /// Of a refresh. It is no answer to a search.
    const SEEN: &str = "{}";

    #[test]
    fn written_entries_are_refreshed_once() {
        let answers = [
            // Begin, and two batches of the same day.
            &[KNOWN, SEEN, SEEN, TAKEN, TAKEN][..],
            // Another day; that day, twice; all days.
            &[NOTHING, SEEN, NOTHING, NOTHING, NOTHING],
            &[TAKEN, SEEN, NOTHING],
        ];
        let make = || OpenSearch::new("http://h", Arc::new(Class(31)));
        let store = Script::bodies(&answers.concat(), make).unwrap();
        let mut driver = store.driver();
        let at = Timestamp::from_s(20 * DAY_S);
        let sample = Sample { item: ItemId(7), at, value: SampleValue::Unsigned(1) };
        let days = |from: u32, till: u32| {
            let view = store.driver().view(&[ItemId(7)], Span::new(from * DAY_S, till * DAY_S - 1));
            view.samples(ItemId(7), Kind::Unsigned.into()).unwrap()
        };
        driver.write(std::slice::from_ref(&sample)).unwrap();
        driver.write(std::slice::from_ref(&sample)).unwrap();
        assert_eq!([days(21, 22), days(20, 21), days(20, 21), days(1, 40)], [[], [], [], []]);
        driver.write(&[sample]).unwrap();
        assert_eq!(days(1, 40), []);
        assert!(driver.classes().is_err(), "all answers were asked for");
    }
}
