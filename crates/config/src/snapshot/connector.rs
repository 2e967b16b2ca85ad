//! Connectors that are switched on: which values and events they stream, and where to.

use std::sync::Arc;
use std::time::Duration;

use model::ValueType;
use objects::EvalType;

/// All connectors that are switched on.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Connectors {
    /// By id.
    pub list: Vec<Arc<Connector>>,
    /// Value types that any of them streams.
    pub types: ValueTypes,
}

/// A connector, macros resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connector {
    pub id: u64,
    pub name: String,
    /// What it streams.
    pub data: ConnectorData,
    /// Tags of what it streams.
    pub tags: TagFilter,
    /// Where to.
    pub receiver: Receiver,
    /// Values or events of one message; `None` = no limit.
    pub records_max: Option<usize>,
    /// Messages at once, at least 1.
    pub senders: usize,
    /// Attempts to send a message, at least 1.
    pub attempts: usize,
    /// Time between attempts.
    pub attempt_interval: Duration,
}

/// What a connector streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectorData {
    /// Values of items of these types.
    Values(ValueTypes),
    /// Events of triggers.
    Events,
}

/// A set of value types: the bits of the API's `item_value_type`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ValueTypes(u8);

impl ValueTypes {
    pub const ALL: Self = Self(0x3f);

    /// From the API's number; unknown bits do not count.
    pub fn from_bits(bits: i64) -> Self {
        Self(u8::try_from(bits & i64::from(Self::ALL.0)).unwrap_or(0))
    }

    pub fn contains(self, one: ValueType) -> bool {
        self.0 & (1 << one.number()) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Where a connector sends messages, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receiver {
    pub url: String,
    /// Limit of one message.
    pub timeout: Duration,
    pub auth: ConnectorAuth,
    /// `[http://][user[:password]@]host[:port]`; empty = none.
    pub proxy: String,
    /// Check who signed the receiver's certificate.
    pub verify_peer: bool,
    /// Check that the certificate names the receiver.
    pub verify_host: bool,
    /// File of the client certificate; empty = none.
    pub cert_file: String,
    /// File of its key; empty = the certificate's.
    pub key_file: String,
    pub key_password: String,
}

/// How a connector proves its identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectorAuth {
    /// By a method of HTTP.
    Http {
        /// The API's number of HTTP agent items.
        number: u8,
        user: String,
        password: String,
    },
    /// By a token.
    Bearer(String),
}

/// Conditions on tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagFilter {
    /// And/or: conditions on one tag are alternatives, different tags must all be met. Otherwise any
    /// condition has to be met.
    pub eval: EvalType,
    /// Sorted by tag; none = everything passes.
    pub conditions: Vec<TagCondition>,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagCondition {
    pub tag: String,
    pub test: TagTest,
    /// It has to fail.
    pub negated: bool,
}

/// What a tag of that name has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagTest {
    Exists,
    Equals(String),
    /// The text is in the value.
    Contains(String),
}

impl TagCondition {
    /// From the API's operator; `None` = there is no such operator.
    pub fn from_api(tag: &str, operator: i64, value: &str) -> Option<Self> {
        let test = match operator {
            0 | 1 => TagTest::Equals(value.to_owned()),
            2 | 3 => TagTest::Contains(value.to_owned()),
            12 | 13 => TagTest::Exists,
            _ => return None,
        };
        Some(Self { tag: tag.to_owned(), test, negated: operator % 2 == 1 })
    }

    fn is_met<T: AsRef<str>>(&self, tags: &[(T, T)]) -> bool {
        let passes = |value: &str| match &self.test {
            TagTest::Exists => true,
            TagTest::Equals(wanted) => value == wanted,
            TagTest::Contains(part) => value.contains(&**part),
        };
        let found =
            tags.iter().any(|(tag, value)| tag.as_ref() == self.tag && passes(value.as_ref()));
        found != self.negated
    }
}

impl TagFilter {
    /// Whether something with these tags passes.
    pub fn passes<T: AsRef<str>>(&self, tags: &[(T, T)]) -> bool {
        if self.conditions.is_empty() {
            return true;
        }
        let is_met = |condition: &TagCondition| condition.is_met(tags);
        match self.eval {
            EvalType::Or => self.conditions.iter().any(is_met),
            _ => self.conditions.chunk_by(|a, b| a.tag == b.tag).all(|one| one.iter().any(is_met)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGS: [(&str, &str); 3] = [("env", "Prod"), ("app", "shop"), ("app", "mail")];

    fn passes(eval: EvalType, conditions: &[(&str, i64, &str)]) -> bool {
        let condition = |&(tag, operator, value): &(&str, i64, &str)| {
            TagCondition::from_api(tag, operator, value)
        };
        let mut conditions: Vec<_> = conditions.iter().map(|one| condition(one).unwrap()).collect();
        conditions.sort_by(|a, b| a.tag.cmp(&b.tag));
        TagFilter { eval, conditions }.passes(&TAGS)
    }

    #[test]
    fn operators_compare_tags() {
        for (tag, operator, value, expected) in [
            ("env", 0, "Prod", true),
            ("env", 0, "prod", false),
            ("Env", 0, "Prod", false),
            ("app", 0, "mail", true),
            ("env", 1, "Prod", false),
            ("app", 1, "mail", false),
            ("none", 1, "x", true),
            ("env", 2, "ro", true),
            ("env", 2, "RO", false),
            ("env", 2, "", true),
            ("none", 2, "", false),
            ("env", 3, "ro", false),
            ("env", 3, "x", true),
            ("env", 12, "", true),
            ("none", 12, "", false),
            ("env", 13, "", false),
            ("none", 13, "", true),
        ] {
            let found = passes(EvalType::AndOr, &[(tag, operator, value)]);
            assert_eq!(found, expected, "{tag} {operator} {value}");
        }
        assert_eq!(TagCondition::from_api("env", 4, ""), None);
    }

    #[test]
    fn conditions_on_one_tag_are_alternatives() {
        let same_tag = [("app", 0, "shop"), ("app", 0, "other")];
        let two_tags = [("app", 0, "shop"), ("env", 0, "Test")];
        assert!(passes(EvalType::AndOr, &[]) && passes(EvalType::Or, &[]));
        assert!(passes(EvalType::AndOr, &same_tag) && passes(EvalType::Or, &same_tag));
        assert!(!passes(EvalType::AndOr, &two_tags) && passes(EvalType::Or, &two_tags));
        assert!(!passes(EvalType::Or, &[("app", 13, ""), ("env", 0, "Test")]));
    }

    #[test]
    fn value_types_are_the_bits_of_the_api() {
        let types = ValueTypes::from_bits(1 + 4 + 32 + 64);
        let of = |one| types.contains(one);
        assert!(of(ValueType::Float) && of(ValueType::Log) && of(ValueType::Binary));
        assert!(!of(ValueType::Char) && !of(ValueType::Unsigned) && !of(ValueType::Text));
        assert!(ValueTypes::default().is_empty() && !types.is_empty());
        assert_eq!(types.union(ValueTypes::from_bits(2 + 8 + 16)), ValueTypes::ALL);
    }
}
