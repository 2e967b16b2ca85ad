// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { matrixOf } from "./overviews";

test("rows of the same name share a line, hosts without one have no cell", () => {
  const host = (n: number) => ({ hostid: String(n), name: `web ${n}` });
  const rows = [
    { name: "CPU", hosts: [host(10)], value: 1 },
    { name: "CPU", hosts: [host(2)], value: 2 },
    { name: "Disk", hosts: [host(2)], value: 3 },
  ];
  const matrix = matrixOf(
    rows,
    ({ name }) => name,
    ({ hosts }) => hosts,
  );
  expect(matrix.hosts.map(({ name }) => name)).toEqual(["web 2", "web 10"]);
  expect(matrix.names).toEqual(["CPU", "Disk"]);
  expect(matrix.at("2", "CPU")?.value).toBe(2);
  expect(matrix.at("10", "Disk")).toBeUndefined();
});
