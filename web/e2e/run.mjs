// Runs one flow in a real Chromium: signs in, lets the flow prepare what it needs through the API, walks
// through pages, checks what is on them by role and label, and takes a picture of each step.
//
//   BASE_URL=http://127.0.0.1:8080 USER=Admin PASSWORD=… OUT=/tmp/pictures node e2e/run.mjs problems
//
// The flows are the files of e2e/flows. They need no order and may run at the same time, each with its
// own server or several with one (`silences`, `discovery` and `administration` look at all of a server).
// CHROMIUM names the browser (default /usr/bin/chromium), THEME is light or dark, HOST the visible
// name of a host with an agent (default: the first one that is not Vedette itself), ONLY runs the
// steps whose name contains it.

import { readdirSync } from "node:fs";
import { finish, signIn, step } from "./lib.mjs";

const FLOWS = readdirSync(new URL("flows", import.meta.url)).map((file) => file.slice(0, -4));
const name = process.argv[2];
if (!FLOWS.includes(name)) {
  console.error(`Name one of the flows: ${FLOWS.sort().join(", ")}`);
  process.exit(2);
}
const { default: flow } = await import(`./flows/${name}.mjs`);
await step("sign in", signIn);
try {
  await flow();
} catch (error) {
  await step("prepare", () => {
    throw error;
  });
}
await finish();
