// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => mockEstate({ hosts: 12, alerting: true });
const WHY = "Why was I (not) notified?";

async function opened(api: ReturnType<typeof estate>, type = 3) {
  const eventid = api.tables["problem.get"]?.[0]?.eventid ?? "";
  await openPage(api, `/problems?event=${eventid}`, { type });
  fireEvent.click(await screen.findByRole("button", { name: WHY }));
  return within(await screen.findByRole("region", { name: WHY }));
}

test("the problem says why a user is not notified", async () => {
  const api = estate();
  const why = await opened(api);
  await why.findByText(/^You get no messages\. The medium does not take severity/);
  const [working, unfit] = within(await why.findByRole("list", { name: "Actions" }))
    .getAllByRole("group")
    .map((action) => within(action));
  await waitFor(() => working?.getByText("Host group is Shop/Web"));
  expect(working?.getAllByText("Met")).toHaveLength(2);
  working?.getByText(/^Step 4, \d{4}-/);
  const users = working?.getAllByText(/^(You \(ann\)|bea|boris)$/).map((one) => one.textContent);
  expect(users).toEqual(["You (ann)", "boris", "bea"]);
  working?.getByText(/No read access to all hosts of the trigger/);
  working?.getByText("All users who were notified before.");
  expect(working?.queryByText(/another media type/)).toBeNull();
  const link = working?.getByRole("link", { name: "Edit action" });
  expect(link?.getAttribute("href")).toBe("/actions/1/edit");
  expect(unfit?.queryByText("Not met")).toBeNull();
  fireEvent.click(why.getByText("Disasters"));
  await waitFor(() => unfit?.getByText("Not met"));
  unfit?.getByText("Trigger severity is at least Disaster");
});

test("a user who may not view actions sees less, without errors", async () => {
  const api = estate();
  const answer = api.answers["event.explain"];
  api.answers["event.explain"] = async (params) => {
    const whole = await answer?.(params);
    if (!whole) throw new Error("no answer");
    const hidden = { name: "", conditions: [], alertids: [] };
    const actions = whole.actions.map((action) => ({ ...action, ...hidden }));
    return { ...whole, actions };
  };
  const why = await opened(api, 1);
  await why.findByText("You do not have permission to view the conditions.");
  expect(why.getAllByText(/An action that you may not view/).length).toBeGreaterThan(0);
  expect(why.queryByRole("link")).toBeNull();
  expect(why.queryByRole("alert")).toBeNull();
  for (const method of ["action.get", "mediatype.get"] as const)
    expect(api.callsOf(method)).toEqual([]);
});

test("without actions the problem says so", async () => {
  const api = estate();
  api.answers["event.explain"] = ({ eventid }) => ({ eventid, clock: "1", actions: [] });
  const why = await opened(api);
  await why.findByText("No actions");
  const link = why.getByRole("link", { name: "Create action" });
  expect(link.getAttribute("href")).toBe("/actions/new");
});

test("a refused explanation is an error, and asked for on demand", async () => {
  const api = estate();
  api.refuse("event.explain", DENIED);
  // The next step has recipients, which are unknown then.
  api.answers["escalation.get"] = () => [];
  const eventid = api.tables["problem.get"]?.[0]?.eventid ?? "";
  await openPage(api, `/problems?event=${eventid}`);
  const button = await screen.findByRole("button", { name: WHY });
  expect(button.getAttribute("aria-expanded")).toBe("false");
  expect(api.callsOf("event.explain")).toEqual([]);
  fireEvent.click(button);
  const why = within(await screen.findByRole("region", { name: WHY }));
  expect((await why.findByRole("alert")).textContent).toContain("No permissions");
});

test("an operation says who is on call, and gaps", async () => {
  const api = estate();
  const answer = api.answers["event.explain"];
  api.answers["event.explain"] = async (params) => {
    const whole = await answer?.(params);
    if (!whole) throw new Error("no answer");
    const oncall = [
      { scheduleid: "1", name: "Databases", userids: ["1"], gap: "0" },
      { scheduleid: "2", name: "Web shop", userids: [], gap: "1" },
    ];
    for (const { operations } of whole.actions)
      for (const operation of operations)
        if (operation.mode === "problem") operation.oncall = oncall;
    return whole;
  };
  const why = await opened(api);
  expect((await why.findAllByText("On call in Databases: ann")).length).toBeGreaterThan(0);
  expect(why.getAllByText("Nobody is on call in Web shop.").length).toBeGreaterThan(0);
});
