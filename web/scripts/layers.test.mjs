import { expect, test } from "vitest";
import { refusal } from "./layers.mjs";

test.each([
  ["ui/table.tsx", "api/hosts", "src/ui must not import src/api"],
  ["shared/owner.tsx", "features/hosts", "src/shared must not import src/features"],
  ["features/hosts/page.tsx", "shell/nav", "src/features must not import src/shell"],
  ["features/hosts/page.tsx", "router", "src/features must not import src/router"],
  ["features/hosts/page.tsx", "features/items/form", 'import "~/features/items", not a file in it'],
  ["pages/hosts.tsx", "ui/table", "src/pages is not a folder of the layout"],
])("%s must not import %s", (file, target, why) => {
  expect(refusal(file, target)).toBe(why);
});

test.each([
  ["router.tsx", "features/hosts/page"],
  ["shell/nav.tsx", "shared/page"],
  ["tests/problems.test.tsx", "router"],
  ["features/hosts/page.tsx", "features/hosts/columns"],
  ["features/hosts/page.tsx", "features/items"],
  ["shared/forms/form-bar.tsx", "ui/button"],
  ["util/severity.ts", "api/schema"],
])("%s may import %s", (file, target) => {
  expect(refusal(file, target)).toBeUndefined();
});
