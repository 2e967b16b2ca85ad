import { queryOptions } from "@tanstack/react-query";
import type { ActionCondition, ActionSource } from "~/util/actions";
import type { Tag } from "~/util/tags";
import { rpc } from "./client";
import { pollInterval } from "./live";
import type { Members } from "./methods";
import type { ActionOwn } from "./own-fields";

/** What an operation sends; `mediatypeid` "0" = by all media types. */
export interface OperationMessage {
  /** "1" = the media type's text. */
  default_msg: string;
  subject?: string;
  message?: string;
  mediatypeid?: string;
}

/** Users of an on-call schedule. `who`: see `OnCallWho` in `util/oncall.ts`. */
export interface OnCallRecipient {
  scheduleid: string;
  who: string;
}

export interface ActionOperation {
  operationtype: string;
  /** "0" = as long as the action's steps. */
  esc_period?: string;
  esc_step_from?: string;
  /** "0" = until the problem ends. */
  esc_step_to?: string;
  evaltype?: string;
  opconditions?: { conditiontype: string; operator: string; value: string }[];
  opmessage?: OperationMessage;
  opmessage_grp?: { usrgrpid: string }[];
  opmessage_usr?: { userid: string }[];
  opmessage_oncall?: OnCallRecipient[];
  opcommand?: { scriptid: string };
  opcommand_hst?: { hostid: string }[];
  opcommand_grp?: { groupid: string }[];
  opgroup?: { groupid: string }[];
  optemplate?: { templateid: string }[];
  optag?: Tag[];
  opinventory?: { inventory_mode: string };
}

export interface Action extends ActionOwn {
  actionid: string;
  name: string;
  eventsource: ActionSource;
  /** "0" = switched on. */
  status: string;
  /** How long a step lasts. */
  esc_period: string;
  pause_suppressed: string;
  pause_symptoms: string;
  notify_if_canceled: string;
  filter: {
    evaltype: string;
    formula: string;
    eval_formula: string;
    conditions: ActionCondition[];
  };
  operations: ActionOperation[];
  recovery_operations: ActionOperation[];
  update_operations: ActionOperation[];
}

const ALL = {
  output: [
    "actionid",
    "name",
    "eventsource",
    "status",
    "esc_period",
    "pause_suppressed",
    "pause_symptoms",
    "notify_if_canceled",
    "grouping",
    "inhibition",
    "calming",
  ],
  selectFilter: "extend",
  selectOperations: "extend",
  selectRecoveryOperations: "extend",
  selectUpdateOperations: "extend",
} as const;

export const actionsQuery = (source: ActionSource) =>
  queryOptions({
    queryKey: ["actions", source],
    queryFn: ({ signal }): Promise<Action[]> =>
      rpc("action.get", { ...ALL, filter: { eventsource: source }, sortfield: "name" }, signal),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

/** Actions on events of all sources. */
export const allActionsQuery = () =>
  queryOptions({
    queryKey: ["actions", "all"],
    queryFn: ({ signal }): Promise<Action[]> =>
      rpc("action.get", { ...ALL, sortfield: "name" }, signal),
    meta: { live: "config" },
  });

export const actionQuery = (actionid: string) =>
  queryOptions({
    queryKey: ["actions", "one", actionid],
    queryFn: async ({ signal }): Promise<Action | null> =>
      (await rpc("action.get", { ...ALL, actionids: actionid }, signal))[0] ?? null,
    meta: { live: "config" },
  });

/** Creates an action, or changes the one given. */
export function saveAction(actionid: string | null, members: Members<"action">): Promise<unknown> {
  if (!actionid) return rpc("action.create", members);
  return rpc("action.update", { actionid, ...members });
}

/** Switches actions on or off. */
export function enableActions(actionids: string[], on: boolean): Promise<unknown> {
  const status: "0" | "1" = on ? "0" : "1";
  return rpc(
    "action.update",
    actionids.map((actionid) => ({ actionid, status })),
  );
}

export function deleteActions(actionids: string[]): Promise<unknown> {
  return rpc("action.delete", actionids);
}
