import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client";

/** The cache of all queries, with the rules that they share. */
export function createClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 2_000,
        // Only a lost connection is worth a retry; a refusal stays a refusal.
        retry: (failures, error) => error instanceof ApiError && error.code === 0 && failures < 2,
        refetchOnWindowFocus: true,
      },
    },
  });
}
