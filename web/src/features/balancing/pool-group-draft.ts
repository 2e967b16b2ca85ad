import type { PoolGroup, PoolMember } from "~/api/balancing";
import type { Members } from "~/api/methods";
import { present } from "./service-draft";

/** A pool group as the form holds it. Members have the names of the API. */
export interface PoolGroupDraft {
  name: string;
  description: string;
  min_servers: string;
  members: PoolMember[];
}

/** A member at the end of a list; it has the priority of the one before it. */
export const newMember = (members: readonly PoolMember[]): PoolMember => ({
  poolid: "",
  priority: members.at(-1)?.priority ?? "0",
  ratio: "1",
});

export const poolGroupDraft = (group: PoolGroup | null): PoolGroupDraft => ({
  name: group?.name ?? "",
  description: group?.description ?? "",
  min_servers: group?.min_servers ?? "1",
  members: group?.members ?? [newMember([])],
});

const isNumber = (text: string, least: number, most: number) =>
  /^\d{1,5}$/.test(text.trim()) && Number(text) >= least && Number(text) <= most;

function memberProblem(member: PoolMember, members: readonly PoolMember[]): string | undefined {
  if (!member.poolid) return "Choose a pool.";
  if (members.filter((other) => other.poolid === member.poolid).length > 1) {
    return "A pool is in the list twice.";
  }
  if (!isNumber(member.priority, 0, 65_535)) return "Enter a priority from 0 to 65535.";
  if (!isNumber(member.ratio, 0, 1_000)) return "Enter a ratio from 0 to 1000.";
  return undefined;
}

/** What is wrong with a draft, by member; the server has the last word on the rest. */
export function poolGroupProblems(draft: PoolGroupDraft): Record<string, string> {
  const members = draft.members.map((member) => memberProblem(member, draft.members));
  return present({
    name: draft.name.trim() ? undefined : "Enter a name.",
    min_servers: isNumber(draft.min_servers, 1, 65_535)
      ? undefined
      : "Enter a number from 1 to 65535.",
    members: draft.members.length ? members.find(Boolean) : "Add at least one pool.",
  });
}

/** A draft without problems, as `poolgroup.create` and `poolgroup.update` take it. */
export const poolGroupParams = (draft: PoolGroupDraft): Members<"poolgroup"> => ({
  name: draft.name.trim(),
  description: draft.description,
  min_servers: draft.min_servers.trim(),
  members: draft.members.map(({ poolid, priority, ratio }) => ({
    poolid,
    priority: priority.trim(),
    ratio: ratio.trim(),
  })),
});
