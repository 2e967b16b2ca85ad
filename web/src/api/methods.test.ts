import { expect, test, vi } from "vitest";
import { rpc } from "./client";

vi.mock("./session-store", () => ({ endSession: vi.fn(), sessionToken: () => "token" }));
vi.mock("./reach", () => ({ answered: vi.fn(), unanswered: vi.fn() }));

/** The compiler checks these calls (`npm run types`); nobody makes them. */
async function refused() {
  // @ts-expect-error: no such method
  await rpc("host.rename", {});
  // @ts-expect-error: the server does not have this method
  await rpc("nosuch.get", {});
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

/** The same for `get`: fields, selects and filters of the parameters, and the members of the rows. */
async function refusedReads() {
  // @ts-expect-error: no such field
  await rpc("host.get", { output: ["hostid", "hostname"] });
  // @ts-expect-error: no such select
  await rpc("host.get", { selectGroups: ["groupid"] });
  // @ts-expect-error: hosts have no such filter
  await rpc("host.get", { itemids: ["1"] });
  // @ts-expect-error: no such field to sort by
  await rpc("item.get", { sortfield: "title" });
  const [host] = await rpc("host.get", {
    output: ["hostid", "status"],
    selectInterfaces: ["ip"],
    selectItems: "count",
  });
  host?.status satisfies "0" | "1" | undefined;
  host?.interfaces satisfies { ip: string }[] | undefined;
  host?.items satisfies string | undefined;
  // @ts-expect-error: the name is not read
  host?.name;
  // @ts-expect-error: only the address of the interfaces is read
  host?.interfaces[0]?.port;
  // @ts-expect-error: tags are not selected
  host?.tags;
  const [item] = await rpc("item.get", { selectValueMap: ["mappings"] });
  // @ts-expect-error: an item without a value map has an empty list
  item?.valuemap.mappings;
}
void refusedReads;

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
