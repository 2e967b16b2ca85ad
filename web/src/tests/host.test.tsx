// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED, type MockApi } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

/** A host of the estate with open problems. */
function troubled(api: MockApi): { hostid: string; name: string; problem: string } {
  const problem = api.tables["problem.get"]?.[0];
  const host = problem?.hosts?.[0];
  if (!host?.hostid || !host.name || !problem?.name) throw new Error("no problem in the estate");
  return { hostid: host.hostid, name: host.name, problem: problem.name };
}

test("the overview shows the host, its address and its open problems", async () => {
  const api = mockEstate({ hosts: 4 });
  const { hostid, name, problem } = troubled(api);
  await openPage(api, `/hosts/${hostid}`);
  expect(await screen.findByText(name, { selector: "h1 *" })).toBeTruthy();
  expect(await screen.findByText(problem)).toBeTruthy();
  await waitFor(() =>
    expect(screen.getByRole("tab", { name: /Latest data/ }).textContent).toContain("5"),
  );
});

test("a host without problems says so", async () => {
  const api = mockEstate({ hosts: 4 });
  const { hostid } = troubled(api);
  api.tables["problem.get"]?.splice(0);
  await openPage(api, `/hosts/${hostid}`);
  expect(await screen.findByText("No open problems on this host.")).toBeTruthy();
});

test("a host that is loading shows placeholders, not an empty page", async () => {
  const api = mockEstate({ hosts: 4 });
  api.hold();
  await openPage(api, `/hosts/${troubled(api).hostid}`);
  expect(await screen.findByRole("status", { name: "Loading" })).toBeTruthy();
  api.goOn();
  expect(await screen.findByText(troubled(api).name, { selector: "h1 *" })).toBeTruthy();
});

test("a host that does not exist, or that the user may not view, leads to all hosts", async () => {
  await openPage(mockEstate({ hosts: 4 }), "/hosts/77777");
  expect(await screen.findByText("This host does not exist")).toBeTruthy();
  expect(screen.getByRole("link", { name: "All hosts" }).getAttribute("href")).toBe("/hosts");
});

test("a refusal of the server is explained, and a retry shows the host", async () => {
  const api = mockEstate({ hosts: 4 });
  const { hostid, name } = troubled(api);
  api.refuse("host.get", DENIED);
  await openPage(api, `/hosts/${hostid}`);
  const note = await screen.findByRole("alert");
  expect(note.textContent).toContain("Ask an administrator.");
  api.allow("host.get");
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByText(name, { selector: "h1 *" })).toBeTruthy();
});

test("the page of a host stays while the server does not respond", async () => {
  const api = mockEstate({ hosts: 4 });
  const { hostid, name, problem } = troubled(api);
  const client = await openPage(api, `/hosts/${hostid}`);
  expect(await screen.findByText(problem)).toBeTruthy();
  api.down = true;
  await client.refetchQueries();
  expect(await screen.findByText("The server does not respond.")).toBeTruthy();
  expect(screen.getByText(name, { selector: "h1 *" })).toBeTruthy();
  expect(screen.getByText(problem)).toBeTruthy();
});

test("users who may not configure hosts have no button to edit one", async () => {
  const api = mockEstate({ hosts: 4 });
  const { hostid, problem } = troubled(api);
  await openPage(api, `/hosts/${hostid}`, { type: 1 });
  expect(await screen.findByText(problem)).toBeTruthy();
  await waitFor(() => expect(screen.queryByText(/Edit host/)).toBeNull());
});
