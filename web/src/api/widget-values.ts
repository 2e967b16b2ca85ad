import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { resolveRange, type TimeRange } from "~/util/time";
import { rpc } from "./client";
import type { HistoryPoint } from "./gets";
import type { ItemRow } from "./items";
import { pollInterval } from "./live";

/** The newest values of an item in a time, newest first. */
export const columnValuesQuery = (
  item: Pick<ItemRow, "itemid" | "value_type">,
  range: TimeRange,
  limit: number,
) =>
  queryOptions({
    queryKey: ["values", item.itemid, range, limit],
    queryFn: async ({ signal }): Promise<HistoryPoint[]> => {
      const span = resolveRange(range);
      if (!span) return [];
      return rpc(
        "history.get",
        {
          output: ["itemid", "clock", "ns", "value"],
          history: Number(item.value_type),
          itemids: [item.itemid],
          time_from: span.from,
          time_till: span.till,
          sortfield: "clock",
          sortorder: "DESC",
          limit,
        },
        signal,
      );
    },
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "values", itemids: [item.itemid] },
  });
