// @vitest-environment happy-dom
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

/** Pages with rows, the name of their table, and the method that reads it. */
const LISTS = [
  ["/hosts", "Hosts", "host.get"],
  ["/problems", "Problems", "problem.get"],
  ["/templates", "Templates", "template.get"],
] as const;

const rowsOf = async (name: string) =>
  within(await screen.findByRole("grid", { name }))
    .getAllByRole("row")
    .slice(1);

test.each(LISTS)("%s keeps its rows below one note with their age", async (path, name, method) => {
  const api = mockEstate({ hosts: 4 });
  const client = await openPage(api, path);
  await waitFor(async () => expect((await rowsOf(name)).length).toBeGreaterThan(0));
  api.refuse(method, DENIED);
  void client.refetchQueries();
  const notes = await screen.findAllByText(/^The data shown is .+ old \(/);
  expect(notes).toHaveLength(1);
  expect(screen.getByText(DENIED.data)).toBeTruthy();
  expect((await rowsOf(name)).length).toBeGreaterThan(0);
});

test.each(LISTS)("%s has only the banner while the server does not respond", async (path, name) => {
  const api = mockEstate({ hosts: 4 });
  const client = await openPage(api, path);
  await waitFor(async () => expect((await rowsOf(name)).length).toBeGreaterThan(0));
  api.down = true;
  void client.refetchQueries();
  expect(await screen.findByText("The server does not respond.")).toBeTruthy();
  await waitFor(() => {
    const failed = client.getQueryCache().findAll({ predicate: (q) => q.state.error !== null });
    expect(failed.length).toBeGreaterThan(0);
  });
  expect(screen.getAllByRole("alert")).toHaveLength(1);
  expect((await rowsOf(name)).length).toBeGreaterThan(0);
});
