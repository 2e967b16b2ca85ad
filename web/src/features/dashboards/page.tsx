import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { dashboardsQuery } from "~/api/dashboards";
import { allows } from "~/api/session-store";
import { ListPage, NoRows } from "~/shared/list-page";
import { buttonClass } from "~/ui/button";
import { SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { useTyped } from "~/util/hooks";
import { includesAll } from "~/util/words";
import { texts } from "./texts";

const listRoute = getRouteApi("/inside/dashboards");

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
  const create = allows("edit_dashboards") && (
    <Link to="/dashboards/new" className={buttonClass("primary")}>
      <Icon name="plus" size={15} /> {texts.createDashboard}
    </Link>
  );
  return (
    <ListPage
      title={texts.dashboards}
      actions={create}
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
          <NoRows icon="graph" word={texts.dashboardWord} onClear={onClear} action={create}>
            {texts.dashboardsShow}
          </NoRows>
        ))}
    </ListPage>
  );
}
