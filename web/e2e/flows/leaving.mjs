// Unsaved edits, Back and Cancel.

import { leaving } from "../leaving.mjs";
import { trouble } from "../prepare.mjs";

export default async function () {
  await trouble();
  await leaving();
}
