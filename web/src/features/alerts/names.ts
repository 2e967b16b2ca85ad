import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { allActionsQuery } from "~/api/actions";
import { texts } from "./texts";

/** Names of actions by id. */
export function useActionName(): (id: string) => string {
  const { data } = useQuery(allActionsQuery());
  return useMemo(() => {
    const names = new Map(data?.map((action) => [action.actionid, action.name]));
    return (id) => names.get(id) ?? texts.deletedAction(id);
  }, [data]);
}
