// Network discovery, its actions, and autoregistration.

import { discovery } from "../discovery.mjs";
import { base, go } from "../lib.mjs";

export default async function () {
  await go("/");
  await discovery("Vedette", new URL(base).port);
}
