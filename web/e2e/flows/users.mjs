// User groups, roles, users, passwords and API tokens.

import { users } from "../users.mjs";

export default async function () {
  await users();
}
