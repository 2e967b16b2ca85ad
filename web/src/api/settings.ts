import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";

export interface HeartbeatSettings {
  /** Requested while the whole chain works; "": never. */
  heartbeat_url: string;
  /** "0": off. */
  heartbeat_period: string;
}

/** Of links in messages that acknowledge, suppress or close a problem. */
export interface LinkSettings {
  /** Under which users reach the interface; "": messages have no links. */
  url: string;
  /** How long a link can be used. */
  link_lifetime: string;
}

export interface AuditSettings {
  /** "1": changes are recorded. */
  auditlog_enabled: string;
}

/** Settings of the server that the UI edits. */
type EditedSettings = HeartbeatSettings & LinkSettings;

export type Settings = EditedSettings & AuditSettings;

export interface SettingsMethods {
  "settings.get": { params: { output: readonly (keyof Settings)[] }; result: Settings };
  "settings.update": { params: Partial<EditedSettings>; result: string[] };
}

/** Some settings. */
function settingsQuery<K extends keyof Settings>(queryKey: string, ...output: readonly K[]) {
  return queryOptions({
    queryKey: [queryKey],
    queryFn: ({ signal }): Promise<Pick<Settings, K>> => rpc("settings.get", { output }, signal),
    meta: { live: "config" },
  });
}

export const heartbeatQuery = () => settingsQuery("heartbeat", "heartbeat_url", "heartbeat_period");

export const linksQuery = () => settingsQuery("message-links", "url", "link_lifetime");

export const saveSettings = (settings: Partial<EditedSettings>) => rpc("settings.update", settings);
