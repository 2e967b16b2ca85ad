import { describe, expect, it } from "vitest";
import type { ConnectorRow } from "~/api/connectors";
import { connectorDraft, connectorParams, connectorProblem } from "./draft";

const DRAFT = { ...connectorDraft(null), name: " out ", url: "https://example.com/in" };
const BEARER = { ...DRAFT, authtype: "5" };

describe("a connector", () => {
  it("is created with the defaults of the server", () => {
    const params = connectorParams(DRAFT);
    expect(params).toMatchObject({ name: "out", item_value_type: "63", tags: [], status: "1" });
    // The server refuses what does not belong to the kind.
    for (const name of ["username", "password", "token", "attempt_interval"])
      expect(params).not.toHaveProperty(name);
  });
  it("sends of events no value types", () => {
    expect(connectorParams({ ...DRAFT, data_type: "1" })).not.toHaveProperty("item_value_type");
  });
  it("has no value with a tag that exists", () => {
    const tags = [
      { tag: "a", operator: "12", value: "x" },
      { tag: "b", operator: "0", value: "y" },
      { tag: " ", operator: "0", value: "z" },
    ];
    expect(connectorParams({ ...DRAFT, tags }).tags).toEqual([
      { tag: "a", operator: "12", value: "" },
      { tag: "b", operator: "0", value: "y" },
    ]);
  });
  it("keeps stored secrets", () => {
    const stored = { ...connectorParams(BEARER), tags: [] } as unknown as ConnectorRow;
    expect(connectorProblem(connectorDraft(stored), stored)).toBeUndefined();
    expect(connectorParams(connectorDraft(stored))).not.toHaveProperty("token");
    expect(connectorParams({ ...BEARER, token: "t" })).toMatchObject({ token: "t" });
  });
  it.each([
    [{ ...DRAFT, name: " " }, /name/],
    [{ ...DRAFT, url: "" }, /URL/],
    [{ ...DRAFT, valueTypes: 0 }, /type of information/],
    [BEARER, /token/],
    [{ ...DRAFT, valueTypes: 0, data_type: "1" }, null],
  ])("%#", (draft, problem) => {
    if (problem) expect(connectorProblem(draft, null)).toMatch(problem);
    else expect(connectorProblem(draft, null)).toBeUndefined();
  });
});
