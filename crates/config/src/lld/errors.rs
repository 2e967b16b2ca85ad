//! What could not be done, for the rule's error text.

use std::collections::BTreeSet;

/// Sentences in one error text; a rule over 10,000 rows may fail 10,000 times.
const SENTENCES_MAX: usize = 20;

/// Sentences, each once.
#[derive(Debug, Default)]
pub(super) struct Errors {
    sentences: Vec<String>,
    seen: BTreeSet<String>,
    more: usize,
}

impl Errors {
    pub(super) fn add(&mut self, sentence: String) {
        if self.sentences.len() == SENTENCES_MAX {
            self.more += 1;
        } else if self.seen.insert(sentence.clone()) {
            self.sentences.push(sentence);
        }
    }

    pub(super) fn into_text(self) -> String {
        let mut text = self.sentences.join("\n");
        if self.more > 0 {
            text += &format!("\n(and {} more)", self.more);
        }
        text
    }
}
