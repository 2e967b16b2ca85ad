/** What became of one input: its result, or why it failed. */
export type Outcome<T, R> = { of: T; result: R } | { of: T; error: unknown };

/**
 * Runs each input once those it depends on are done, without knowing the dependencies: an input that
 * fails is tried again after others succeeded, until a round brings nothing new. Outcomes come in the
 * order in which they were reached, failures last.
 */
export async function runInOrder<T, R>(
  inputs: readonly T[],
  run: (input: T) => Promise<R>,
): Promise<Outcome<T, R>[]> {
  const done: Outcome<T, R>[] = [];
  let waiting: readonly T[] = inputs;
  for (;;) {
    const failed: { of: T; error: unknown }[] = [];
    for (const of of waiting) {
      try {
        done.push({ of, result: await run(of) });
      } catch (error) {
        failed.push({ of, error });
      }
    }
    if (failed.length === 0 || failed.length === waiting.length) return [...done, ...failed];
    waiting = failed.map(({ of }) => of);
  }
}
