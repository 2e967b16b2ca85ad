import type { HeartbeatSettings } from "~/api/settings";
import { periodSeconds } from "~/util/time";

export interface HeartbeatDraft {
  on: boolean;
  url: string;
  period: string;
}

const PERIOD = { min: 10, max: 86_400, first: "1m" };

export function heartbeatDraft(settings: HeartbeatSettings): HeartbeatDraft {
  const { heartbeat_url, heartbeat_period } = settings;
  const off = (periodSeconds(heartbeat_period) ?? 0) === 0;
  return {
    on: !off && heartbeat_url !== "",
    url: heartbeat_url,
    period: off ? PERIOD.first : heartbeat_period,
  };
}

export function heartbeatProblems(draft: HeartbeatDraft): Record<string, string> {
  if (!draft.on) return {};
  const problems: Record<string, string> = {};
  if (!/^https?:\/\/[^\s/]+\S*$/.test(draft.url.trim()))
    problems.url = "Enter an http or https address.";
  const seconds = periodSeconds(draft.period);
  if (seconds === null || seconds < PERIOD.min || seconds > PERIOD.max)
    problems.period = "Enter an interval from 10s to 1d.";
  return problems;
}

/** A heartbeat that is off keeps its address. */
export const heartbeatParams = (draft: HeartbeatDraft): HeartbeatSettings => ({
  heartbeat_url: draft.url.trim(),
  heartbeat_period: draft.on ? draft.period.trim() : "0",
});
