// Pages and actions follow the rules of roles.

import { trouble } from "../prepare.mjs";
import { roles } from "../roles.mjs";

export default async function () {
  const { problem } = await trouble();
  await roles(problem);
}
