import { ApiError } from "~/api/client";
import { type BalancingChange, compareChange, type Touched } from "~/api/engines";
import { ask } from "~/ui/confirm";
import { plural } from "~/util/format";
import { texts } from "./texts";
import { Applied, TouchedList } from "./touched";

/** What the dialogs of a change say. */
interface Words {
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

/** The services that a change would touch; null if the user's role denies the comparison. */
async function touchedBy(change: BalancingChange): Promise<Touched[] | null> {
  try {
    return await compareChange(change);
  } catch (error) {
    if (error instanceof ApiError && /No permissions to call/.test(error.data)) return null;
    throw error;
  }
}

/**
 * Saves a change once the user has seen what it touches, and then shows the engines that get it. False:
 * the user cancelled. A change that touches nothing is saved at once. Throws what the server refuses.
 */
export async function reviewed<R>(
  words: Words,
  change: BalancingChange,
  save: () => Promise<R>,
): Promise<R | false> {
  const touched = await touchedBy(change);
  if (touched?.length === 0) return save();
  const answer = await ask({
    title: words.question,
    body: touched ? <TouchedList touched={touched} change={change} /> : <p>{texts.unchecked}</p>,
    choices: [{ value: "save", label: words.action, look: "primary" }],
  });
  if (answer !== "save") return false;
  const result = await save();
  if (touched) {
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
): Promise<R | false> {
  return id === null ? save() : reviewed(saveWords(word), change, save);
}
