import { expect, test, vi } from "vitest";
import { rpc } from "./client";

vi.mock("./session-store", () => ({ endSession: vi.fn(), sessionToken: () => "token" }));
vi.mock("./reach", () => ({ answered: vi.fn(), unanswered: vi.fn() }));

/** The compiler checks these calls (`npm run types`); nobody makes them. */
async function refused() {
  // @ts-expect-error: no such method
  await rpc("host.rename", {});
  // @ts-expect-error: no id
  await rpc("host.update", { status: "1" });
  // @ts-expect-error: no such value
  await rpc("host.update", { hostid: "1", status: "2" });
  // @ts-expect-error: no such member
  await rpc("trigger.update", { triggerid: "1", staus: "0" });
  // @ts-expect-error: ids are texts
  await rpc("host.delete", [1]);
  const { tokenids } = await rpc("token.create", { name: "build" });
  // @ts-expect-error: ids are texts
  tokenids[0] satisfies number | undefined;
  // @ts-expect-error: the result has tokenids
  (await rpc("token.create", { name: "build" })).hostids;
}
void refused;

test("a call sends the method and its parameters, and returns the result", async () => {
  const send = vi.fn(async (_path: string, _init: RequestInit) =>
    Response.json({ result: { hostids: ["1"] } }),
  );
  vi.stubGlobal("fetch", send);
  await expect(rpc("host.update", { hostid: "1", status: "1" })).resolves.toEqual({
    hostids: ["1"],
  });
  const body = JSON.parse(String(send.mock.calls[0]?.[1].body));
  expect(body).toMatchObject({ method: "host.update", params: { hostid: "1", status: "1" } });
  vi.unstubAllGlobals();
});
