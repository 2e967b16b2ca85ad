import { getRouteApi } from "@tanstack/react-router";
import { mapQuery } from "~/api/maps";
import { Found, Gone } from "~/shared/fallback";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { MapForm } from "./form";
import { texts } from "./texts";

const editRoute = getRouteApi("/inside/maps/$sysmapid/edit");

export function MapNewPage() {
  return (
    <Page title={texts.createMap} scroll>
      <MapForm map={null} />
    </Page>
  );
}

export function MapEditPage() {
  const { sysmapid } = editRoute.useParams();
  const query = useFresh(mapQuery(sysmapid));
  return (
    <Page title={query.data ? texts.editName(query.data.name) : texts.editMap} scroll>
      <Found query={query} gone={<Gone icon="tree" title={texts.thisMapDoesNot} />}>
        {(map) => <MapForm key={map.sysmapid} map={map} />}
      </Found>
    </Page>
  );
}
