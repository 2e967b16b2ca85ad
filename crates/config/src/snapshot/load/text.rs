//! Texts: shared when equal, user macros and host macros resolved.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use eval::interval::UpdateInterval;
use eval::macros::{FunctionEnv, MacroScope, TokenKind, substitute};
use eval::preproc::Step;
use model::HostId;

use crate::snapshot::{Host, Interface, Snapshot};

/// A preprocessing step: type, parameters, error handler, its parameters.
pub(super) type StepRow = (u8, String, u8, String);

/// Equal texts, intervals and lists of steps are kept once: 10,000 hosts with one template share
/// the keys, intervals and steps of its items.
#[derive(Default)]
pub(super) struct Texts {
    texts: HashMap<Arc<str>, Arc<str>>,
    intervals: HashMap<String, Result<Arc<UpdateInterval>, String>>,
    steps: HashMap<String, Result<Arc<[Step]>, String>>,
}

impl Texts {
    /// The one copy of this text.
    pub(super) fn share(&mut self, text: &str) -> Arc<str> {
        if let Some(shared) = self.texts.get(text) {
            return Arc::clone(shared);
        }
        let shared: Arc<str> = Arc::from(text);
        self.texts.insert(Arc::clone(&shared), Arc::clone(&shared));
        shared
    }

    /// The one copy of this interval, or why it is none.
    pub(super) fn interval(&mut self, text: &str) -> Result<Arc<UpdateInterval>, String> {
        if let Some(shared) = self.intervals.get(text) {
            return shared.clone();
        }
        let parsed = UpdateInterval::parse(text).map(Arc::new).map_err(|error| error.to_string());
        self.intervals.insert(text.to_owned(), parsed.clone());
        parsed
    }

    /// The one copy of these steps.
    pub(super) fn steps(&mut self, steps: &[StepRow]) -> Result<Arc<[Step]>, String> {
        let key = format!("{steps:?}");
        if let Some(shared) = self.steps.get(&key) {
            return shared.clone();
        }
        let parsed: Result<Vec<Step>, String> = steps
            .iter()
            .enumerate()
            .map(|(n, (kind, params, handler, handler_params))| {
                Step::from_api(*kind, params, *handler, handler_params)
                    .map_err(|error| format!("Preprocessing step {}: {error}", n + 1))
            })
            .collect();
        let parsed = parsed.map(Arc::from);
        self.steps.insert(key, parsed.clone());
        parsed
    }
}

/// Resolves macros in the eyes of one host.
pub(super) struct Resolver<'a> {
    scope: MacroScope<'a>,
    host: Option<&'a Host>,
    interface: Option<&'a Interface>,
}

impl<'a> Resolver<'a> {
    /// For texts of `hosts[0]`; several hosts for a trigger over several.
    pub(super) fn new(snapshot: &'a Snapshot, hosts: &'a [HostId]) -> Self {
        let host = hosts.first().and_then(|id| snapshot.hosts.get(id)).map(|host| &**host);
        Self { scope: MacroScope { nodes: &*snapshot.macros, hosts }, host, interface: None }
    }

    /// For texts of `host`, whose id is all that `hosts` holds.
    pub(super) fn of(snapshot: &'a Snapshot, host: &'a Host, hosts: &'a [HostId]) -> Self {
        let scope = MacroScope { nodes: &*snapshot.macros, hosts };
        Self { scope, host: Some(host), interface: None }
    }

    /// `{HOST.CONN}` and its kin mean this interface.
    pub(super) fn with_interface(self, interface: Option<&'a Interface>) -> Self {
        Self { interface, ..self }
    }

    /// User macros resolved; unknown ones stay.
    pub(super) fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.replace(text, false)
    }

    /// User macros and host macros resolved in the parameters of an item key.
    pub(super) fn key<'t>(&self, key: &'t str) -> Cow<'t, str> {
        if !key.contains('{') {
            return Cow::Borrowed(key);
        }
        let changed =
            eval::key::map_params(key, &mut |param| self.replace(param, true).into_owned());
        changed.map_or_else(|_| self.replace(key, true), Cow::Owned)
    }

    fn replace<'t>(&self, text: &'t str, host_macros: bool) -> Cow<'t, str> {
        if !text.contains('{') {
            return Cow::Borrowed(text);
        }
        let tz = jiff::tz::TimeZone::UTC;
        substitute(text, &FunctionEnv { tz: &tz }, &mut |token| match &token.kind {
            TokenKind::User(wanted) => self.scope.resolve(wanted).map(|def| def.value.clone()),
            _ if host_macros => self.host_macro(&text[token.span.clone()]),
            _ => None,
        })
        .into()
    }

    fn host_macro(&self, name: &str) -> Option<String> {
        let host = self.host?;
        let interface =
            || self.interface.or_else(|| host.interfaces.iter().find(|interface| interface.main));
        Some(match name {
            "{HOST.HOST}" | "{HOSTNAME}" => host.host.to_string(),
            "{HOST.NAME}" => host.name.to_string(),
            "{HOST.IP}" | "{IPADDRESS}" => interface()?.ip.to_string(),
            "{HOST.DNS}" => interface()?.dns.to_string(),
            "{HOST.PORT}" => interface()?.port.to_string(),
            "{HOST.CONN}" => {
                let interface = interface()?;
                let shown = if interface.use_ip { &interface.ip } else { &interface.dns };
                shown.to_string()
            }
            _ => return None,
        })
    }
}

/// Days of a storage period: `31d`, `1w`, `3600`; part days count as whole ones. 0 = keep nothing.
pub(super) fn days(text: &str) -> Option<u16> {
    let seconds = eval::num::parse_seconds(text)?;
    let days = u64::from(seconds).div_ceil(86_400);
    u16::try_from(days).ok()
}

#[cfg(test)]
mod tests {
    use super::days;

    #[test]
    fn storage_periods() {
        for (text, expected) in
            [("0", Some(0)), ("31d", Some(31)), ("1w", Some(7)), ("3600", Some(1)), ("x", None)]
        {
            assert_eq!(days(text), expected, "{text}");
        }
    }
}
