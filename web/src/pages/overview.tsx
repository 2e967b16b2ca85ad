import { Page } from "~/shell/page";
import { HostStates } from "./overview-parts/host-states";
import { LastChanges } from "./overview-parts/last-changes";
import { NewestProblems } from "./overview-parts/newest-problems";
import { SelfStats } from "./overview-parts/self-stats";
import { SeverityTiles } from "./overview-parts/severity-tiles";
import { Starts } from "./overview-parts/starts";

/** What goes on right now. */
export function OverviewPage() {
  return (
    <Page title="Overview" scroll>
      <div className="flex flex-col gap-4">
        <SeverityTiles />
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1.9fr)_minmax(0,1fr)]">
          <NewestProblems />
          <div className="flex flex-col gap-4">
            <HostStates />
            <Starts />
          </div>
        </div>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1.9fr)_minmax(0,1fr)]">
          <SelfStats />
          <LastChanges />
        </div>
      </div>
    </Page>
  );
}
