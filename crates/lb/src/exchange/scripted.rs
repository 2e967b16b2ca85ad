//! Scripts that see the response.

use proxying::engine_link::analytics::Counter;
use proxying::http1::Response;

use crate::core::Core;
use crate::route::Failure;
use crate::script::Refused;
use crate::session::{Session, Step};

impl Session {
    /// Runs the scripts for a final response, from a server or the cache. Their changes are applied to its head.
    pub(crate) fn run_scripts(
        &mut self,
        response: &Response<'_>,
        core: &Core,
    ) -> Result<(), Refused> {
        let exchange = self.exchange.as_mut();
        let scripted = exchange.and_then(|exchange| exchange.plan.applied.scripted.as_mut());
        let Some(scripted) = scripted else { return Ok(()) };
        let (failures, result) = core.scripts.on_response(scripted, response, core.now_ms());
        for _ in 0..failures {
            core.count(&self.service.tally, Counter::ScriptFailures);
        }
        if result.is_err()
            && let Some(route) = &self.route
            && let Some(link) = route.ready()
        {
            // The server has done its part.
            route.answered(link.server, response.status, core);
            if let Some(draft) = &mut self.draft {
                draft.answered(response.status, core.now_us);
            }
        }
        result
    }

    /// The client gets an error instead of the response, because a script has failed.
    pub(crate) fn refuse_for_script(&mut self, core: &mut Core) -> Step {
        if let Some(draft) = &mut self.draft {
            draft.failed(Failure::Script);
        }
        self.refuse_for(Failure::Script, core)
    }
}
