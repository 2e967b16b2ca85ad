// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => mockEstate({ hosts: 3, alerting: true });
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const type = (label: string | RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const dialog = async (name: string | RegExp) => within(await screen.findByRole("dialog", { name }));

/** Opens the menu of scripts of the first host. */
async function openMenu(api: ReturnType<typeof estate>, options = {}) {
  const host = api.tables["host.get"]?.[0];
  await openPage(api, `/hosts/${host?.hostid}`, options);
  fireEvent.click(await screen.findByRole("button", { name: "Run script…" }));
  await screen.findByRole("dialog", { name: `Run script on ${host?.name}` });
  return { hostid: host?.hostid ?? "", name: host?.name ?? "" };
}

test("the menu of a host has submenus, and a script shows its output", async () => {
  const api = estate();
  const { hostid, name } = await openMenu(api);
  const menu = await screen.findByRole("navigation", { name: "Scripts" });
  expect(within(menu).getByText("Network")).toBeTruthy();
  expect(within(menu).getByText("Routes")).toBeTruthy();
  expect(within(menu).queryByText("Open a ticket")).toBeNull();
  fireEvent.click(within(menu).getByRole("button", { name: /^Ping/ }));
  const result = await dialog(`Ping on ${name}`);
  await result.findByText("Succeeded in 12 ms");
  expect(result.getByRole("region", { name: "Output" }).textContent).toContain("ping -c 3");
  expect(api.callsOf("script.execute")).toEqual([{ scriptid: "1", hostid }]);
});

test("an input is checked, shown in the confirmation and sent", async () => {
  const api = estate();
  const { hostid, name } = await openMenu(api);
  fireEvent.click(await screen.findByRole("button", { name: /^Restart a service/ }));
  await screen.findByLabelText("Which service?");
  type("Which service?", "not one!");
  press("Continue");
  await screen.findByText("The input does not match ^[a-z]+$");
  type("Which service?", "redis");
  press("Continue");
  const question = await dialog(`Restart a service on ${name}`);
  await question.findByText("Restart redis on this host?");
  expect(api.callsOf("script.execute")).toEqual([]);
  press("Run");
  await question.findByText(/^Succeeded/);
  expect(api.callsOf("script.execute")).toEqual([{ scriptid: "3", hostid, manualinput: "redis" }]);
});

test("a failed script shows the error and no success", async () => {
  const api = estate();
  api.refuse("script.execute", {
    code: -32500,
    message: "Application error.",
    data: "Timeout while executing a shell script.",
  });
  await openMenu(api);
  fireEvent.click(await screen.findByRole("button", { name: /^Ping/ }));
  await screen.findByText("Timeout while executing a shell script.");
  screen.getByText(/^Failed after/);
  expect(screen.queryByText(/^Succeeded/)).toBeNull();
});

test("a problem has its own scripts, and an address opens as a link", async () => {
  const api = estate();
  const eventid = api.tables["problem.get"]?.[0]?.eventid ?? "";
  await openPage(api, `/problems?event=${eventid}`);
  const drawer = within(await screen.findByRole("complementary", { name: "Problem" }));
  fireEvent.click(await drawer.findByRole("button", { name: "Run script…" }));
  fireEvent.click(await screen.findByRole("button", { name: /^Runbook/ }));
  const link = await screen.findByRole("link", { name: "Open" });
  expect(link.getAttribute("href")).toBe("https://wiki.example.org/runbooks");
  press("All scripts");
  fireEvent.click(await screen.findByRole("button", { name: /^Open a ticket/ }));
  await screen.findByText("Succeeded in 12 ms");
  expect(api.callsOf("script.execute")).toEqual([{ scriptid: "4", eventid }]);
});

test("without permission no button offers scripts", async () => {
  const api = estate();
  const host = api.tables["host.get"]?.[0];
  await openPage(api, `/hosts/${host?.hostid}`, { denied: ["execute_scripts"] });
  await screen.findByRole("tablist");
  expect(screen.queryByRole("button", { name: /Run script/ })).toBeNull();
});

test("scripts that cannot be read are not said to be missing", async () => {
  const api = estate();
  api.refuse("script.getscriptsbyhosts", { code: -32500, message: "", data: "Database is down." });
  await openMenu(api);
  await screen.findByText("Database is down.");
  expect(screen.queryByText("No scripts here")).toBeNull();
});

test("the list shows kinds and who may run a script, and the form keeps the password", async () => {
  const api = estate();
  await openPage(api, "/scripts");
  const table = await screen.findByRole("grid", { name: "Scripts" });
  const row = within(table).getByRole("row", { name: /Restart a service/ });
  await waitFor(() => expect(row.textContent).toContain("On call on all hosts"));
  expect(row.textContent).toContain("SSH");
  fireEvent.click(
    within(row).getAllByRole("link", { name: "Restart a service" })[0] as HTMLElement,
  );
  await screen.findByRole("heading", { name: "Edit Restart a service" });
  type(/^Question/, "Restart which service?");
  press("Save script");
  await waitFor(() => expect(api.callsOf("script.update")).toHaveLength(1));
  const [params] = api.callsOf("script.update") as Record<string, unknown>[];
  expect(params).toMatchObject({
    scriptid: "3",
    type: "2",
    manualinput_prompt: "Restart which service?",
    host_access: "3",
  });
  expect(params).not.toHaveProperty("password");
  for (const call of api.callsOf("script.get"))
    expect((call as { output: string[] }).output).not.toContain("password");
});

test("the input of a script is tested before it is saved", async () => {
  await openPage(estate(), "/scripts/3/edit");
  fireEvent.click(await screen.findByRole("button", { name: "Test the input" }));
  const test = await dialog("Test the input");
  fireEvent.click(test.getByRole("button", { name: "Check" }));
  await test.findByText("The server would accept this input.");
  test.getByText("Restart nginx on this host?");
  fireEvent.change(test.getByLabelText("Which service?"), { target: { value: "7" } });
  fireEvent.click(test.getByRole("button", { name: "Check" }));
  await test.findByText("The server would refuse this input.");
});
