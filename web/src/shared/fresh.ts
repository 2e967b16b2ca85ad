import {
  type QueryKey,
  type UseQueryOptions,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { watchFresh } from "~/shared/forms/stale-save";

/**
 * What a form starts from: as the server has it now. What was read for an earlier page would bring
 * back what was changed since, when it is saved.
 */
export function useFresh<T, K extends QueryKey>(options: UseQueryOptions<T, Error, T, K>) {
  const { data, error, dataUpdatedAt, refetch, isFetchedAfterMount } = useQuery({
    ...options,
    refetchOnMount: "always",
    refetchInterval: false,
  });
  const client = useQueryClient();
  const fresh = isFetchedAfterMount ? data : undefined;
  const start = useRef<T | undefined>(undefined);
  start.current ??= fresh;
  const latest = useRef(options);
  latest.current = options;
  const started = start.current !== undefined && start.current !== null;
  useEffect(() => {
    if (!started) return;
    return watchFresh({
      before: start.current,
      now: () => client.fetchQuery({ ...latest.current, staleTime: 0 } as never),
    });
  }, [started, client]);
  return { data: fresh, error, dataUpdatedAt, refetch };
}

/** Reads a list again; the answer is the object in it, or null if it is gone. */
export function useReread() {
  const client = useQueryClient();
  return async <T, K extends QueryKey>(
    options: UseQueryOptions<T[], Error, T[], K>,
    is: (one: T) => boolean,
  ): Promise<T | null> => {
    const list: T[] = await client.fetchQuery({ ...options, staleTime: 0 } as never);
    return list.find(is) ?? null;
  };
}
