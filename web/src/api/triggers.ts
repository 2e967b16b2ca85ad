import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import { ownedBy } from "./owners";

export interface TriggerRow {
  triggerid: string;
  description: string;
  expression: string;
  recovery_expression: string;
  recovery_mode: string;
  priority: string;
  status: string;
  value: string;
  manual_close: string;
  comments: string;
  templateid: string;
}

const ROW = {
  output: [
    "triggerid",
    "description",
    "expression",
    "recovery_expression",
    "recovery_mode",
    "priority",
    "status",
    "value",
    "manual_close",
    "comments",
    "templateid",
  ],
  expandExpression: true,
  sortfield: "description",
} as const;

/** Triggers of a host or template, expressions written out. */
export const triggersQuery = (hostid: string, template = false) =>
  queryOptions({
    queryKey: ["triggers", hostid],
    queryFn: ({ signal }) =>
      rpc(
        "trigger.get",
        { ...ROW, ...ownedBy(hostid, template), expandDescription: !template },
        signal,
      ),
    meta: { live: "config" },
  });

export const triggerQuery = (triggerid: string) =>
  queryOptions({
    queryKey: ["triggers", "one", triggerid],
    queryFn: async ({ signal }) => {
      const rows = await rpc(
        "trigger.get",
        {
          ...ROW,
          output: [...ROW.output, "url", "url_name"],
          triggerids: [triggerid],
          selectItems: ["itemid", "name", "value_type"],
          expandComment: true,
          expandDescription: true,
          expandUrl: true,
        },
        signal,
      );
      return rows[0] ?? null;
    },
    enabled: triggerid !== "",
  });
