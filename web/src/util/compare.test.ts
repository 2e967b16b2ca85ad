import { describe, expect, it } from "vitest";
import { countChanges, listChanges } from "./compare";

describe("listChanges", () => {
  it("is empty where nothing changes", () => {
    expect(listChanges([])).toEqual([]);
    expect(listChanges({})).toEqual([]);
    expect(listChanges(null)).toEqual([]);
  });
  it("names what comes, changes and goes, with its parts", () => {
    const changes = listChanges({
      templates: {
        updated: [
          {
            before: { uuid: "u", template: "T", name: "T", description: "a" },
            after: { uuid: "u", template: "T", name: "T", description: "b" },
            items: {
              added: [{ after: { name: "CPU", key: "cpu" } }],
              removed: [{ before: { name: "Old", key: "old" } }],
            },
            discovery_rules: {
              updated: [
                {
                  before: { name: "R", delay: "1h" },
                  after: { name: "R", delay: "2h", filter: {} },
                },
              ],
            },
          },
        ],
      },
      template_groups: { added: [{ after: { uuid: "g", name: "Group" } }] },
    });
    expect(changes).toEqual([
      { what: "updated", kind: "templates", name: "T", fields: ["description"], depth: 0 },
      { what: "added", kind: "items", name: "CPU", fields: [], depth: 1 },
      { what: "removed", kind: "items", name: "Old", fields: [], depth: 1 },
      {
        what: "updated",
        kind: "discovery rules",
        name: "R",
        fields: ["delay", "filter"],
        depth: 1,
      },
      { what: "added", kind: "template groups", name: "Group", fields: [], depth: 0 },
    ]);
    expect(countChanges(changes)).toEqual({ added: 2, updated: 2, removed: 1 });
  });
});
