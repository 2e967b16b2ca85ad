// Silences and maintenance.

import { go } from "../lib.mjs";
import { maintenance } from "../maintenance.mjs";
import { trouble } from "../prepare.mjs";

export default async function () {
  const { host, problem } = await trouble();
  await go("/");
  await maintenance(host, problem);
}
