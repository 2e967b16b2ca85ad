import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { type Aggregate, aggregate } from "~/util/aggregates";
import type { SeriesItem } from "~/util/points";
import type { TimeRange } from "~/util/time";
import { seriesQuery } from "./history";
import { pollInterval } from "./live";

/** The result of a function over the values of an item in a time; null: it has none. */
export const aggregateQuery = (item: SeriesItem, kind: Aggregate | undefined, range: TimeRange) => {
  const series = seriesQuery(item, range);
  return queryOptions({
    queryKey: ["aggregate", item.itemid, kind ?? "", range],
    queryFn: async ({ client }) => {
      const points = await client.fetchQuery({ ...series, staleTime: 0 });
      return kind ? aggregate(kind, points) : null;
    },
    placeholderData: keepPreviousData,
    refetchInterval: range.to === "now" ? pollInterval : false,
  });
};
