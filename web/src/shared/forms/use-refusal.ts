import { useState } from "react";
import { type Refusal, refusalOf } from "~/api/errors";
import type { Drafting, Problems } from "./use-draft";

/**
 * Shows what the server refuses at the field that it names, until the field changes. The members of the
 * draft have the names of the API.
 */
export function useRefusal<D extends object>(drafting: Drafting<D>) {
  const { draft, problems } = drafting;
  const [refused, setRefused] = useState<{ refusal: Refusal; draft: D } | null>(null);
  const at = refused?.refusal.member as keyof D | undefined;
  const stands = refused && at && JSON.stringify(refused.draft[at]) === JSON.stringify(draft[at]);
  const shown: Problems = stands
    ? { ...problems, [refused.refusal.member]: refused.refusal.text }
    : problems;
  const tell = async <R>(saving: Promise<R>): Promise<R> => {
    setRefused(null);
    try {
      return await saving;
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal) setRefused({ refusal, draft });
      throw error;
    }
  };
  return { problems: shown, tell };
}
