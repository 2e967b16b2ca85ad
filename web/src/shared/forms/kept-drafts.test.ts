import { beforeEach, expect, test, vi } from "vitest";

interface Fake {
  userid: string | undefined;
  reason: string;
  listeners: Set<() => void>;
}
const fake: Fake = vi.hoisted(() => ({ userid: "1", reason: "expired", listeners: new Set() }));

vi.mock("~/api/session-store", () => ({
  session: () => (fake.userid ? { userid: fake.userid } : null),
  endReason: () => fake.reason,
  subscribeSession: (listener: () => void) => {
    fake.listeners.add(listener);
    return () => fake.listeners.delete(listener);
  },
}));

const { keepDraft, keptDraft, takeDraft } = await import("./kept-drafts");

function end(reason: string): void {
  fake.userid = undefined;
  fake.reason = reason;
  for (const listener of fake.listeners) listener();
}

beforeEach(() => {
  fake.userid = "1";
  fake.listeners.clear();
  vi.stubGlobal("location", { pathname: "/hosts/5/edit", search: "" });
});

test("the draft of an expired session is kept for the same user and page, once", () => {
  keepDraft(() => ({ name: "mine" }));
  end("expired");
  fake.userid = "2";
  expect(takeDraft()).toBeUndefined();
  fake.userid = "1";
  vi.stubGlobal("location", { pathname: "/hosts/6/edit", search: "" });
  expect(takeDraft()).toBeUndefined();
  vi.stubGlobal("location", { pathname: "/hosts/5/edit", search: "" });
  expect(takeDraft()).toEqual({ name: "mine" });
  expect(takeDraft()).toBeUndefined();
});

test("signing out discards drafts", () => {
  keepDraft(() => ({ name: "mine" }));
  end("signed-out");
  fake.userid = "1";
  expect(takeDraft()).toBeUndefined();
});

test("a form without edits keeps nothing", () => {
  keepDraft(() => undefined);
  end("expired");
  fake.userid = "1";
  expect(takeDraft()).toBeUndefined();
});

test("drafts of one page are identified by their names", () => {
  keepDraft(() => "a form");
  keepDraft(() => "a dialog", "dialog");
  end("expired");
  fake.userid = "1";
  expect(keptDraft("other")).toBeUndefined();
  expect(keptDraft("dialog")).toBe("a dialog");
  expect(takeDraft("dialog")).toBe("a dialog");
  expect(keptDraft("dialog")).toBeUndefined();
  expect(takeDraft()).toBe("a form");
});
