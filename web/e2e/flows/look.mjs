// Every page on a phone and a desktop, light and dark.

import { look } from "../look.mjs";
import { machine, muted, trouble } from "../prepare.mjs";

export default async function () {
  const host = await machine();
  await trouble();
  await muted();
  await look(host);
}
