//! What the API asks of the running parts.

use std::sync::Arc;
use std::time::Duration;

use actions::{Explainer, Prepared};
use api::{Execution, ItemState, Probe, Rehearse, ScriptRun};
use balancing::Order;
use balancing::placement::{Assignment, State};
use config::db::Reader;
use config::lld::worker::Outcomes;
use config::snapshot::ItemType;
use control::analytics::Board;
use events::Problems;
use internals::Capacity;
use listen::{Intake, PushError};
use model::alert::learnt::Learnt;
use model::alert::outlook::Outlook;
use model::alert::rehearsal::{Rehearsed, Span};
use model::alert::{Outgoing, Trial};
use model::{Available, HostId, InterfaceId, InterfaceState, ItemId, Payload, ProblemUpdate, Push};
use pipeline::ShardSet;
use stdx::clock::SharedClock;
use tokio::runtime::Handle;
use wire::history_service::{Failure, Reason};

use super::alerting::Alerting;
use super::base::Bells;

/// The running parts, for the API's blocking threads.
pub(crate) struct Live {
    pub(crate) shards: Arc<ShardSet>,
    pub(crate) pollers: poll::Status,
    pub(crate) intake: Intake,
    pub(crate) problems: Problems,
    pub(crate) runtime: Handle,
    pub(crate) discoveries: Arc<Outcomes>,
    pub(crate) clock: SharedClock,
    /// To those who follow problems.
    pub(crate) bells: Bells,
    pub(crate) alerting: Alerting,
    pub(crate) capacity: Capacity,
    /// What engines of the load balancer report; `None`: the server does not listen for them.
    pub(crate) board: Option<Arc<Board>>,
    /// Damage of the embedded history.
    pub(crate) damages: history::damage::Damages,
}

impl api::Live for Live {
    fn item_states(&self, items: &[ItemId]) -> Vec<ItemState> {
        let mut reports = match self.shards.items(items) {
            Ok(reports) => reports.into_iter().peekable(),
            Err(error) => {
                tracing::warn!(%error, "cannot read the newest values");
                return vec![ItemState::default(); items.len()];
            }
        };
        // Reports come in the order asked, unknown items left out.
        items
            .iter()
            .map(|item| match reports.next_if(|report| report.item == *item) {
                Some(report) => {
                    let [last, previous] = report.last;
                    ItemState { last, previous, error: report.error, ..ItemState::default() }
                }
                None => ItemState::default(),
            })
            .zip(items)
            .map(|(mut state, item)| {
                match self.discoveries.error(*item) {
                    Some((true, text)) => state.warning = text,
                    Some((false, text)) if state.error.is_empty() => state.error = text,
                    _ => {}
                }
                state
            })
            .collect()
    }

    fn interfaces(&self, interfaces: &[InterfaceId]) -> Vec<InterfaceState> {
        let availability = &self.pollers.context().availability;
        interfaces.iter().map(|id| availability.interface(*id)).collect()
    }

    fn active_checks(&self, hosts: &[HostId]) -> Vec<Available> {
        hosts.iter().map(|host| self.pollers.context().active_available(*host)).collect()
    }

    fn push(&self, push: Push) -> Vec<Result<(), Failure>> {
        // The API has checked the user's rights on the items.
        let pushed = self.runtime.block_on(self.intake.push(push, &|_, _| true));
        pushed.into_iter().map(|result| result.map(drop).map_err(refused)).collect()
    }

    fn sync(&self) -> Result<(), String> {
        self.shards.flush().map_err(|error| error.to_string())
    }

    fn update_problems(&self, update: &ProblemUpdate) -> Result<(), String> {
        self.problems.update(update).map_err(|error| error.to_string())
    }

    fn fetch(&self, probe: Probe) -> Result<String, String> {
        let Probe { item, host, interface } = probe;
        match item.kind {
            ItemType::Calculated => {
                self.shards.calculate(item).map_err(|error| error.to_string()).and_then(text_of)
            }
            _ => {
                let check = self.pollers.check_once(&host, interface.as_ref(), &item);
                self.runtime.block_on(check).into_text()
            }
        }
    }

    fn queue(&self, kind: &str, limit: Option<u64>) -> Result<api::Json, String> {
        let most = limit.and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let report = self.runtime.block_on(self.pollers.queue(most));
        internals::queue_rows(&report, kind, limit, self.clock.unix_s()).map(|(rows, _)| rows)
    }

    fn capacity(&self) -> api::Json {
        self.capacity.report()
    }

    fn pool_health(&self, pool: u64) -> Option<api::Json> {
        self.board.as_ref()?.health(pool)
    }

