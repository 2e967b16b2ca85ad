//! What rules and their scripts change of a request and its response.

use crate::edits::Edits;
use crate::policy::{Applied, Rule};
use crate::snapshot::Service;

impl Applied {
    fn edits<'a>(
        &'a self,
        service: &'a Service,
        of: fn(&Rule) -> &Edits,
    ) -> impl Iterator<Item = &'a Edits> {
        self.rules.iter().map(move |at| of(&service.rules[usize::from(*at)]))
    }

    /// The same for a request whose response no client gets: no script sees that.
    pub(crate) fn without_response(&self) -> Self {
        let scripted = self.scripted.as_ref().map(|scripted| Box::new(scripted.without_response()));
        Self { rules: self.rules.clone(), scripted }
    }

    /// Whether a field of the client is not for the server.
    pub(crate) fn drops(&self, service: &Service, name: &[u8]) -> bool {
        self.scripted.as_ref().is_some_and(|scripted| scripted.request.drops(name))
            || self.edits(service, |rule| &rule.request).any(|edits| edits.drops(name))
    }

    /// Fields that the server gets besides those of the client.
    pub(crate) fn fields<'a>(
        &'a self,
        service: &'a Service,
    ) -> impl Iterator<Item = &'a (String, String)> {
        let scripted = self.scripted.as_ref().map(|scripted| &scripted.request);
        let rules = self.edits(service, |rule| &rule.request);
        set(rules, scripted)
    }

    /// Whether a field of the server is not for the client.
    pub(crate) fn drops_of_response(&self, service: &Service, name: &[u8]) -> bool {
        self.scripted.as_ref().is_some_and(|scripted| scripted.response.drops(name))
            || self.edits(service, |rule| &rule.response).any(|edits| edits.drops(name))
    }

    /// Fields that the client gets besides those of the server.
    pub(crate) fn fields_of_response<'a>(
        &'a self,
        service: &'a Service,
    ) -> impl Iterator<Item = &'a (String, String)> {
        let scripted = self.scripted.as_ref().map(|scripted| &scripted.response);
        let rules = self.edits(service, |rule| &rule.response);
        set(rules, scripted)
    }

    /// Path and query for the server, if a script has written them.
    pub(crate) fn target(&self) -> Option<&[u8]> {
        self.scripted.as_ref()?.target.as_deref()
    }
}

fn set<'a>(
    rules: impl Iterator<Item = &'a Edits>,
    scripted: Option<&'a Edits>,
) -> impl Iterator<Item = &'a (String, String)> {
    let replaced = move |name: &str| scripted.is_some_and(|edits| edits.drops(name.as_bytes()));
    let of_rules = rules.flat_map(|edits| &edits.set).filter(move |(name, _)| !replaced(name));
    of_rules.chain(scripted.into_iter().flat_map(|edits| &edits.set))
}
