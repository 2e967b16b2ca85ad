import type { Tag } from "~/util/tags";
import type { CorrelationFilter, CorrelationRow } from "./correlations";
import type { ByTags, Get, HostRow, Ids, Many, One } from "./gets";
import type * as schema from "./schema";
import type { ScriptRow } from "./scripts";
import type { ProblemEvent, ServiceRow, StatusRule, TagCondition } from "./services";
import type { ExcludedDowntime, SlaRow } from "./slas";

/** What each `get` of scripts, services and correlations reads. */
export interface ServiceGets {
  "correlation.get": Get<
    CorrelationRow,
    {
      selectFilter: One<"filter", CorrelationFilter>;
      selectOperations: Many<"operations", { type: string }>;
    },
    { correlationids?: Ids }
  >;
  "script.get": Get<
    ScriptRow,
    {
      selectHosts: Many<"hosts", HostRow>;
      selectHostGroups: Many<"hostgroups", schema.HostGroup>;
      selectActions: Many<"actions", schema.Action>;
    },
    { scriptids?: Ids; hostids?: Ids; groupids?: Ids; usrgrpids?: Ids }
  >;
  "service.get": Get<
    ServiceRow,
    {
      selectParents: Many<"parents", ServiceRow>;
      selectChildren: Many<"children", ServiceRow>;
      selectTags: Many<"tags", Tag>;
      selectProblemTags: Many<"problem_tags", TagCondition>;
      selectProblemEvents: Many<"problem_events", ProblemEvent>;
      selectStatusRules: Many<"status_rules", StatusRule>;
    },
    ByTags & { serviceids?: Ids; parentids?: Ids; childids?: Ids; slaids?: Ids }
  >;
  "sla.get": Get<
    SlaRow,
    {
      selectServiceTags: Many<"service_tags", TagCondition>;
      selectSchedule: Many<"schedule", { period_from: string; period_to: string }>;
      selectExcludedDowntimes: Many<"excluded_downtimes", ExcludedDowntime>;
    },
    { slaids?: Ids; serviceids?: Ids }
  >;
}