    fn engine_state(&self, engine: u64, hold_s: u32) -> State {
        let hold = Duration::from_secs(hold_s.into());
        self.board.as_ref().map_or(State::Down, |board| board.state(engine, hold))
    }

    fn outlook(&self, event: u64) -> Result<Option<Outlook>, String> {
        self.alerting.explainer.outlook(event).map_err(|error| error.to_string())
    }

    fn learnt(&self, triggers: &[u64]) -> Result<Vec<Learnt>, String> {
        self.alerting.explainer.learnt(triggers).map_err(|error| error.to_string())
    }

    fn prepare(
        &self,
        connection: &mut dyn Reader,
        action: u64,
    ) -> Result<Option<Box<dyn Rehearse>>, String> {
        let prepared = self.alerting.explainer.prepare(connection, action);
        let explainer = Arc::clone(&self.alerting.explainer);
        let rehearsal = |action| Box::new(Rehearsal { explainer, action }) as Box<dyn Rehearse>;
        prepared.map(|action| action.map(rehearsal)).map_err(|error| error.to_string())
    }

    fn purge(&self, engines: &[u64], order: &Order) -> Vec<(u64, Result<u64, String>)> {
        let reason = "the server runs without --engines";
        match &self.board {
            Some(board) => board.purge(engines, order),
            None => engines.iter().map(|engine| (*engine, Err(reason.to_owned()))).collect(),
        }
    }

    fn assignment(&self, group: u64) -> Option<Assignment> {
        self.board.as_ref()?.assignment(group)
    }

    fn end_suppressions(&self, maintenances: &[u64]) -> Result<(), String> {
        let ended = events::end_suppressions(&self.alerting.scripts.config, maintenances);
        self.bells.suppression_changed(&ended.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn run_script(&self, execution: &Execution) -> ScriptRun {
        self.alerting.scripts.run(execution)
    }

    fn script_texts(
        &self,
        execution: &Execution,
        templates: &[String],
    ) -> Result<Vec<String>, String> {
        self.alerting.scripts.shown(execution, templates)
    }

    fn test_media(&self, message: &Outgoing) -> Result<Trial, String> {
        let types = self.alerting.scripts.config.read(|connection| media::media_types(connection));
        let mut types = types.map_err(|error| error.to_string())?.into_iter();
        let wanted = types.find(|one| one.id == message.media_type);
        self.alerting.media.test(&wanted.ok_or("The media type was deleted.")?, message)
    }

    fn check_now(&self, items: &[ItemId]) {
        let polled = self.runtime.block_on(self.pollers.check_now(items));
        tracing::debug!(items = items.len(), polled, "check now");
        if let Err(error) = self.shards.check_now(items) {
            tracing::warn!(%error, "cannot start calculated items");
        }
    }

    fn history_gaps(&self, items: &[ItemId], span: history::Span) -> Vec<history::damage::Gap> {
        let (snapshot, shards) =
            (self.alerting.scripts.config.snapshot(), self.shards.shards().len());
        let owner = |item: ItemId| Some(model::shard_of(snapshot.items.get(&item)?.host, shards));
        self.damages.gaps(items, span, owner)
    }

    fn clear_history(&self, items: &[ItemId]) -> Result<(), String> {
        self.shards.clear(items).map_err(|error| error.to_string())
    }
}

/// The value of a calculated item.
fn text_of(value: Payload) -> Result<String, String> {
    match value {
        Payload::Unsigned(value) => Ok(value.to_string()),
        Payload::Float(value) => Ok(format!("{value:.6}")),
        Payload::Text(text) => Ok(text.into()),
        Payload::Log(log) => Ok(log.0.into()),
        Payload::NotSupported(error) => Err(error.into()),
        Payload::Meta => Err("The formula gave no value.".to_owned()),
    }
}

/// Why collection did not take a value, as the history service says it.
fn refused(error: PushError) -> Failure {
    let reason = match error {
        PushError::NoSuchItem => Reason::NoItem,
        PushError::Disabled | PushError::HostNotMonitored | PushError::InMaintenance => {
            Reason::Disabled
        }
        PushError::WrongType | PushError::TrappingOff => Reason::WrongType,
        PushError::NotAllowedHere => Reason::NotAllowedHere,
        PushError::Duplicate => Reason::Invalid,
        PushError::NotStored => Reason::NotKept,
    };
    reason.with(error.to_string())
}

struct Rehearsal {
    explainer: Arc<Explainer>,
    action: Prepared,
}

impl Rehearse for Rehearsal {
    fn run(
        &self,
        span: Span,
        reader: u64,
        is_gone: &dyn Fn() -> bool,
    ) -> Result<Option<Rehearsed>, String> {
        let run = self.explainer.rehearse(&self.action, span, reader, is_gone);
        run.map_err(|error| error.to_string())
    }
}
