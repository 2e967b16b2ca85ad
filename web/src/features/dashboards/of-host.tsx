import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type DashboardPage, hostDashboardsQuery } from "~/api/dashboards";
import { Found } from "~/shared/fallback";
import { Tabs } from "~/ui/segmented";
import { Empty } from "~/ui/state";
import { texts } from "./texts";
import { DashboardView } from "./view";

/** The dashboards that a host has from its templates. */
export function HostDashboards({ hostid }: { hostid: string }) {
  const query = useQuery(hostDashboardsQuery(hostid));
  return (
    <Found query={query} gone={null}>
      {(dashboards) => <Chosen dashboards={dashboards} hostid={hostid} />}
    </Found>
  );
}

interface Shown {
  dashboardid: string;
  name: string;
  pages: DashboardPage[];
}

function Chosen({ dashboards, hostid }: { dashboards: readonly Shown[]; hostid: string }) {
  const [chosen, setChosen] = useState("");
  const shown = dashboards.find((one) => one.dashboardid === chosen) ?? dashboards[0];
  if (!shown) {
    return (
      <Empty icon="graph" title={texts.noHostDashboards}>
        {texts.dashboardsComeWithTemplates}
      </Empty>
    );
  }
  return (
    <div className="flex flex-col gap-3">
      {dashboards.length > 1 && (
        <Tabs
          label={texts.ofHost}
          value={shown.dashboardid}
          onChange={setChosen}
          options={dashboards.map((one) => [one.dashboardid, one.name])}
        />
      )}
      <DashboardView key={shown.dashboardid} pages={shown.pages} hostid={hostid} />
    </div>
  );
}
