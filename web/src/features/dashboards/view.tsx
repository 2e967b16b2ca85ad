import { useState } from "react";
import type { DashboardPage, Widget } from "~/api/dashboards";
import { Card } from "~/ui/card";
import { Tabs } from "~/ui/segmented";
import { Empty } from "~/ui/state";
import { texts } from "./texts";
import { WidgetBody } from "./widgets";
import { kindName } from "./widgets/kinds";
import { DashboardSignals } from "./widgets/signals";

/** Pixels of a row of the grid. */
const ROW_HEIGHT = 44;

function Place({ widget }: { widget: Widget }) {
  const [x, y, width, height] = [widget.x, widget.y, widget.width, widget.height].map(Number);
  const title = widget.name || kindName(widget.type);
  return (
    <div
      className="min-w-0 max-sm:!col-auto max-sm:!row-auto"
      style={{
        gridColumn: `${(x ?? 0) + 1} / span ${width}`,
        gridRow: `${(y ?? 0) + 1} / span ${height}`,
      }}
    >
      <Card title={title} className="h-full" bodyClass="flex flex-col">
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

interface ViewProps {
  pages: readonly DashboardPage[];
  /** The host whose problems the widgets show; undefined: those that their fields select. */
  hostid?: string;
}

/** The pages of a dashboard, one at a time. */
export function DashboardView({ pages, hostid }: ViewProps) {
  const [chosen, setChosen] = useState("");
  const page = pages.find((one) => one.dashboard_pageid === chosen) ?? pages[0];
  if (!page) return null;
  const widgets = page.widgets.toSorted(
    (a, b) => Number(a.y) - Number(b.y) || Number(a.x) - Number(b.x),
  );
  return (
    <div className="flex flex-col gap-3">
      {pages.length > 1 && (
        <Tabs
          label={texts.pages}
          value={page.dashboard_pageid}
          onChange={setChosen}
          options={pages.map((one, n) => [one.dashboard_pageid, one.name || texts.page(n + 1)])}
        />
      )}
      {widgets.length === 0 ? (
        <Empty icon="graph" title={texts.noWidgets} />
      ) : (
        <DashboardSignals key={page.dashboard_pageid} widgets={widgets} hostid={hostid}>
          <div
            className="grid gap-2 max-sm:flex max-sm:flex-col"
            style={{ gridTemplateColumns: "repeat(72, minmax(0, 1fr))", gridAutoRows: ROW_HEIGHT }}
          >
            {widgets.map((widget) => (
              <Place key={widget.widgetid} widget={widget} />
            ))}
          </div>
        </DashboardSignals>
      )}
    </div>
  );
}
