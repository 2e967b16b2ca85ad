import { expect, it } from "vitest";
import { rulesIn } from "./passwords";

it.each([
  [0, []],
  [8, ["Nothing easily guessed"]],
  [3, ["Upper and lower case letters", "Digits"]],
])("rules in %s", (sum, names) => expect(rulesIn(sum)).toEqual(names));
