import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { graphPrototypesQuery } from "./item-config";
import { answerWith } from "./mock/answer";

vi.mock("./client", () => ({ rpc: vi.fn() }));

test("graph prototypes are read with their rule: the server has no graphprototype.get", async () => {
  const graphs = [{ graphid: "7", name: "Traffic" }];
  answerWith(async (method) => {
    if (method !== "discoveryrule.get") throw new Error(`unknown method ${method}`);
    return [{ itemid: "3", graphs }];
  });
  await expect(new QueryClient().fetchQuery(graphPrototypesQuery("3"))).resolves.toEqual(graphs);
});
