import { vi } from "vitest";
import { rpc } from "../client";

/** Answers a call of any method. */
type Answer = (method: string, params: unknown) => Promise<unknown>;

/** In tests that replace `client`: `rpc` answers like this. One function cannot have every method's result. */
export function answerWith(answer: Answer): void {
  vi.mocked(rpc as Answer).mockImplementation(answer);
}
