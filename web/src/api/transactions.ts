import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { resolveRange, type TimeRange } from "~/util/time";
import type { Timed } from "~/util/transactions";
import { rpc } from "./client";

export interface TransactionParams {
  /** Conditions in the language of `vedette transactions`. */
  filter?: string;
  time_from?: number;
  time_till?: number;
  output?: "extend" | readonly string[];
  limit?: number;
  /** Number of bars. */
  histogram?: number;
  percentiles?: boolean;
  /** Column. */
  group?: string;
  groupLimit?: number;
}

/** One request or TCP connection. Numbers are texts, times are microseconds. */
export interface Transaction extends Timed {
  began: string;
  engine: string;
  service: string;
  pool: string;
  server: string;
  client: string;
  /** Name of the authenticated user; empty: no user was authenticated. */
  user: string;
  method: string;
  host: string;
  path: string;
  status: string;
  end: string;
  /** `client`, `server` or `balancer`; empty: no fault. */
  fault: string;
}

interface Figures {
  count: string;
  faults: string;
  response_bytes: string;
  total: string;
  total_max: string;
}

/** The value of the column by which was grouped is a member with the column's name. */
export type TransactionGroup = Figures & Record<string, string>;

export interface Percentiles {
  mean: string;
  p50: string;
  p90: string;
  p99: string;
  p999: string;
  max: string;
}

export interface Histogram {
  /** Microseconds of the first bar's begin. */
  from: string;
  /** Microseconds of a bar. */
  width: string;
  bars: { count: string; faults: string; total: string }[];
}

export interface TransactionAnswer {
  /** Matching records. */
  count: string;
  /** Records that were read. */
  scanned: string;
  /** Blocks that could not be read. */
  damaged: string;
  transactions: Transaction[];
  histogram: Histogram;
  percentiles: Record<string, Percentiles>;
  groups?: TransactionGroup[];
  other?: Figures;
}

export interface TransactionSearch {
  filter: string;
  range: TimeRange;
  group: string;
}

const COLUMNS = [
  "began",
  "engine",
  "service",
  "pool",
  "server",
  "client",
  "user",
  "method",
  "host",
  "path",
  "status",
  "client_rtt",
  "connect",
  "response",
  "transfer",
  "total",
  "end",
  "fault",
] as const satisfies readonly (keyof Transaction)[];

/** Records on the page. */
export const NEWEST = 500;
const BARS = 90;
const GROUPS = 20;

/** One search for all that the page shows. It takes a processor of the server, so nothing repeats it. */
export const transactionsQuery = ({ filter, range, group }: TransactionSearch) =>
  queryOptions({
    queryKey: ["transactions", filter, range, group],
    queryFn: ({ signal }) => {
      const span = resolveRange(range);
      return rpc(
        "transaction.get",
        {
          filter,
          time_from: span?.from,
          time_till: span?.till,
          output: COLUMNS,
          limit: NEWEST,
          histogram: BARS,
          percentiles: true,
          group: group || undefined,
          groupLimit: GROUPS,
        },
        signal,
      );
    },
    placeholderData: keepPreviousData,
    retry: false,
    refetchOnWindowFocus: false,
  });
