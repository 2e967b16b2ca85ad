import type { Action } from "~/api/actions";
import { OperationKind } from "~/api/schema";

/** How actions use a media type: some by name, others send to all media types. */
export interface Use {
  named: Action[];
  all: number;
}

const INVOLVED: readonly string[] = [OperationKind.NotifyRecovered, OperationKind.NotifyUpdated];

/** The media types that an action's operations name; "0" = all. */
function namedBy({ operations, recovery_operations, update_operations }: Action): Set<string> {
  const ids = [...operations, ...recovery_operations, ...update_operations].flatMap((one) => {
    const id = one.opmessage?.mediatypeid ?? "0";
    if (one.operationtype === OperationKind.Message) return [id];
    // Those who got a message get the next one on the same way.
    return INVOLVED.includes(one.operationtype) && id !== "0" ? [id] : [];
  });
  return new Set(ids);
}

export function usesOf(actions: readonly Action[], mediatypeid: string): Use {
  const named = actions.filter((action) => namedBy(action).has(mediatypeid));
  const all = actions.filter((action) => {
    const ids = namedBy(action);
    return ids.has("0") && !ids.has(mediatypeid);
  });
  return { named, all: all.length };
}
