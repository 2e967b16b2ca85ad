import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";

/** Settings of the server that the UI edits. */
export interface HeartbeatSettings {
  /** Requested while the whole chain works; "": never. */
  heartbeat_url: string;
  /** "0": off. */
  heartbeat_period: string;
}

/** Settings that the UI shows. */
interface ShownSettings {
  /** "1": changes are recorded. */
  auditlog_enabled?: string;
}

export interface SettingsMethods {
  "settings.get": {
    params: { output: readonly (keyof HeartbeatSettings | keyof ShownSettings)[] };
    result: HeartbeatSettings & ShownSettings;
  };
  "settings.update": { params: Partial<HeartbeatSettings>; result: string[] };
}

export const heartbeatQuery = () =>
  queryOptions({
    queryKey: ["heartbeat"],
    queryFn: ({ signal }) =>
      rpc("settings.get", { output: ["heartbeat_url", "heartbeat_period"] }, signal),
    meta: { live: "config" },
  });

export const saveHeartbeat = (settings: HeartbeatSettings) => rpc("settings.update", settings);
