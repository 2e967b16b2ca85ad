import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";

const REFRESH_MS = 5_000;

/** How far each part of the server is from its limit. */
export const capacityQuery = () =>
  queryOptions({
    queryKey: ["capacity"],
    queryFn: ({ signal }) => rpc("capacity.get", {}, signal),
    refetchInterval: REFRESH_MS,
  });
