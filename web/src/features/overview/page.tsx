import { Page } from "~/shared/page";
import { HostStates } from "./host-states";
import { LastChanges } from "./last-changes";
import { NewestProblems } from "./newest-problems";
import { SelfStats } from "./self-stats";
import { SeverityTiles } from "./severity-tiles";
import { Starts } from "./starts";
import { texts } from "./texts";

/** What goes on right now. */
export function OverviewPage() {
  return (
    <Page title={texts.overview} scroll>
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
