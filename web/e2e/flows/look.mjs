// Every page on a phone and a desktop, light and dark.

import { look } from "../look.mjs";
import { machine, trouble } from "../prepare.mjs";

export default async function () {
  const host = await machine();
  await trouble();
  await look(host);
}
