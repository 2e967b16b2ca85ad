import { AlertStatus, Withholding } from "~/api/schema";

/** How far an alert is, in words, and how it looks. What is unknown is never shown as good. */
export interface Delivery {
  tone: "good" | "bad" | "warn" | "next" | "off";
  words: string;
}

interface OfDelivery {
  status: string;
  retries: string;
  /** "0": it was not withheld. */
  withheld?: string;
}

const REASONS: Record<string, readonly [short: string, long: string]> = {
  [Withholding.Grouped]: ["grouped", "Grouped with messages about related problems"],
  [Withholding.Inhibited]: ["inhibited", "A related, more severe problem was open"],
  [Withholding.Storm]: ["storm", "Too many messages to the address"],
  [Withholding.Transient]: [
    "transient",
    "Problems of the trigger usually end soon, so the message waited",
  ],
  [Withholding.Flapping]: ["flapping", "The trigger was flapping"],
};

const isWithheld = ({ withheld }: { withheld?: string }) =>
  withheld !== undefined && withheld !== "0" && withheld !== "";

/** Why a message was withheld, in a sentence; undefined: it was not. */
export function withheldWords(alert: { withheld?: string }): string | undefined {
  if (!isWithheld(alert)) return undefined;
  return REASONS[alert.withheld ?? ""]?.[1] ?? `Unknown reason ${alert.withheld}`;
}

export function deliveryOf({ status, retries, withheld }: OfDelivery): Delivery {
  const failed = Number(retries);
  switch (status) {
    case AlertStatus.Sent:
      return { tone: "good", words: "Sent" };
    case AlertStatus.Failed:
      return { tone: "bad", words: "Failed" };
    case AlertStatus.Withheld: {
      const reason = REASONS[withheld ?? ""]?.[0];
      return { tone: "off", words: reason ? `Withheld: ${reason}` : "Withheld" };
    }
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

const COUNTED = ["failed", "in progress", "sent", "withheld", "unknown"] as const;

function countedAs(alert: OfDelivery): (typeof COUNTED)[number] {
  if (alert.status === AlertStatus.Withheld) return "withheld";
  const { tone } = deliveryOf(alert);
  if (tone === "good") return "sent";
  if (tone === "bad") return "failed";
  return tone === "off" ? "unknown" : "in progress";
}

/** "4 notifications: 1 failed, 1 in progress, 2 sent." */
export function summaryOf(alerts: readonly OfDelivery[]): string {
  const words = alerts.map(countedAs);
  const parts = COUNTED.flatMap((word) => {
    const n = words.filter((one) => one === word).length;
    return n > 0 ? [`${n} ${word}`] : [];
  });
  return `${alerts.length} ${alerts.length === 1 ? "notification" : "notifications"}: ${parts.join(", ")}.`;
}
