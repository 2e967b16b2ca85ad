import { expect, test } from "vitest";
import { inputProblem, menuOf, openable } from "./scripts";

test("menu paths become menus in menus, sorted by name", () => {
  const menu = menuOf([
    { name: "Traceroute", menu_path: "Network/Tests" },
    { name: "Ping", menu_path: "/Network/Tests/" },
    { name: "Restart", menu_path: "" },
    { name: "Log", menu_path: "Application" },
  ]);
  expect(menu.scripts.map(({ name }) => name)).toEqual(["Restart"]);
  expect(menu.menus.map(({ name }) => name)).toEqual(["Application", "Network"]);
  const tests = menu.menus[1]?.menus[0];
  expect(tests?.name).toBe("Tests");
  expect(tests?.scripts.map(({ name }) => name)).toEqual(["Ping", "Traceroute"]);
});

test("an input is checked by its pattern or list", () => {
  const pattern = { manualinput_validator_type: "0", manualinput_validator: "^[0-9]+$" };
  expect(inputProblem(pattern, "12")).toBeUndefined();
  expect(inputProblem(pattern, "x")).toBe("The input does not match ^[0-9]+$");
  const list = { manualinput_validator_type: "1", manualinput_validator: "a, b" };
  expect(inputProblem(list, "b")).toBeUndefined();
  expect(inputProblem(list, "c")).toBe("Choose one of the values.");
  const foreign = { manualinput_validator_type: "0", manualinput_validator: "(?>a)" };
  expect(inputProblem(foreign, "b")).toBeUndefined();
});

test("addresses that would run in the page are not opened", () => {
  expect(openable("https://example.org/a")).toBe("https://example.org/a");
  expect(openable("/hosts")).toBe("/hosts");
  expect(openable("ssh://web-1")).toBe("ssh://web-1");
  for (const url of ["javascript:alert(1)", " java\nscript:alert(1)", "data:text/html,x", ""])
    expect(openable(url)).toBeUndefined();
});
