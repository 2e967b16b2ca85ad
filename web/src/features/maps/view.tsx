import { useQuery } from "@tanstack/react-query";
import { mapFactsQuery } from "~/api/map-facts";
import type { NetworkMap } from "~/api/maps";
import { Found } from "~/shared/fallback";
import { Drawing } from "./drawing";
import { usePictures } from "./pictures";

/** The drawing of a map. */
export function MapView({ map }: { map: NetworkMap }) {
  const pictures = usePictures([
    map.backgroundid,
    ...map.selements.map((element) => element.iconid_off),
  ]);
  const query = useQuery(mapFactsQuery(map.selements, map.links));
  return (
    <Found query={query} gone={null}>
      {(facts) => <Drawing map={map} facts={facts} pictures={pictures} />}
    </Found>
  );
}
