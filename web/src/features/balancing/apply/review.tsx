import type { ReactNode } from "react";
import { ApiError } from "~/api/client";
import {
  type BalancingChange,
  compareChange,
  type Effect,
  type MovedVip,
  type Touched,
} from "~/api/engines";
import { ask } from "~/ui/confirm";
import { plural } from "~/util/format";
import { texts } from "./texts";
import { Applied, TouchedList } from "./touched";

/** What the dialogs of a change say. */
export interface Words {
  question: string;
  action: string;
  done: string;
}

const saveWords = (word: string): Words => ({
  question: texts.question(word),
  action: texts.save(word),
  done: texts.wasSaved(word),
});

/** For services that are enabled or disabled. */
export function switchWords(count: number, on: boolean): Words {
  const what = plural(count, texts.serviceWord);
  return on
    ? { question: texts.enableQuestion(what), action: texts.enable, done: texts.enabled(what) }
    : { question: texts.disableQuestion(what), action: texts.disable, done: texts.disabled(what) };
}

/** What a change would do; null if the user's role denies the comparison. */
async function effectOf(change: BalancingChange, moves: boolean): Promise<Effect | null> {
  try {
    return await compareChange(change, moves);
  } catch (error) {
    if (error instanceof ApiError && /No permissions to call/.test(error.data)) return null;
    throw error;
  }
}

function Effects({ touched, change }: { touched: Touched[] | null; change: BalancingChange }) {
  if (!touched) return <p>{texts.unchecked}</p>;
  if (touched.length === 0) return <p className="text-sm">{texts.untouched}</p>;
  return <TouchedList touched={touched} change={change} />;
}

/**
 * Saves a change once the user has seen what it touches, and then shows the engines that get it. False:
 * the user cancelled. A change that touches no service and moves no VIP is saved at once. Throws what the
 * server refuses. `moving` shows the VIPs that move; without it, they are not looked at.
 */
export async function reviewed<R>(
  words: Words,
  change: BalancingChange,
  save: () => Promise<R>,
  moving?: (moves: readonly MovedVip[]) => ReactNode,
): Promise<R | false> {
  const effect = await effectOf(change, moving !== undefined);
  const touched = effect?.touched ?? null;
  const moves = effect?.moves ?? [];
  if (touched?.length === 0 && moves.length === 0) return save();
  const answer = await ask({
    title: words.question,
    body: (
      <>
        {moves.length > 0 && moving?.(moves)}
        <Effects touched={touched} change={change} />
      </>
    ),
    choices: [{ value: "save", label: words.action, look: "primary" }],
  });
  if (answer !== "save") return false;
  const result = await save();
  if (touched?.length) {
    const groups = new Set(touched.flatMap((one) => [one.enginegroupid, one.from]));
    void ask({
      title: words.done,
      body: <Applied groups={groups} />,
      choices: [],
      cancel: texts.close,
    });
  }
  return result;
}

/** Creates an object, or saves the change of the one with this id as `reviewed` does. */
export function savedReviewed<R>(
  word: string,
  id: string | null,
  change: BalancingChange,
  save: () => Promise<R>,
  moving?: (moves: readonly MovedVip[]) => ReactNode,
): Promise<R | false> {
  return id === null ? save() : reviewed(saveWords(word), change, save, moving);
}
