//! Macros in names and expressions, as the API shows them.

use config::Snapshot;
use eval::macros::{FunctionEnv, MacroScope, Token, TokenKind, substitute};
use model::HostId;

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
    let tz = snapshot.settings.time_zone();
    substitute(text, &FunctionEnv { tz: &tz }, &mut |token| match &token.kind {
        TokenKind::User(wanted) => scope.resolve(wanted).map(|found| found.masked().to_owned()),
        _ => other(token),
    })
}
