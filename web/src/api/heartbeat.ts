import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";

/** Settings of the server that the UI edits. */
export interface HeartbeatSettings {
  /** Requested while the whole chain works; "": never. */
  heartbeat_url: string;
  /** "0": off. */
  heartbeat_period: string;
}

export interface SettingsMethods {
  "settings.get": {
    params: { output: readonly (keyof HeartbeatSettings)[] };
    result: HeartbeatSettings;
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
