/** What became of one input: its result, or why it failed. */
export type Outcome<T, R> = { of: T; result: R } | { of: T; error: unknown };

/**
 * Runs each input once those it depends on are done, without knowing the dependencies: an input that
 * fails is tried again after others succeeded, until a round brings nothing new. Outcomes come in the
 * order in which they were reached, failures last. `mayRetry` = whether an error may be for want of
 * another input; after any other one nobody knows what was done.
 */
export async function runInOrder<T, R>(
  inputs: readonly T[],
  run: (input: T) => Promise<R>,
  mayRetry: (error: unknown) => boolean,
): Promise<Outcome<T, R>[]> {
  const done: Outcome<T, R>[] = [];
  const lost: Outcome<T, R>[] = [];
  let waiting: readonly T[] = inputs;
  for (;;) {
    const before = done.length;
    const failed: { of: T; error: unknown }[] = [];
    for (const of of waiting) {
      try {
        done.push({ of, result: await run(of) });
      } catch (error) {
        if (mayRetry(error)) failed.push({ of, error });
        else lost.push({ of, error });
      }
    }
    if (failed.length === 0 || done.length === before) return [...done, ...lost, ...failed];
    waiting = failed.map(({ of }) => of);
  }
}
