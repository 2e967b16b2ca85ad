//! Where limits, authentication and rules let a request go.

use std::sync::Arc;

use proxying::engine_link::analytics::Counter;
use proxying::http1::Request;

use crate::auth::Halt;
use crate::client::Known;
use crate::core::Core;
use crate::identity::Identity;
use crate::local::Local;
use crate::own;
use crate::policy::{self, Decision, Forward, Means};
use crate::script::{Caller, Facts, Outcome, Script, Scripted};
use crate::session::Session;

impl Session {
    /// Where limits, authentication and rules let a request go, or the response that it gets here.
    pub(super) fn decide(&mut self, request: &Request<'_>, core: &Core) -> Result<Forward, Halt> {
        if let Some(body) = self.service.challenges.http(request.target.path_and_query) {
            let content_type = Some("application/octet-stream".to_owned());
            let local = Local { status: 200, content_type, body, ..Local::default() };
            return Err(Halt::Respond(local));
        }
        let decided = self.by_policies(request, core);
        if let Err(Halt::Respond(local)) = &decided
            && local.is_refusal()
        {
            core.count(&self.service.tally, Counter::Rejected);
        }
        decided
    }

    fn by_policies(&mut self, request: &Request<'_>, core: &Core) -> Result<Forward, Halt> {
        // A request whose password was checked is counted.
        if self.awaits.is_none()
            && let Some(local) = self.beyond_rate(request, core.now_us)
        {
            return Err(Halt::Respond(local));
        }
        let service = &self.service;
        let identity = match &service.policies {
            Some(policies) => {
                policies.authenticate(request, &service.rules, &core.checks, core.now())?
            }
            None => Identity::default(),
        };
        if let Some(draft) = &mut self.draft {
            draft.authenticated(&identity.user);
        }
        let certified = self.client_name.as_deref();
        let seen = own::seen(request, service, &identity, certified);
        match self.by_rules(&seen, core) {
            Decision::Forward(forward) => Ok(Forward { identity, ..forward }),
            Decision::Respond(local) => Err(Halt::Respond(local)),
            Decision::Fail => Err(Halt::Fail),
        }
    }

    /// What is known of the client by its request.
    pub(crate) fn known<'k>(&self, request: &'k Request<'k>) -> Known<'k> {
        Known { address: self.source.ip(), request: Some(request) }
    }

    fn by_rules(&self, request: &Request<'_>, core: &Core) -> Decision {
        let client = self.known(request);
        let choose = |target| client.pool_of(target, core.now_ms());
        let run = |script: &Arc<Script>, scripted: &mut Option<Box<Scripted>>| {
            let facts = || Facts::of(request, self.caller());
            let (choice, outcome) = core.scripts.on_request(script, scripted, facts, core.now_ms());
            if outcome != Outcome::Done {
                core.count(&self.service.tally, Counter::ScriptFailures);
            }
            (choice, outcome)
        };
        let means = Means { choose: &choose, run: &run };
        policy::decide(&self.service.rules, &self.service.target, request, &means)
    }

    /// What scripts learn of the client's connection.
    fn caller(&self) -> Caller {
        Caller {
            address: self.source.ip(),
            port: self.destination.port(),
            tls: self.client.tls_version(),
            sni: self.sni.clone(),
            certified: self.client_name.clone(),
            service: self.service.name.as_str().into(),
        }
    }

    /// Counts a request; a response if it comes too soon.
    fn beyond_rate(&self, request: &Request<'_>, now_us: u64) -> Option<Local> {
        let limit = self.service.rate_limit.as_ref()?;
        let refusal = limit.refusal(&self.service.name, self.source.ip(), request, now_us)?;
        let retry_after = Some(refusal.retry_after_s);
        Some(Local { retry_after, ..Local::text(refusal.status) })
    }
}
