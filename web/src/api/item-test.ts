import { rpc } from "./client";

/** The outcome of one step. `result` null: the value was discarded. */
export interface StepOutcome {
  result?: string | null;
  error?: { value: string };
  /** What the step's error handler did: 1 discarded the value, 2 set a value, 3 set an error. */
  action?: number;
  /** The error that the handler set. */
  failed?: string;
  truncated?: boolean;
  original_size?: number;
}

export interface TestOutcome {
  /** What collecting gave; absent when the value was typed. */
  item?: { result?: string; error?: string; truncated?: boolean; original_size?: number };
  preprocessing?: {
    steps?: StepOutcome[];
    result?: string | null;
    error?: string;
    previous?: boolean;
  };
}

/** Runs a value through steps on the server; nothing is kept. */
export function testItem(params: object): Promise<TestOutcome> {
  return rpc("item.test", params);
}
