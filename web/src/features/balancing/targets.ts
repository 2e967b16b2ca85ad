import { texts } from "./texts";

/** Where requests go. */
export interface Target {
  /** "" or "0": none is chosen. */
  poolid: string;
  poolgroupid: string;
}

/** A target as one word for a choice; "": nothing is chosen. */
export function target({ poolid, poolgroupid }: Target): string {
  if (poolgroupid !== "0") return `group ${poolgroupid}`;
  return poolid && poolid !== "0" ? `pool ${poolid}` : "";
}

/** The opposite of {@link target}. */
export function targetOf(word: string): Target {
  const [kind, id = "0"] = word.split(" ");
  return kind === "group"
    ? { poolid: "0", poolgroupid: id }
    : { poolid: kind === "pool" ? id : "", poolgroupid: "0" };
}

/** The word and the name of each pool and pool group. */
export type Targets = readonly (readonly [word: string, name: string])[];

/** The targets as options, with the chosen one also if it was deleted since. */
export const targetOptions = (targets: Targets, chosen: string, none: string = texts.choose) => {
  const isGone = chosen !== "" && !targets.some(([word]) => word === chosen);
  return [["", none] as const, ...targets, ...(isGone ? [[chosen, chosen] as const] : [])];
};
