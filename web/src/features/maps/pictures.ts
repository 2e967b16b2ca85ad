import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { imagesQuery } from "~/api/maps";

/** A picture and its size. */
export interface Picture {
  href: string;
  width: number;
  height: number;
}

/** Images by id, with their sizes, which only the browser knows. */
export function usePictures(imageids: readonly string[]): ReadonlyMap<string, Picture> {
  const key = [...new Set(imageids)]
    .filter((id) => id !== "0")
    .sort()
    .join();
  const ids = useMemo(() => (key ? key.split(",") : []), [key]);
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
