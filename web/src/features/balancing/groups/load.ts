import { type FiguresById, freshFigure } from "~/api/engines";

export const FIGURES = ["requests", "cpu"];

/** What an engine does now; undefined: it is unknown. */
export interface Load {
  id: string;
  name: string;
  /** Requests per second. */
  requests: number | undefined;
  /** CPU cores in use: 1.5 is one and a half. */
  cores: number | undefined;
}

/** The loads of engines, and the ends of the scales of their bars. */
export interface Loads {
  engines: readonly Load[];
  requests: Sum;
  cores: Sum;
  /** Requests per second at the end of the bars. */
  requestsMax: number;
  /** Whole cores at the end of the bars. */
  coresMax: number;
}

/** A sum of the engines that tell, and how many these are. */
export interface Sum {
  value: number;
  known: number;
}

const PERCENT = 100;

function sum(values: readonly (number | undefined)[]): Sum {
  const known = values.filter((value) => value !== undefined);
  return { value: known.reduce((a, b) => a + b, 0), known: known.length };
}

/** A round number that is not below this one: 1, 2 or 5 times a power of ten. */
export function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5].find((step) => step * power >= value) ?? 10) * power;
}

/** The loads of engines from their newest figures. `now`: Unix seconds of the server. */
export function loadsOf(
  engines: readonly { engineid: string; name: string }[],
  figures: FiguresById | undefined,
  now: number,
): Loads {
  const rows = engines.map(({ engineid, name }): Load => {
    const cpu = freshFigure(figures, engineid, "cpu", now);
    return {
      id: engineid,
      name,
      requests: freshFigure(figures, engineid, "requests", now),
      cores: cpu === undefined ? undefined : cpu / PERCENT,
    };
  });
  const most = (values: readonly (number | undefined)[]) =>
    Math.max(0, ...values.map((value) => value ?? 0));
  return {
    engines: rows,
    requests: sum(rows.map((row) => row.requests)),
    cores: sum(rows.map((row) => row.cores)),
    requestsMax: roundUp(most(rows.map((row) => row.requests))),
    coresMax: Math.max(1, Math.ceil(most(rows.map((row) => row.cores)))),
  };
}

/** Below this many cores, the quotient says nothing. */
const CORES_LEAST = 0.01;

/** Requests per second that a core does; undefined: unknown, or nearly idle. */
export function perCore(requests: number | undefined, cores: number | undefined) {
  if (requests === undefined || cores === undefined || cores < CORES_LEAST) return undefined;
  return requests / cores;
}

/** More marks than this are no scale. */
const MARKS_MAX = 64;

/** Where the bars of cores have marks: at each whole core. */
export const coreMarks = (coresMax: number) =>
  coresMax > MARKS_MAX ? [] : Array.from({ length: coresMax - 1 }, (_, at) => (at + 1) / coresMax);
