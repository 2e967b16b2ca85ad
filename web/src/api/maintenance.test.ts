import { QueryClient } from "@tanstack/react-query";
import { beforeEach, expect, test, vi } from "vitest";
import { rpcCount } from "./client";
import { maintenanceIds, maintenanceTotalQuery, maintenanceWindow } from "./maintenance";
import { answerWith } from "./mock/answer";

vi.mock("./live", () => ({ pollInterval: () => 5_000 }));
vi.mock("./client", () => ({ rpc: vi.fn(), rpcCount: vi.fn() }));
vi.mock("./session-store", () => ({ allows: () => true, session: () => null }));

const NAMES = ["backup", "network", "patches", "restart", "upgrade"];
const filter = { text: "a", states: ["active"], hostids: ["7"], groupids: [] } as const;
let asked: Record<string, unknown>[] = [];

/** A server with five maintenances that sorts by name, limits, and finds by id in its own order. */
beforeEach(() => {
  asked = [];
  vi.mocked(rpcCount).mockImplementation(async (_, params) => {
    asked.push(params as Record<string, unknown>);
    return NAMES.length;
  });
  answerWith(async (method, params) => {
    if (method === "apiinfo.timezone") return "Europe/Riga";
    const wanted = params as { maintenanceids?: string[]; limit?: number; offset?: number };
    asked.push(wanted as Record<string, unknown>);
    const rows = NAMES.map((name, id) => ({
      maintenanceid: String(id),
      name,
      maintenance_type: "0",
      timeperiods: [],
      tags: [],
    })).filter((row) => wanted.maintenanceids?.includes(row.maintenanceid) ?? true);
    return rows.slice(wanted.offset, (wanted.offset ?? 0) + (wanted.limit ?? rows.length));
  });
});

test("a window is limited and counted by the server", async () => {
  const client = new QueryClient();
  const rows = await maintenanceWindow(client, filter, 2, 2);
  expect(rows.map((row) => row.name)).toEqual(["patches", "restart"]);
  expect(await client.fetchQuery({ ...maintenanceTotalQuery(filter) })).toBe(5);
  const [window, count] = asked;
  expect(window).toMatchObject({ limit: 2, offset: 2 });
  expect(rows[0]?.zone).toBe("Europe/Riga");
  expect(count).toEqual({
    states: ["active"],
    hostids: ["7"],
    groupids: undefined,
    search: { name: "a" },
  });
  expect(window).toMatchObject(count ?? {});
});

test("only as many ids are read as can be selected", async () => {
  expect(await maintenanceIds({ states: ["ended"] }, 3)).toEqual(["0", "1", "2"]);
  expect(asked[0]).toMatchObject({
    output: ["maintenanceid"],
    states: ["ended"],
    limit: 3,
  });
});
