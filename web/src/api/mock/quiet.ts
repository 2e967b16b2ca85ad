import type { Settings } from "../settings";
import type { Answers } from "./api";

/** What was learnt about triggers, and settings. */
export function quietAnswers(): Answers {
  const settings: Settings = {
    heartbeat_url: "",
    heartbeat_period: "0",
    url: "",
    link_lifetime: "24h",
    auditlog_enabled: "1",
  };
  return {
    "settings.get": () => ({ ...settings }),
    "settings.update": (changed) => {
      Object.assign(settings, changed);
      return Object.keys(changed);
    },
    "trigger.learnt": ({ triggerids }) =>
      triggerids.map((triggerid) => ({
        triggerid,
        problems: "12",
        within: "180",
        typical: "95",
        share: "92",
        flapping: "1",
        changes: "7",
        until: String(Math.floor(Date.now() / 1000) + 1_200),
      })),
  };
}
