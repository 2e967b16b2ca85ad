import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import type { Get, Ids, Many } from "./gets";
import { pollInterval } from "./live";
import type { Members } from "./methods";
import type * as schema from "./schema";

/** An element of a map: what it shows is named by its member of `elements`. */
export interface MapElement {
  selementid: string;
  /** See `MapElementType`. */
  elementtype: string;
  elements: {
    hostid?: string;
    sysmapid?: string;
    triggerid?: string;
    groupid?: string;
  }[];
  iconid_off: string;
  label: string;
  /** "-1": as the map has it. */
  label_location: string;
  x: string;
  y: string;
  tags: MapElementTag[];
  /** -1: the user may not read what it shows. */
  permission: number;
}

/** Selects the problems that an element shows. */
export interface MapElementTag {
  tag: string;
  value: string;
  operator: string;
}

/** Whom a map is shared with; `permission` "2": read, "3": change. */
interface SharedUser {
  userid: string;
  permission: "2" | "3";
}
interface SharedGroup {
  usrgrpid: string;
  permission: "2" | "3";
}

export interface MapLink {
  linkid: string;
  selementid1: string;
  selementid2: string;
  drawtype: string;
  color: string;
  label: string;
  linktriggers: { triggerid: string; drawtype: string; color: string }[];
}

export interface MapShape {
  sysmap_shapeid: string;
  /** "0": rectangle, "1": ellipse. */
  type: string;
  x: string;
  y: string;
  width: string;
  height: string;
  text: string;
  font_size: string;
  font_color: string;
  border_type: string;
  border_width: string;
  border_color: string;
  background_color: string;
  zindex: string;
}

export interface MapLine {
  sysmap_shapeid: string;
  x1: string;
  y1: string;
  x2: string;
  y2: string;
  line_type: string;
  line_width: string;
  line_color: string;
  zindex: string;
}

export interface MapGets {
  "image.get": Get<
    schema.Image & { image: string },
    unknown,
    { imageids?: Ids; select_image?: boolean }
  >;
  "map.get": Get<
    schema.NetworkMap,
    {
      selectSelements: Many<"selements", MapElement>;
      selectLinks: Many<"links", MapLink>;
      selectShapes: Many<"shapes", MapShape>;
      selectLines: Many<"lines", MapLine>;
      selectUsers: Many<"users", SharedUser>;
      selectUserGroups: Many<"userGroups", SharedGroup>;
    },
    { sysmapids?: Ids }
  >;
}

export const mapsQuery = () =>
  queryOptions({
    queryKey: ["maps"],
    queryFn: ({ signal }) =>
      rpc("map.get", { output: ["sysmapid", "name"], sortfield: "name" }, signal),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

export const mapQuery = (sysmapid: string) =>
  queryOptions({
    queryKey: ["maps", "one", sysmapid],
    queryFn: async ({ signal }) =>
      (
        await rpc(
          "map.get",
          {
            output: [
              "sysmapid",
              "name",
              "width",
              "height",
              "backgroundid",
              "label_type",
              "label_location",
              "label_format",
              "label_type_host",
              "label_type_hostgroup",
              "label_type_trigger",
              "label_type_map",
              "label_type_image",
              "label_string_host",
              "label_string_hostgroup",
              "label_string_trigger",
              "label_string_map",
              "label_string_image",
              "grid_size",
              "private",
            ],
            sysmapids: sysmapid,
            selectUsers: ["userid", "permission"],
            selectUserGroups: ["usrgrpid", "permission"],
            selectSelements: [
              "selementid",
              "elementtype",
              "elements",
              "iconid_off",
              "label",
              "label_location",
              "x",
              "y",
              "tags",
              "permission",
            ],
            selectLinks: "extend",
            selectShapes: "extend",
            selectLines: "extend",
          },
          signal,
        )
      )[0] ?? null,
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

export type NetworkMap = NonNullable<
  Awaited<ReturnType<NonNullable<ReturnType<typeof mapQuery>["queryFn"]>>>
>;

/** Types of images. */
export const ICON: string = "1";
export const BACKGROUND: string = "2";

/** All images without their content, by name. */
export const imageNamesQuery = () =>
  queryOptions({
    queryKey: ["images", "names"],
    queryFn: ({ signal }) =>
      rpc("image.get", { output: ["imageid", "name", "imagetype"], sortfield: "name" }, signal),
    meta: { live: "config" },
  });

/** Creates a map, or changes the one given; returns its id. */
export async function saveMap(sysmapid: string | null, map: Members<"map">): Promise<string> {
  const { sysmapids } = await (sysmapid
    ? rpc("map.update", { sysmapid, ...map })
    : rpc("map.create", map));
  return sysmapids[0] ?? "";
}

export function deleteMap(sysmapid: string): Promise<unknown> {
  return rpc("map.delete", [sysmapid]);
}

/** First signs of base64 by the type of the image. */
const TYPES = [
  ["iVBOR", "png"],
  ["/9j/", "jpeg"],
  ["R0lG", "gif"],
] as const;

/** Images as addresses, by id. */
export const imagesQuery = (imageids: readonly string[]) =>
  queryOptions({
    queryKey: ["images", imageids],
    queryFn: async ({ signal }) => {
      const rows = await rpc(
        "image.get",
        { output: ["imageid", "image"], imageids, select_image: true },
        signal,
      );
      return new Map(
        rows.flatMap(({ imageid, image }) => {
          const type = TYPES.find(([start]) => image.startsWith(start))?.[1];
          return type ? [[imageid, `data:image/${type};base64,${image}`] as const] : [];
        }),
      );
    },
    enabled: imageids.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    meta: { live: "config" },
  });
