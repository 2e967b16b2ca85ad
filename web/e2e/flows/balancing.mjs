// The load balancer: what a first service needs, the service itself, refusals at their fields, transactions.

import { balancing, transactions } from "../balancing.mjs";

export default async function () {
  await balancing();
  await transactions();
}
