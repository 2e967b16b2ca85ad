import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect } from "react";
import {
  type Dashboard,
  dashboardQuery,
  editableDashboardQuery,
  type DashboardPage as PageOfDashboard,
} from "~/api/dashboards";
import { allows } from "~/api/session-store";
import { RangePicker } from "~/charts/range-picker";
import { Found, Gone } from "~/shared/fallback";
import { CRUMB, Page } from "~/shared/page";
import { HostPicker } from "~/shared/pickers";
import { Button, buttonClass, IconButton } from "~/ui/button";
import { Icon } from "~/ui/icon";
import { DEFAULT_RANGE } from "~/util/time";
import { type Scope, usesHost, usesTime } from "./scope";
import { useSlideShow } from "./slide-show";
import { texts } from "./texts";
import { PageGrid, PageTabs } from "./view";

const route = getRouteApi("/inside/dashboards/$dashboardid");
const ON: string = "1";

/** The scope of the dashboard and its page, which are in the address. */
function useAddress() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (next: Partial<typeof search>, replace = false) =>
    void navigate({ search: (old) => ({ ...old, ...next }), replace });
  const scope: Scope = {
    hostid: search.host,
    range: { from: search.from ?? DEFAULT_RANGE.from, to: search.to ?? DEFAULT_RANGE.to },
  };
  return { pageid: search.page, isKiosk: search.kiosk === ON, scope, set };
}
type Address = ReturnType<typeof useAddress>;

/** Escape leaves the kiosk mode, unless a dialog or a menu takes it. */
function useKioskEscape({ isKiosk, set }: Address) {
  useEffect(() => {
    if (!isKiosk) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      if (!document.querySelector("dialog[open]")) set({ kiosk: undefined }, true);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}

interface PartProps {
  dashboard: Dashboard;
  address: Address;
}

/** Host and time of the dashboard, if a widget follows them. */
function ScopeBar({ dashboard, address }: PartProps) {
  const { scope, set } = address;
  const host = usesHost(dashboard.pages) || scope.hostid !== undefined;
  const time = usesTime(dashboard.pages);
  if (!host && !time) return null;
  return (
    <div className="flex flex-wrap items-center justify-between gap-2">
      {host ? (
        <HostPicker
          values={scope.hostid ? [scope.hostid] : []}
          onChange={(ids) => set({ host: ids.at(-1) })}
        />
      ) : (
        <span />
      )}
      {time && <RangePicker range={scope.range} onChange={({ from, to }) => set({ from, to })} />}
    </div>
  );
}

interface ShowProps extends PartProps {
  page: PageOfDashboard;
  mayEdit: boolean;
}

/** The slide show, kiosk mode, and the way to the editor. */
function Buttons({ dashboard, page, address, mayEdit }: ShowProps) {
  const { dashboardid, pages } = dashboard;
  const { isKiosk, set } = address;
  const at = pages.indexOf(page);
  const seconds = Number(page.display_period) || Number(dashboard.display_period);
  const starts = dashboard.auto_start === ON && pages.length > 1;
  const show = useSlideShow(page.dashboard_pageid, seconds, starts, () =>
    set({ page: pages[(at + 1) % pages.length]?.dashboard_pageid }, true),
  );
  return (
    <>
      {pages.length > 1 && (
        <Button
          onClick={show.toggle}
          aria-pressed={show.isRunning}
          icon={show.isRunning ? "pause" : "play"}
        >
          {show.isRunning ? texts.pauseSlideShow : texts.startSlideShow}
        </Button>
      )}
      <IconButton
        icon="screen"
        label={isKiosk ? texts.leaveKiosk : texts.kiosk}
        onClick={() => set({ kiosk: isKiosk ? undefined : ON })}
      />
      {!isKiosk && allows("edit_dashboards") && (
        <Link to="/dashboards/new" search={{ clone: dashboardid }} className={buttonClass()}>
          <Icon name="copy" size={15} /> {texts.clone}
        </Link>
      )}
      {!isKiosk && mayEdit && <EditLink dashboardid={dashboardid} />}
    </>
  );
}

function EditLink({ dashboardid }: { dashboardid: string }) {
  return (
    <Link
      to="/dashboards/$dashboardid/edit"
      params={{ dashboardid }}
      className={buttonClass("primary")}
    >
      <Icon name="edit" size={15} /> {texts.edit}
    </Link>
  );
}

/** A dashboard with its widgets. */
export function DashboardPage() {
  const { dashboardid } = route.useParams();
  const address = useAddress();
  useKioskEscape(address);
  const query = useQuery(dashboardQuery(dashboardid));
  const editable = useQuery(editableDashboardQuery(dashboardid));
  const mayEdit = editable.data === true && allows("edit_dashboards");
  const { data: dashboard } = query;
  const page =
    dashboard?.pages.find((one) => one.dashboard_pageid === address.pageid) ?? dashboard?.pages[0];
  return (
    <Page
      title={dashboard?.name ?? texts.dashboard}
      heading={
        <>
          {!address.isKiosk && (
            <>
              <Link to="/dashboards" className={CRUMB}>
                {texts.dashboards}
              </Link>
              <span className="-mx-1 text-faint">/</span>
            </>
          )}
          <span className="truncate">{dashboard?.name ?? texts.dashboard}</span>
        </>
      }
      scroll
      actions={
        dashboard &&
        page && (
          <Buttons
            key={dashboardid}
            dashboard={dashboard}
            page={page}
            address={address}
            mayEdit={mayEdit}
          />
        )
      }
    >
      <Found query={query} gone={<Gone icon="graph" title={texts.thisDashboardDoesNot} />}>
        {(found) =>
          page && (
            <div className="flex flex-col gap-3">
              <PageTabs
                pages={found.pages}
                shown={page}
                onChange={(pageid) => address.set({ page: pageid })}
              />
              <ScopeBar dashboard={found} address={address} />
              <PageGrid
                key={page.dashboard_pageid}
                widgets={page.widgets}
                scope={address.scope}
                action={mayEdit && <EditLink dashboardid={dashboardid} />}
              />
            </div>
          )
        }
      </Found>
    </Page>
  );
}
