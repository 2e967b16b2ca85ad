import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { mapQuery, mapsQuery } from "~/api/maps";
import { allows } from "~/api/session-store";
import { Found, Gone } from "~/shared/fallback";
import { ListPage, NoRows } from "~/shared/list-page";
import { Page } from "~/shared/page";
import { buttonClass } from "~/ui/button";
import { SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { useTyped } from "~/util/hooks";
import { includesAll } from "~/util/words";
import { texts } from "./texts";
import { MapView } from "./view";

const listRoute = getRouteApi("/inside/maps");
const mapRoute = getRouteApi("/inside/maps/$sysmapid");

/** All maps that the user may see. */
export function MapsPage() {
  const search = listRoute.useSearch();
  const navigate = listRoute.useNavigate();
  const query = useQuery(mapsQuery());
  const mayEdit = allows("edit_maps");
  const [text, setText] = useTyped(search.text ?? "", (value) =>
    navigate({ search: { text: value || undefined }, replace: true }),
  );
  const needle = search.text ?? "";
  const rows = query.data?.filter((row) => includesAll(row.name, needle));
  const onClear = needle ? () => setText("") : undefined;
  return (
    <ListPage
      title={texts.maps}
      actions={
        mayEdit && (
          <Link to="/maps/new" className={buttonClass("primary")}>
            <Icon name="plus" size={15} /> {texts.createMap}
          </Link>
        )
      }
      count={rows?.length}
      filters={
        <SearchBox label={texts.searchMaps} value={text} onChange={setText} className="w-64" />
      }
      onClear={onClear}
      query={query}
    >
      {rows &&
        (rows.length > 0 ? (
          <ul className="h-full overflow-auto py-1">
            {rows.map(({ sysmapid, name }) => (
              <li key={sysmapid}>
                <Link
                  to="/maps/$sysmapid"
                  params={{ sysmapid }}
                  className="block truncate px-4 py-2 font-medium hover:underline"
                >
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        ) : (
          <NoRows icon="tree" word={texts.mapWord} onClear={onClear}>
            {texts.mapsShow}
          </NoRows>
        ))}
    </ListPage>
  );
}

/** A map with the states of its elements. */
export function MapPage() {
  const { sysmapid } = mapRoute.useParams();
  const query = useQuery(mapQuery(sysmapid));
  const mayEdit = allows("edit_maps");
  return (
    <Page
      title={query.data?.name ?? texts.map}
      scroll
      actions={
        mayEdit &&
        query.data && (
          <Link to="/maps/$sysmapid/edit" params={{ sysmapid }} className={buttonClass()}>
            {texts.edit}
          </Link>
        )
      }
    >
      <Found query={query} gone={<Gone icon="tree" title={texts.thisMapDoesNot} />}>
        {(map) => <MapView key={map.sysmapid} map={map} />}
      </Found>
    </Page>
  );
}
