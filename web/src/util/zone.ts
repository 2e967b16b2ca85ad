/** What calendar and clock of a time zone show; `month` counts from 0. */
export interface Wall {
  year: number;
  month: number;
  date: number;
  /** Seconds since midnight as the clock shows them. */
  seconds: number;
}

const DAY_S = 86_400;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(zone, format);
  }
  return format;
}

/** Whether the browser knows a time zone of that name. */
export function knowsZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** What the clocks of a zone, the browser's without one, show at a moment. */
export function wallAt(clock: number, zone?: string): Wall {
  const moment = new Date(clock * 1000);
  if (!zone) {
    return {
      year: moment.getFullYear(),
      month: moment.getMonth(),
      date: moment.getDate(),
      seconds: moment.getHours() * 3600 + moment.getMinutes() * 60 + moment.getSeconds(),
    };
  }
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(moment)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return { year, month: month - 1, date: day, seconds: hour * 3600 + minute * 60 + second };
}

const asUtc = ({ year, month, date, seconds }: Wall) =>
  Date.UTC(year, month, date) / 1000 + seconds;

/**
 * When the clocks show that: the first time of two; a time that they skip comes as late as they were
 * moved.
 */
export function clockAt(wall: Wall, zone?: string): number {
  const shown = asUtc(wall);
  const ahead = (clock: number) => asUtc(wallAt(clock, zone)) - clock;
  // How far the zone is from UTC before and after the clocks are changed, if they are around then.
  const early = shown - ahead(shown - DAY_S);
  if (early + ahead(early) === shown) return early;
  const late = shown - ahead(shown + DAY_S);
  return late + ahead(late) === shown ? late : early;
}
