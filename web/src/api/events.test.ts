import { expect, test, vi } from "vitest";
import { updateProblems } from "./events";
import { answerWith } from "./mock/answer";

vi.mock("./live", () => ({ pollInterval: () => 5_000 }));
vi.mock("./client", () => ({ rpc: vi.fn() }));

/** A server where triggers with even ids allow manual closing; `refuse` fails an acknowledge. */
function serve(refuse: (ids: string[]) => boolean = () => false) {
  const sent: { ids: string[]; action: number }[] = [];
  answerWith(async (method, params) => {
    const { eventids = [], triggerids = [], action = 0 } = params as Record<string, never>;
    const ids = eventids as string[];
    if (method === "event.get") return ids.map((id) => ({ eventid: id, objectid: id }));
    if (method === "trigger.get") {
      const even = (triggerids as string[]).filter((id) => Number(id) % 2 === 0);
      return even.map((triggerid) => ({ triggerid }));
    }
    if (refuse(ids)) throw new Error("refused");
    sent.push({ ids, action });
    return {};
  });
  return sent;
}

test("close is sent only where the trigger allows it, the rest of the update to all", async () => {
  const sent = serve();
  const result = await updateProblems(["1", "2", "3", "4"], { close: true, acknowledge: true });
  expect(sent).toEqual([
    { ids: ["2", "4"], action: 3 },
    { ids: ["1", "3"], action: 2 },
  ]);
  expect(result).toEqual({ updated: 4, notClosable: 2, failed: 0 });
});

test("closing alone sends nothing for triggers that do not allow it", async () => {
  const sent = serve();
  const result = await updateProblems(["1", "2"], { close: true });
  expect(sent).toEqual([{ ids: ["2"], action: 1 }]);
  expect(result).toEqual({ updated: 1, notClosable: 1, failed: 0 });
});

test("a batch that fails does not stop the others", async () => {
  const ids = Array.from({ length: 2_500 }, (_, n) => String(n));
  const sent = serve((batch) => batch.includes("1500"));
  const result = await updateProblems(ids, { acknowledge: true });
  expect(sent.map((one) => one.ids.length)).toEqual([1_000, 500]);
  expect(result).toMatchObject({ updated: 1_500, failed: 1_000 });
});
