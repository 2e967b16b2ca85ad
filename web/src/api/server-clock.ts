/** How far the server's clock is ahead of this machine's, in seconds; as of the newest response. */
let ahead = 0;

/** Notes the `Date` of a response (RFC 9110, 6.6.1), which has whole seconds. */
export function heardDate(answer: Response, nowMs = Date.now()): void {
  const then = Date.parse(answer.headers.get("Date") ?? "");
  if (!Number.isNaN(then)) ahead = Math.round((then - nowMs) / 1000);
}

/** Unix seconds of the server at this time of this machine: for ages by which a state is judged. */
export const atServer = (now: number) => now + ahead;
