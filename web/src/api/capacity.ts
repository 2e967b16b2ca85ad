import { queryOptions } from "@tanstack/react-query";
import type { Capacity } from "~/util/capacity";
import { rpc } from "./client";

const REFRESH_MS = 5_000;

/** How far each part of the server is from its limit. */
export const capacityQuery = () =>
  queryOptions({
    queryKey: ["capacity"],
    queryFn: ({ signal }) => rpc<Capacity>("capacity.get", {}, signal),
    refetchInterval: REFRESH_MS,
  });
