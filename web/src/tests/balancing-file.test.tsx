// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import type { BalancingImport } from "~/api/balancing-file";
import type { MockApi } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const CHANGES: BalancingImport = {
  objects: {
    pools: {
      updated: [{ before: { name: "app", algorithm: "random" }, after: { name: "app" } }],
      unchanged: ["api"],
    },
    virtual_services: { added: [{ after: { name: "shop" } }] },
  },
  services: [{ virtualserviceid: "8", name: "shop", enginegroupid: "2", change: "added" }],
  ignored: ["threads"],
};

/** Two engine groups without services. */
function estate(): MockApi {
  const api = mockEstate({ hosts: 3 });
  api.tables["enginegroup.get"] = [
    { enginegroupid: "1", name: "edge", description: "" },
    { enginegroupid: "2", name: "inside", description: "" },
  ];
  api.tables["vip.get"] = [];
  api.tables["pool.get"] = [];
  api.tables["poolgroup.get"] = [];
  api.tables["virtualservice.get"] = [];
  api.answers["loadbalancer.importcompare"] = () => CHANGES;
  api.answers["loadbalancer.import"] = () => CHANGES;
  return api;
}

const button = (name: string | RegExp) => screen.getByRole("button", { name });

async function chooseFile() {
  fireEvent.click(await screen.findByRole("button", { name: "Import" }));
  const file = new File(["virtual_services: []"], "lb.yaml");
  fireEvent.change(screen.getByLabelText("File to import"), { target: { files: [file] } });
}

test("an import shows what it changes, and is made with the choices", async () => {
  const api = estate();
  await openPage(api, "/balancing/services");
  await chooseFile();
  await screen.findByText("1 added");
  for (const text of [
    "1 changed",
    "algorithm",
    "1 object unchanged",
    "Engines get changes of: shop",
    "Only engines that run alone use: threads",
  ]) {
    expect(screen.getByText(text)).toBeTruthy();
  }
  fireEvent.change(screen.getByLabelText(/Engine group/), { target: { value: "2" } });
  fireEvent.click(screen.getByLabelText("Delete objects that are missing from the file"));
  await waitFor(() => expect(api.callsOf("loadbalancer.importcompare")).toHaveLength(3));
  await waitFor(() => expect(button("Import 2 changes")).toHaveProperty("disabled", false));
  fireEvent.click(button("Import 2 changes"));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  const rule = { createMissing: true, updateExisting: true, deleteMissing: true };
  expect(api.callsOf("loadbalancer.import")).toMatchObject([
    { source: "virtual_services: []", enginegroupid: "2", rules: { pools: rule } },
  ]);
});

test("a refused file shows the reason and cannot be imported", async () => {
  const api = estate();
  const data = 'Certificate "www": it is new.';
  api.refuse("loadbalancer.importcompare", { code: -32500, message: "Application error.", data });
  await openPage(api, "/balancing/services");
  await chooseFile();
  expect((await screen.findByRole("alert")).textContent).toContain("www");
  const buttons = screen.getAllByRole("button", { name: "Import" });
  expect(buttons.at(-1)).toHaveProperty("disabled", true);
});

test("an export is saved, and users who only read cannot import", async () => {
  const api = estate();
  const saved = vi.spyOn(URL, "createObjectURL").mockReturnValue("blob:x");
  api.answers["loadbalancer.export"] = () => ({
    source: "pools: []",
    left_out: [{ object: "certificate", name: "www", what: "private key" }],
  });
  await openPage(api, "/balancing/services", { type: 2 });
  fireEvent.click(await screen.findByRole("button", { name: "Export" }));
  await waitFor(() => expect(saved).toHaveBeenCalledTimes(1));
  expect(api.callsOf("loadbalancer.export")).toEqual([{}]);
  await screen.findByText(/1 detail not in the file/);
  expect(screen.queryByRole("button", { name: "Import" })).toBeNull();
});
