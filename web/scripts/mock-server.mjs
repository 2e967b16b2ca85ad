// Answers the API in the dev server (`npm run dev:mock`) from src/api/mock, so that pages can be
// worked on without a server. MOCK names a state that is rare on a real one:
//   empty    no hosts        slow    each answer takes 3 seconds
//   refused  no permission   down    no answer

const SLOW_MS = 3_000;
const READS = ["problem.get", "event.get", "host.get", "item.get"];

/** The body of a request as text. */
async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

/** A plugin of the dev server. */
export function mockServer(state = process.env.MOCK ?? "") {
  let estate;
  return {
    name: "vedette-mock",
    configureServer(server) {
      const start = async () => {
        const { mockEstate } = await server.ssrLoadModule("/src/api/mock/estate.ts");
        const { DENIED } = await server.ssrLoadModule("/src/api/mock/api.ts");
        const api = mockEstate(
          state === "empty" ? { hosts: 0 } : { balancer: true, alerting: true },
        );
        if (state === "refused") for (const method of READS) api.refuse(method, DENIED);
        return api;
      };
      // There is no stream: pages poll.
      server.middlewares.use("/api/live", (_, response) => response.writeHead(404).end());
      server.middlewares.use("/api_jsonrpc.php", async (request, response) => {
        estate ??= start();
        const call = JSON.parse(await bodyOf(request));
        // Signing in works in every state.
        if (state === "down" && call.method !== "user.login") return response.writeHead(502).end();
        if (state === "slow") await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
        const answer = await (await estate).respond(call);
        response.writeHead(200, { "Content-Type": "application/json" });
        response.end(JSON.stringify(answer));
      });
    },
  };
}
