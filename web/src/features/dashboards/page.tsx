import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { dashboardQuery, dashboardsQuery } from "~/api/dashboards";
import { Found, Gone } from "~/shared/fallback";
import { ListPage, NoRows } from "~/shared/list-page";
import { Page } from "~/shared/page";
import { SearchBox } from "~/ui/field";
import { useTyped } from "~/util/hooks";
import { includesAll } from "~/util/words";
import { texts } from "./texts";
import { DashboardView } from "./view";

const listRoute = getRouteApi("/inside/dashboards");
const dashboardRoute = getRouteApi("/inside/dashboards/$dashboardid");

/** All dashboards that the user may see. */
export function DashboardsPage() {
  const search = listRoute.useSearch();
  const navigate = listRoute.useNavigate();
  const query = useQuery(dashboardsQuery());
  const [text, setText] = useTyped(search.text ?? "", (value) =>
    navigate({ search: { text: value || undefined }, replace: true }),
  );
  const needle = search.text ?? "";
  const rows = query.data?.filter((row) => includesAll(row.name, needle));
  const onClear = needle ? () => setText("") : undefined;
  return (
    <ListPage
      title={texts.dashboards}
      count={rows?.length}
      filters={
        <SearchBox
          label={texts.searchDashboards}
          value={text}
          onChange={setText}
          className="w-64"
        />
      }
      onClear={onClear}
      query={query}
    >
      {rows &&
        (rows.length > 0 ? (
          <ul className="h-full overflow-auto py-1">
            {rows.map(({ dashboardid, name }) => (
              <li key={dashboardid}>
                <Link
                  to="/dashboards/$dashboardid"
                  params={{ dashboardid }}
                  className="block truncate px-4 py-2 font-medium hover:underline"
                >
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        ) : (
          <NoRows icon="graph" word={texts.dashboardWord} onClear={onClear}>
            {texts.dashboardsShow}
          </NoRows>
        ))}
    </ListPage>
  );
}

/** A dashboard with its widgets. */
export function DashboardPage() {
  const { dashboardid } = dashboardRoute.useParams();
  const query = useQuery(dashboardQuery(dashboardid));
  return (
    <Page title={query.data?.name ?? texts.dashboard} scroll>
      <Found query={query} gone={<Gone icon="graph" title={texts.thisDashboardDoesNot} />}>
        {(dashboard) => <DashboardView key={dashboardid} pages={dashboard.pages} />}
      </Found>
    </Page>
  );
}
