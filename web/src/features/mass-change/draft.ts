import { Status } from "~/api/schema";
import { type Tag, tagParams } from "~/util/tags";
import { periodSeconds } from "~/util/time";
import { type Changes, FIELDS, type Field, type TagMode } from "./plan";
import { texts } from "./texts";

/** The form: which fields change, and what is in their boxes. */
export interface Draft {
  chosen: readonly Field[];
  status: string;
  delay: string;
  history: string;
  trends: string;
  timeout: string;
  mode: TagMode;
  tags: Tag[];
}

export const NEW_DRAFT: Draft = {
  chosen: [],
  status: Status.Disabled,
  delay: "",
  history: "",
  trends: "",
  timeout: "",
  mode: "add",
  tags: [{ tag: "", value: "" }],
};

/** Whether a text can be a time; macros are resolved by the server. */
const isTime = (text: string) => /^\{\$.+\}$/.test(text) || periodSeconds(text) !== null;

function problemOf(draft: Draft, field: Field): string | undefined {
  switch (field) {
    case "status":
      return undefined;
    case "delay":
      return isTime(draft.delay.trim().split(";")[0] ?? "") ? undefined : texts.enter.delay;
    case "history":
    case "trends":
      return isTime(draft[field].trim()) ? undefined : texts.enter[field];
    case "timeout":
      return draft.timeout.trim() === "" || isTime(draft.timeout.trim())
        ? undefined
        : texts.enter.timeout;
    case "tags":
      return draft.mode === "replace" || tagParams(draft.tags).length > 0
        ? undefined
        : texts.enter.tags;
  }
}

/** What is wrong with the chosen fields. */
export function problemsOf(draft: Draft): Partial<Record<Field, string>> {
  const found = FIELDS.filter((field) => draft.chosen.includes(field)).flatMap((field) => {
    const problem = problemOf(draft, field);
    return problem ? [[field, problem] as const] : [];
  });
  return Object.fromEntries(found);
}

/** The changes that the form describes; null while it describes none, or something is wrong with it. */
export function changesOf(draft: Draft): Changes | null {
  if (draft.chosen.length === 0 || Object.keys(problemsOf(draft)).length > 0) return null;
  const text = (field: Exclude<Field, "tags">) =>
    draft.chosen.includes(field) ? { [field]: draft[field].trim() } : {};
  return {
    ...text("status"),
    ...text("delay"),
    ...text("history"),
    ...text("trends"),
    ...text("timeout"),
    ...(draft.chosen.includes("tags") ? { tags: { mode: draft.mode, tags: draft.tags } } : {}),
  };
}
