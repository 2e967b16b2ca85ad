//! What could not be done, for the rule's error text.

use super::slot::Slot;

/// Sentences in one error text; a rule over 10,000 rows may fail 10,000 times.
const SENTENCES_MAX: usize = 20;

/// What is done with all rows before the next is done with any, if there is one window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    #[default]
    Filter,
    /// With items of this level.
    Items(usize, Deed),
    Triggers(Deed),
    Graphs(Deed),
    /// Of hosts that rows give.
    HostNames,
    HostGroups,
    Hosts(Deed),
}

/// What is done with objects of a kind, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deed {
    Compare,
    RefuseNew,
    RefuseChanged,
    Create,
    Change,
}

/// Sentences, each once, by steps, prototypes and rows: the text does not depend on the windows in which
/// rows are worked off.
#[derive(Debug, Default)]
pub(super) struct Errors {
    sentences: Vec<Sentence>,
    more: usize,
    step: Step,
}

#[derive(Debug)]
struct Sentence {
    order: (Step, Slot),
    text: String,
}

impl Errors {
    /// What is added from now on comes from this step.
    pub(super) fn begin(&mut self, step: Step) {
        self.step = step;
    }

    pub(super) fn add(&mut self, text: String) {
        self.add_of(Slot::default(), text);
    }

    /// The same of a prototype in a row.
    pub(super) fn add_of(&mut self, slot: Slot, text: String) {
        self.insert(Sentence { order: (self.step, slot), text });
    }

    /// Adds those of a window or of another part of the work.
    pub(super) fn extend(&mut self, more: Self) {
        self.more += more.more;
        more.sentences.into_iter().for_each(|sentence| self.insert(sentence));
    }

    fn insert(&mut self, new: Sentence) {
        if let Some(known) = self.sentences.iter_mut().find(|known| known.text == new.text) {
            known.order = known.order.min(new.order);
        } else if self.sentences.len() < SENTENCES_MAX {
            self.sentences.push(new);
        } else {
            self.more += 1;
            let last = self.sentences.iter_mut().max_by_key(|sentence| sentence.order);
            if let Some(last) = last.filter(|last| new.order < last.order) {
                *last = new;
            }
        }
    }

    pub(super) fn into_text(mut self) -> String {
        self.sentences.sort_by_key(|sentence| sentence.order);
        let texts: Vec<String> = self.sentences.into_iter().map(|one| one.text).collect();
        let mut text = texts.join("\n");
        if self.more > 0 {
            text += &format!("\n(and {} more)", self.more);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(step: Step, of: &[(usize, usize, &str)]) -> Errors {
        let mut errors = Errors::default();
        errors.begin(step);
        for (prototype, row, text) in of {
            let slot = Slot { prototype: *prototype, row: *row };
            errors.add_of(slot, (*text).to_owned());
        }
        errors
    }

    #[test]
    fn windows_give_the_text_of_all_rows_together() {
        let compare = Step::Items(0, Deed::Compare);
        let mut all = errors(Step::Filter, &[(0, 0, "no macro")]);
        all.extend(errors(Step::Triggers(Deed::Compare), &[(0, 0, "t row 0")]));
        all.extend(errors(Step::Items(0, Deed::RefuseNew), &[(0, 0, "taken")]));
        all.extend(errors(compare, &[(0, 0, "a row 0"), (1, 0, "b row 0")]));
        all.extend(errors(compare, &[(0, 1, "a row 1"), (1, 1, "b row 0")]));
        let expected = ["no macro", "a row 0", "a row 1", "b row 0", "taken", "t row 0"];
        assert_eq!(all.into_text(), expected.join("\n"));
    }

    #[test]
    fn first_sentences_are_shown_and_others_counted() {
        let mut all = Errors::default();
        for row in (0..100).rev() {
            all.extend(errors(Step::HostNames, &[(0, row, &format!("row {row}"))]));
        }
        let mut expected: Vec<String> =
            (0..SENTENCES_MAX).map(|row| format!("row {row}")).collect();
        expected.push("(and 80 more)".to_owned());
        assert_eq!(all.into_text(), expected.join("\n"));
    }
}
