import { queryOptions } from "@tanstack/react-query";
import type { Pair } from "~/util/pairs";
import type { Tag } from "~/util/tags";
import { rpc } from "./client";
import type { Members } from "./methods";
import { ownedBy } from "./owners";
import type { WebScenario } from "./schema";

/** One request of a scenario. */
export interface WebStep {
  name: string;
  no: string;
  url: string;
  query_fields: Pair[];
  /** A text, or the fields of a form. */
  posts: string | Pair[];
  headers: Pair[];
  variables: Pair[];
  follow_redirects: string;
  /** 0 body, 1 headers, 2 both. */
  retrieve_mode: string;
  timeout: string;
  required: string;
  status_codes: string;
}

/** A web scenario with all that configures it. */
export interface WebScenarioDetail extends WebScenario {
  headers: Pair[];
  variables: Pair[];
  steps: WebStep[];
  tags: Tag[];
}

/** A line of the list. */
export interface WebScenarioRow {
  httptestid: string;
  name: string;
  delay: string;
  status: string;
  templateid: string;
  steps: Pick<WebStep, "name">[];
}

/** Scenarios of a host or template. */
export const webScenariosQuery = (ownerid: string, template: boolean) =>
  queryOptions({
    queryKey: ["webscenarios", ownerid],
    queryFn: ({ signal }) =>
      rpc(
        "httptest.get",
        {
          output: ["httptestid", "name", "delay", "status", "templateid"],
          ...ownedBy(ownerid, template),
          selectSteps: ["name"],
          sortfield: "name",
        },
        signal,
      ),
    meta: { live: "config" },
  });

export const webScenarioQuery = (httptestid: string) =>
  queryOptions({
    queryKey: ["webscenarios", "one", httptestid],
    queryFn: async ({ signal }) => {
      const rows = await rpc(
        "httptest.get",
        {
          output: "extend",
          selectSteps: "extend",
          selectTags: ["tag", "value"],
          httptestids: [httptestid],
        },
        signal,
      );
      return rows[0] ?? null;
    },
  });

/** Creates a scenario, or changes that of the id. */
export function saveWebScenario(
  id: string | null,
  scenario: Members<"httptest">,
): Promise<unknown> {
  return id
    ? rpc("httptest.update", { httptestid: id, ...scenario })
    : rpc("httptest.create", scenario);
}

export function deleteWebScenario(id: string): Promise<unknown> {
  return rpc("httptest.delete", [id]);
}
