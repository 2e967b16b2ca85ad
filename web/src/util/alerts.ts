import { AlertStatus } from "~/api/schema";

/** How far an alert is, in words, and how it looks. What is unknown is never shown as good. */
export interface Delivery {
  tone: "good" | "bad" | "warn" | "next" | "off";
  words: string;
}

export function deliveryOf({ status, retries }: { status: string; retries: string }): Delivery {
  const failed = Number(retries);
  switch (status) {
    case AlertStatus.Sent:
      return { tone: "good", words: "Sent" };
    case AlertStatus.Failed:
      return { tone: "bad", words: "Failed" };
    case AlertStatus.NotSent:
    case AlertStatus.New:
      return failed > 0
        ? { tone: "warn", words: `Retrying after ${failed} failed` }
        : { tone: "next", words: "In progress" };
    default:
      return { tone: "off", words: `Unknown status ${status}` };
  }
}

/** What an alert is about: a step of the escalation, the end of the problem, or a change of it. */
export function occasionOf(alert: {
  p_eventid: string;
  acknowledgeid: string;
  esc_step: string;
}): string {
  if (alert.acknowledgeid !== "0") return "Update";
  return alert.p_eventid !== "0" ? "Recovery" : `Step ${alert.esc_step}`;
}

/** The event of the problem that an alert is about. */
export const problemOf = ({ eventid, p_eventid }: { eventid: string; p_eventid: string }) =>
  p_eventid === "0" ? eventid : p_eventid;

const COUNTED = [
  ["bad", "failed"],
  ["warn", "in progress"],
  ["good", "sent"],
  ["off", "unknown"],
] as const;

/** "4 notifications: 1 failed, 1 in progress, 2 sent." */
export function summaryOf(alerts: readonly { status: string; retries: string }[]): string {
  const tones = alerts.map((alert) => deliveryOf(alert).tone);
  const parts = COUNTED.flatMap(([tone, word]) => {
    const n = tones.filter((one) => (one === "next" ? "warn" : one) === tone).length;
    return n > 0 ? [`${n} ${word}`] : [];
  });
  return `${alerts.length} ${alerts.length === 1 ? "notification" : "notifications"}: ${parts.join(", ")}.`;
}
