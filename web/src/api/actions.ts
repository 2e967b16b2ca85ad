import { queryOptions } from "@tanstack/react-query";
import type { ActionCondition, ActionSource } from "~/util/actions";
import type { Tag } from "~/util/tags";
import { rpc } from "./client";
import { pollInterval } from "./live";
import type { Members } from "./methods";

export interface ActionOperation {
  operationtype: string;
  opgroup?: { groupid: string }[];
  optemplate?: { templateid: string }[];
  optag?: Tag[];
  opinventory?: { inventory_mode: string };
}

export interface Action {
  actionid: string;
  name: string;
  eventsource: ActionSource;
  /** "0" = switched on. */
  status: string;
  filter: {
    evaltype: string;
    formula: string;
    eval_formula: string;
    conditions: ActionCondition[];
  };
  operations: ActionOperation[];
}

const ALL = {
  output: "extend",
  selectFilter: "extend",
  selectOperations: "extend",
} as const;

export const actionsQuery = (source: ActionSource) =>
  queryOptions({
    queryKey: ["actions", source],
    queryFn: ({ signal }) =>
      rpc("action.get", { ...ALL, filter: { eventsource: source }, sortfield: "name" }, signal),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

export const actionQuery = (actionid: string) =>
  queryOptions({
    queryKey: ["actions", "one", actionid],
    queryFn: async ({ signal }) =>
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
