import type { Dashboard } from "~/api/dashboards";
import { texts } from "./texts";

/** Seconds for which a page can be shown. */
export const PERIODS: readonly Dashboard["display_period"][] = [
  "10",
  "30",
  "60",
  "120",
  "600",
  "1800",
  "3600",
];

const HOUR = 3600;

export function periodLabel(seconds: string): string {
  const count = Number(seconds);
  if (count === HOUR) return texts.hour;
  return count < 60 ? texts.seconds(seconds) : texts.minutes(count / 60);
}
