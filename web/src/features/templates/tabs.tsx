import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { templateDashboardsQuery } from "~/api/dashboards";
import { explain } from "~/api/errors";
import { unlinkTemplate } from "~/api/host-changes";
import type { Template } from "~/api/templates";
import { Found } from "~/shared/fallback";
import { askUnlinking } from "~/shared/unlink";
import { Button, buttonClass } from "~/ui/button";
import { Card } from "~/ui/card";
import { Icon } from "~/ui/icon";
import { Sentence } from "~/ui/sentence";
import { Empty } from "~/ui/state";
import { toast } from "~/ui/toast";
import { texts } from "./texts";

/** The hosts that use a template. */
export function Hosts({ template, onLink }: { template: Template; onLink: () => void }) {
  const client = useQueryClient();
  const unlink = useMutation({
    mutationFn: ({ hostid, clear }: { hostid: string; clear: boolean }) =>
      unlinkTemplate(hostid, template.templateid, clear),
    onSuccess: () => toast(texts.wasUnlinked(template.name)),
    onError: (error) => toast(explain(error).what, "bad"),
    onSettled: () => client.invalidateQueries(),
  });
  const onUnlink = async (host: { hostid: string; name: string }) => {
    const clear = await askUnlinking(
      texts.unlinkFrom(host.name),
      <p>
        <Sentence
          text={texts.unlinkingFromAHost}
          places={{
            unlink: <b>{texts.unlink}</b>,
            unlinkAndClear: <b>{texts.unlinkAndClear}</b>,
          }}
        />
      </p>,
    );
    if (clear !== null) unlink.mutate({ hostid: host.hostid, clear });
  };
  if (template.hosts.length === 0) {
    return (
      <Card bodyClass="">
        <Empty
          icon="hosts"
          title={texts.noHostUsesThis}
          action={
            <Button look="primary" icon="link" onClick={onLink}>
              {texts.linkToHosts}
            </Button>
          }
        >
          {texts.linkedHostsGetIts}
        </Empty>
      </Card>
    );
  }
  return (
    <Card bodyClass="">
      <ul>
        {template.hosts.map((host) => (
          <li
            key={host.hostid}
            className="flex h-10 items-center gap-2 border-b px-4 last:border-0 hover:bg-hover"
          >
            <Link
              to="/hosts/$hostid"
              params={{ hostid: host.hostid }}
              className="flex-1 truncate font-medium hover:underline"
            >
              {host.name}
            </Link>
            <Button small look="quiet" icon="unlink" onClick={() => void onUnlink(host)}>
              {texts.unlinkAsk}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The dashboards of a template, which hosts below it have. */
export function Dashboards({ templateid }: { templateid: string }) {
  const query = useQuery(templateDashboardsQuery(templateid));
  const create = (
    <Link
      to="/templates/$templateid/dashboards/new"
      params={{ templateid }}
      className={buttonClass("primary")}
    >
      <Icon name="plus" size={15} /> {texts.createDashboard}
    </Link>
  );
  return (
    <Found query={query} gone={null}>
      {(dashboards) =>
        dashboards.length === 0 ? (
          <Card bodyClass="">
            <Empty icon="graph" title={texts.thisTemplateHasNoDashboards} action={create}>
              {texts.hostsShowDashboards}
            </Empty>
          </Card>
        ) : (
          <div className="flex flex-col items-start gap-3">
            {create}
            <Card className="w-full" bodyClass="">
              <ul className="py-1">
                {dashboards.map(({ dashboardid, name }) => (
                  <li key={dashboardid}>
                    <Link
                      to="/templates/$templateid/dashboards/$dashboardid/edit"
                      params={{ templateid, dashboardid }}
                      className="block truncate px-4 py-2 font-medium hover:underline"
                    >
                      {name}
                    </Link>
                  </li>
                ))}
              </ul>
            </Card>
          </div>
        )
      }
    </Found>
  );
}
