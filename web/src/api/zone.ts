import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { knowsZone } from "~/util/zone";
import { rpc } from "./client";

/** The server's time zone, in which times of day are meant; "" where the browser knows none such. */
export const serverZoneQuery = () =>
  queryOptions({
    queryKey: ["zone"],
    queryFn: async ({ signal }) => {
      const zone = await rpc("apiinfo.timezone", [], signal);
      return knowsZone(zone) ? zone : "";
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The same for other queries, asked once. */
export function serverZone(client: QueryClient): Promise<string> {
  return client.ensureQueryData(serverZoneQuery());
}
