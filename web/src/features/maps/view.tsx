import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { mapFactsQuery } from "~/api/map-facts";
import { imagesQuery, type NetworkMap } from "~/api/maps";
import { Found } from "~/shared/fallback";
import { Drawing, type Picture } from "./drawing";

/** Images with their sizes, which only the browser knows. */
function usePictures(map: NetworkMap): ReadonlyMap<string, Picture> {
  const ids = useMemo(() => {
    const used = [map.backgroundid, ...map.selements.map((element) => element.iconid_off)];
    return [...new Set(used)].filter((id) => id !== "0").sort();
  }, [map]);
  const { data } = useQuery(imagesQuery(ids));
  const [pictures, setPictures] = useState<ReadonlyMap<string, Picture>>(new Map());
  useEffect(() => {
    let current = true;
    const read = async ([id, href]: readonly [string, string]) => {
      const image = new Image();
      image.src = href;
      await image.decode().catch(() => undefined);
      return [id, { href, width: image.naturalWidth, height: image.naturalHeight }] as const;
    };
    void Promise.all([...(data ?? [])].map(read)).then((read) => {
      if (current) setPictures(new Map(read.filter(([, picture]) => picture.width > 0)));
    });
    return () => {
      current = false;
    };
  }, [data]);
  return pictures;
}

/** The drawing of a map. */
export function MapView({ map }: { map: NetworkMap }) {
  const pictures = usePictures(map);
  const query = useQuery(mapFactsQuery(map.selements, map.links));
  return (
    <Found query={query} gone={null}>
      {(facts) => <Drawing map={map} facts={facts} pictures={pictures} />}
    </Found>
  );
}
