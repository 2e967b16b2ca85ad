import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";

/** How long data is kept; switches are "0" or "1", periods have a suffix. */
export interface Housekeeping {
  hk_events_mode: string;
  hk_events_trigger: string;
  hk_events_service: string;
  hk_events_internal: string;
  hk_events_discovery: string;
  hk_events_autoreg: string;
  hk_services_mode: string;
  hk_services: string;
  hk_audit_mode: string;
  hk_audit: string;
  hk_sessions_mode: string;
  hk_sessions: string;
  hk_history_global: string;
  hk_history: string;
  hk_trends_global: string;
  hk_trends: string;
}

export interface HousekeepingMethods {
  "housekeeping.get": { params: { output: readonly (keyof Housekeeping)[] }; result: Housekeeping };
  "housekeeping.update": { params: Partial<Housekeeping>; result: string[] };
}

export const housekeepingQuery = (output: readonly (keyof Housekeeping)[]) =>
  queryOptions({
    queryKey: ["housekeeping"],
    queryFn: ({ signal }) => rpc("housekeeping.get", { output }, signal),
    meta: { live: "config" },
  });

export const saveHousekeeping = (settings: Partial<Housekeeping>) =>
  rpc("housekeeping.update", settings);
