//! Macros in names and expressions, as the API shows them.

use config::Snapshot;
use eval::macros::{FunctionEnv, MacroKind, MacroScope, Token, TokenKind, substitute};
use jiff::tz::TimeZone;
use model::HostId;

/// What stands for the value of a secret macro.
const SECRET: &str = "******";

/// The text with user macros replaced, as seen from these hosts, and with what `other` replaces.
/// Macros that nobody defines stay.
pub(crate) fn macros(
    snapshot: &Snapshot,
    hosts: &[u64],
    text: &str,
    other: &mut dyn FnMut(&Token<'_>) -> Option<String>,
) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let hosts: Vec<HostId> = hosts.iter().map(|id| HostId(*id)).collect();
    let scope = MacroScope { nodes: &*snapshot.macros, hosts: &hosts };
    let tz = TimeZone::UTC;
    substitute(text, &FunctionEnv { tz: &tz }, &mut |token| match &token.kind {
        TokenKind::User(wanted) => scope.resolve(wanted).map(|found| match found.kind {
            MacroKind::Text => found.value.clone(),
            MacroKind::Secret | MacroKind::Vault => SECRET.to_owned(),
        }),
        _ => other(token),
    })
}
