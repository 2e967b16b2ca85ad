//! The rules of caches that many clients share (RFC 9111), without a store: which responses may be kept, for how
//! long, for whom, and what revalidates them.
//!
//! Where the specification leaves a choice, the one that keeps less is made: freshness must be explicit, a malformed
//! directive counts as its strictest form, and a response that was made for one user is kept only if it says that it is
//! for all of them.

mod conditions;
mod directives;
mod freshness;
mod terms;
mod vary;

pub use conditions::{NOT_MODIFIED_FIELDS, Validators, is_condition, is_not_modified};
pub use directives::{RequestDirectives, ResponseDirectives};
pub use freshness::{Arrival, http_date};
pub use terms::{Asker, Stale, Terms, Use, is_safe};
pub use vary::{combined, names};

use crate::http1::Field;

/// Values of a field, in order.
fn values<'f, 'a: 'f>(
    fields: &'f [Field<'a>],
    name: &'f str,
) -> impl Iterator<Item = &'a [u8]> + 'f {
    let named = move |field: &&Field<'a>| field.name.eq_ignore_ascii_case(name.as_bytes());
    fields.iter().filter(named).map(|field| field.value)
}

/// The value of a field that must not be repeated; `None`: there is none, or there are several.
fn single<'a>(fields: &[Field<'a>], name: &str) -> Option<&'a [u8]> {
    let mut all = values(fields, name);
    let first = all.next()?;
    all.next().is_none().then_some(first)
}
