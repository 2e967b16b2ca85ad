// Every form with an object, on a phone and a desktop, light and dark.

import { forms } from "../forms.mjs";
import { user } from "../lib.mjs";

export default async function () {
  await forms(user);
}
