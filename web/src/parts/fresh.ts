import { type QueryKey, type UseQueryOptions, useQuery } from "@tanstack/react-query";

/**
 * What a form starts from: as the server has it now. What was read for an earlier page would bring
 * back what was changed since, when it is saved.
 */
export function useFresh<T, K extends QueryKey>(options: UseQueryOptions<T, Error, T, K>) {
  const { data, error, refetch, isFetchedAfterMount } = useQuery({
    ...options,
    refetchOnMount: "always",
    refetchInterval: false,
  });
  return { data: isFetchedAfterMount ? data : undefined, error, refetch };
}
