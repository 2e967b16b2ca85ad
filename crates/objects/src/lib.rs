//! Catalogs of what configured objects can be. A catalog is the only place that knows the numbers of the
//! API, the words of exports, labels for people, and what follows from a kind.

mod action;
mod alerting;
mod correlation;
mod dashboard;
mod event;
mod filter;
mod host;
mod interface;
mod item_type;
mod maintenance;
mod map;
mod numbered;
mod origin;
mod service;
mod severity;
pub mod sql;
mod step;
mod trigger;
mod user;
mod value_map;
mod value_type;

pub use action::{ConditionKind, ConditionOperator, OperationKind};
pub use alerting::{
    AlertStatus, AlertType, EmailProvider, EscalationStatus, ExecuteOn, MediaTypeKind,
    MessageFormat, OperationMode, ScriptScope, ScriptType, SmtpAuthentication, SmtpSecurity,
    Withholding,
};
pub use correlation::{CorrelationConditionKind, CorrelationOperation};
pub use dashboard::WidgetFieldType;
pub use event::{DiscoveryCheckType, DiscoveryState, EventObject, EventSource, ProblemAction};
pub use filter::{EvalType, MacroOperator};
pub use host::{GroupKind, HostKind, InventoryMode, MacroType, MonitoredBy};
pub use interface::InterfaceType;
pub use item_type::{InterfaceNeed, ItemType, ItemTypeInfo};
pub use maintenance::{MaintenanceTagOperator, MaintenanceType, PeriodType};
pub use map::{MapElementType, MapLabelType};
pub use origin::{Discover, Origin, State, Status};
pub use service::{
    PropagationRule, ServiceAlgorithm, ServiceTagOperator, SlaPeriod, StatusRuleKind,
};
pub use severity::Severity;
pub use step::{Choice, OnFail, Param, ParamRule, Params, StepKind};
pub use trigger::{CorrelationMode, ProblemMode, RecoveryMode};
pub use user::{MfaType, UserType};
pub use value_map::MappingType;
pub use value_type::ValueType;
