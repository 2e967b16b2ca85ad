//! Conditions on tags: those of problems, items and services.

use objects::ConditionKind as Kind;

use super::Condition;

/// Name and value.
pub(crate) type Tag = (String, String);

/// The condition is on tags and met; a negative one, if no tag is as it says.
pub(super) fn meets(condition: &Condition, tags: &[Tag]) -> bool {
    match condition.kind {
        Kind::Tag => condition.compare_all(tags.iter().map(|(name, _)| name.as_str())),
        Kind::TagValue => {
            let named = tags.iter().filter(|(name, _)| *name == condition.value2);
            condition.compare_all(named.map(|(_, value)| value.as_str()))
        }
        _ => false,
    }
}
