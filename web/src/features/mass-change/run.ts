import { ApiError } from "~/api/client";
import { explain } from "~/api/errors";
import type { ItemChange, MassItem } from "~/api/mass-items";
import { type Changes, changeOf, hindrance } from "./plan";
import { texts } from "./texts";

/** Items that one request changes. A request changes all of its items or none. */
export const CHUNK = 250;
/** Failed items after which a run stops: the user decides whether it goes on. */
export const FAILURES_MAX = 50;

/** The calls that a run makes. */
export interface ItemApi {
  read: (itemids: readonly string[]) => Promise<MassItem[]>;
  update: (changes: ItemChange[]) => Promise<unknown>;
}

export interface Failure {
  item: MassItem;
  text: string;
  /** The server did not respond: the item may have changed. */
  unknown: boolean;
}

/** Why a run ended: all items were tried, the user stopped it, too many failed, the server did not respond. */
export type End = "done" | "stopped" | "failures" | "lost";

export interface Progress {
  total: number;
  changed: number;
  /** Items that had the values when their turn came. */
  same: number;
  failures: readonly Failure[];
}

export interface Outcome extends Progress {
  end: End;
  /** Items that were not tried. */
  left: MassItem[];
  /** What the server said last if `end` is "lost". */
  error?: string;
}

/** The outcome of a run and of a later one, of items that the first left over or that failed in it. */
export function joined(first: Outcome, later: Outcome, tried: readonly MassItem[]): Outcome {
  const again = new Set(tried.map(({ itemid }) => itemid));
  const left = [...first.left.filter(({ itemid }) => !again.has(itemid)), ...later.left];
  return {
    total: first.total,
    changed: first.changed + later.changed,
    same: first.same + later.same,
    failures: [...first.failures.filter(({ item }) => !again.has(item.itemid)), ...later.failures],
    left,
    end: later.end === "done" && left.length > 0 ? first.end : later.end,
    error: later.error,
  };
}

interface Pair {
  item: MassItem;
  change: ItemChange;
}

/** Whether the server refused a request: then it changed nothing. */
const isRefusal = (error: unknown) =>
  error instanceof ApiError && error.code < 0 && !error.signedOut;

/** A mass change on its way. Values are read again before they are changed: others may have changed them. */
export class Run {
  private changed = 0;
  private same = 0;
  private readonly failures: Failure[] = [];
  private readonly settled = new Set<string>();
  private end: End | undefined;
  private error: string | undefined;

  constructor(
    private readonly items: readonly MassItem[],
    private readonly changes: Changes,
    private readonly api: ItemApi,
    private readonly onProgress: (progress: Progress) => void = () => undefined,
  ) {}

  /** No further request begins. */
  stop(): void {
    this.end ??= "stopped";
  }

  progress(): Progress {
    const { changed, same } = this;
    return { total: this.items.length, changed, same, failures: [...this.failures] };
  }

  /** Changes the items, and reports the outcome of each. Never throws. */
  async go(): Promise<Outcome> {
    for (let at = 0; at < this.items.length && !this.end; at += CHUNK)
      await this.chunk(this.items.slice(at, at + CHUNK));
    const left = this.items.filter(({ itemid }) => !this.settled.has(itemid));
    // A stop that came with the last request stopped nothing.
    const end = left.length === 0 && this.end !== "lost" ? "done" : (this.end ?? "done");
    return { ...this.progress(), end, left, error: this.error };
  }

  private async chunk(items: readonly MassItem[]): Promise<void> {
    let fresh: Map<string, MassItem>;
    try {
      fresh = await this.read(items);
    } catch (error) {
      return this.lose(error);
    }
    const pairs: Pair[] = [];
    for (const item of items) {
      const now = fresh.get(item.itemid);
      const change = now && changeOf(now, this.changes);
      const why = now && hindrance(now, this.changes);
      if (!now) this.fail(item, texts.noLongerExists);
      else if (change) pairs.push({ item: now, change });
      else if (why) this.fail(item, texts.reasons[why]);
      else this.settle(item, "same");
    }
    if (pairs.length > 0) await this.apply(pairs);
    this.onProgress(this.progress());
  }

  private async read(items: readonly MassItem[]): Promise<Map<string, MassItem>> {
    const rows = await this.api.read(items.map(({ itemid }) => itemid));
    return new Map(rows.map((row) => [row.itemid, row]));
  }

  /** Halves what the server refuses until the items at fault are known. */
  private async apply(pairs: readonly Pair[]): Promise<void> {
    if (this.end) return;
    try {
      await this.api.update(pairs.map(({ change }) => change));
    } catch (error) {
      if (!isRefusal(error)) return this.look(pairs, error);
      const [first] = pairs;
      if (first && pairs.length === 1) return this.fail(first.item, explain(error).what);
      const middle = pairs.length >> 1;
      await this.apply(pairs.slice(0, middle));
      return this.apply(pairs.slice(middle));
    }
    for (const { item } of pairs) this.settle(item, "changed");
    this.onProgress(this.progress());
  }

  /** After a request without a response, the items show whether it arrived. */
  private async look(pairs: readonly Pair[], error: unknown): Promise<void> {
    this.lose(error);
    let fresh: Map<string, MassItem> | null = null;
    try {
      fresh = await this.read(pairs.map(({ item }) => item));
    } catch {
      // Nothing is known of them.
    }
    for (const { item } of pairs) {
      const now = fresh?.get(item.itemid);
      if (now && !changeOf(now, this.changes)) this.settle(item, "changed");
      else this.fail(item, now ? texts.oldValuesAfterwards : texts.outcomeUnknown, true);
    }
  }

  private settle(item: MassItem, as: "changed" | "same"): void {
    this.settled.add(item.itemid);
    this[as]++;
  }

  private fail(item: MassItem, text: string, unknown = false): void {
    this.settled.add(item.itemid);
    this.failures.push({ item, text, unknown });
    if (this.failures.length >= FAILURES_MAX) this.end ??= "failures";
  }

  private lose(error: unknown): void {
    this.end = "lost";
    this.error = explain(error).what;
  }
}
