// Web scenarios of a host.

import { plainHost } from "../prepare.mjs";
import { webScenario } from "../web.mjs";

export default async function () {
  const { host } = await plainHost();
  await webScenario(host);
}
