import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { explain } from "~/api/errors";
import { Status } from "~/api/schema";
import { saveWebScenario, type WebScenarioRow, webScenariosQuery } from "~/api/web-scenarios";
import { IconButton } from "~/ui/button";
import { Empty } from "~/ui/state";
import { toast } from "~/ui/toast";
import { CELL, CreateLink, PlainTable } from "./config-tables";
import { texts } from "./texts";

/** The web scenarios of a host or template. */
export function WebScenarios({ ownerid, template }: { ownerid: string; template: boolean }) {
  const query = useQuery(webScenariosQuery(ownerid, template));
  const toggle = useMutation({
    mutationFn: ({ httptestid, status }: WebScenarioRow) =>
      saveWebScenario(httptestid, {
        status: status === Status.Disabled ? Status.Enabled : Status.Disabled,
      }),
    onError: (error) => toast(explain(error).what, "bad"),
    onSettled: () => query.refetch(),
  });
  return (
    <div className="flex flex-col gap-3">
      <CreateLink to="/web/new" ownerid={ownerid} template={template}>
        {texts.createWebScenario}
      </CreateLink>
      <PlainTable<WebScenarioRow>
        query={query}
        head={[
          ["Name", ""],
          ["Steps", ""],
          ["Interval", "w-24"],
          ["State", "w-32"],
        ]}
        empty={
          <Empty icon="link" title={texts.noWebScenarios}>
            {texts.aWebScenarioRequests}
          </Empty>
        }
        row={(row) => (
          <tr key={row.httptestid} className="border-t hover:bg-hover">
            <td className={`${CELL} font-medium`}>
              <Link
                to="/web/$httptestid/edit"
                params={{ httptestid: row.httptestid }}
                className="hover:underline"
              >
                {row.name}
              </Link>
              {row.templateid !== "0" && (
                <span className="block text-xs font-normal text-faint">{texts.fromATemplate}</span>
              )}
            </td>
            <td className={`${CELL} text-soft`}>{row.steps.map((step) => step.name).join(", ")}</td>
            <td className={`${CELL} tabular text-soft`}>{row.delay}</td>
            <td className={CELL}>
              <span className="flex items-center justify-between gap-1">
                <span className={row.status === Status.Disabled ? "text-faint" : "text-soft"}>
                  {row.status === Status.Disabled ? texts.disabled : texts.enabled}
                </span>
                <IconButton
                  small
                  icon="power"
                  label={`${row.status === Status.Disabled ? texts.enable : texts.disable} ${row.name}`}
                  onClick={() => toggle.mutate(row)}
                />
              </span>
            </td>
          </tr>
        )}
      />
    </div>
  );
}
