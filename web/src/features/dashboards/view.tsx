import { type ReactNode, useState } from "react";
import type { DashboardPage, Widget } from "~/api/dashboards";
import { RangePicker } from "~/charts/range-picker";
import { Card } from "~/ui/card";
import { Tabs } from "~/ui/segmented";
import { Empty } from "~/ui/state";
import { DEFAULT_RANGE } from "~/util/time";
import { ROW_HEIGHT } from "./editor/geometry";
import { type Scope, usesTime } from "./scope";
import { texts } from "./texts";
import { WidgetBody } from "./widgets";
import { kindName } from "./widgets/kinds";
import { DashboardSignals } from "./widgets/signals";

const WITHOUT_HEADER = "1";

function Place({ widget }: { widget: Widget }) {
  const [x, y, width, height] = [widget.x, widget.y, widget.width, widget.height].map(Number);
  const title = widget.name || kindName(widget.type);
  return (
    <div
      className="min-w-0 p-1 max-sm:!col-auto max-sm:!row-auto max-sm:px-0"
      style={{
        gridColumn: `${(x ?? 0) + 1} / span ${width}`,
        gridRow: `${(y ?? 0) + 1} / span ${height}`,
      }}
    >
      <Card
        title={widget.view_mode === WITHOUT_HEADER ? undefined : title}
        className="h-full"
        bodyClass="flex flex-col"
      >
        <section
          aria-label={title}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          className="flex min-h-0 flex-1 flex-col overflow-auto"
        >
          <WidgetBody widget={widget} />
        </section>
      </Card>
    </div>
  );
}

interface GridProps {
  widgets: readonly Widget[];
  scope: Scope;
  /** The host on whose page the dashboard is. */
  pageHost?: string;
  /** How to get the first widget. */
  action?: ReactNode;
}

/** The widgets of a page on its grid; on phones one below the other. */
export function PageGrid({ widgets, scope, pageHost, action }: GridProps) {
  if (widgets.length === 0) return <Empty icon="graph" title={texts.noWidgets} action={action} />;
  const inOrder = widgets.toSorted(
    (a, b) => Number(a.y) - Number(b.y) || Number(a.x) - Number(b.x),
  );
  return (
    <DashboardSignals scope={scope} pageHost={pageHost}>
      <div
        className="-m-1 grid max-sm:m-0 max-sm:flex max-sm:flex-col"
        style={{ gridTemplateColumns: "repeat(72, minmax(0, 1fr))", gridAutoRows: ROW_HEIGHT }}
      >
        {inOrder.map((widget) => (
          <Place key={widget.widgetid} widget={widget} />
        ))}
      </div>
    </DashboardSignals>
  );
}

interface TabsProps {
  pages: readonly DashboardPage[];
  shown: DashboardPage;
  onChange: (pageid: string) => void;
}

/** The names of pages; nothing if there is only one. */
export function PageTabs({ pages, shown, onChange }: TabsProps) {
  if (pages.length < 2) return null;
  return (
    <Tabs
      label={texts.pages}
      value={shown.dashboard_pageid}
      onChange={onChange}
      options={pages.map((one, n) => [one.dashboard_pageid, one.name || texts.page(n + 1)])}
    />
  );
}

interface ViewProps {
  pages: readonly DashboardPage[];
  hostid: string;
}

/** The pages of a dashboard of a host, one at a time, with a time for all of them. */
export function DashboardView({ pages, hostid }: ViewProps) {
  const [chosen, setChosen] = useState("");
  const [range, setRange] = useState(DEFAULT_RANGE);
  const page = pages.find((one) => one.dashboard_pageid === chosen) ?? pages[0];
  if (!page) return null;
  return (
    <div className="flex flex-col gap-3">
      <PageTabs pages={pages} shown={page} onChange={setChosen} />
      {usesTime(pages) && (
        <div className="flex justify-end">
          <RangePicker range={range} onChange={setRange} />
        </div>
      )}
      <PageGrid
        key={page.dashboard_pageid}
        widgets={page.widgets}
        scope={{ hostid, range }}
        pageHost={hostid}
      />
    </div>
  );
}
