/** Values, and the extremes of each that stands for many. */
interface Values {
  values: readonly number[];
  low?: readonly number[];
  high?: readonly number[];
}

/** Functions over the values of a time, by the numbers of Zabbix 7.0; 0 is none. */
export const AGGREGATES = [
  undefined,
  "min",
  "max",
  "avg",
  "count",
  "sum",
  "first",
  "last",
] as const;
export type Aggregate = NonNullable<(typeof AGGREGATES)[number]>;

/** The result of a function over points; null without any. */
export function aggregate(kind: Aggregate, series: Values): number | null {
  const { values } = series;
  if (values.length === 0) return kind === "count" ? 0 : null;
  switch (kind) {
    case "min":
      return (series.low ?? values).reduce((a, b) => Math.min(a, b));
    case "max":
      return (series.high ?? values).reduce((a, b) => Math.max(a, b));
    case "avg":
      return values.reduce((a, b) => a + b, 0) / values.length;
    case "sum":
      return values.reduce((a, b) => a + b, 0);
    case "count":
      return values.length;
    case "first":
      return values[0] ?? null;
    case "last":
      return values.at(-1) ?? null;
  }
}
