import type { MapElement, MapElementTag, MapLink, NetworkMap } from "~/api/maps";
import type { Members } from "~/api/methods";
import { MapElementType, MapLabelType } from "~/api/schema";
import { type SharedDraft, sharedDraft, sharedParams } from "~/util/shares";

/** An element while it is edited. */
export interface ElementDraft {
  /** Of a new element: a name that only the links of the call use. */
  selementid: string;
  elementtype: string;
  elements: MapElement["elements"];
  iconid_off: string;
  label: string;
  x: number;
  y: number;
  tags: MapElementTag[];
}

/** A link while it is edited. */
export interface LinkDraft {
  /** "": new. */
  linkid: string;
  selementid1: string;
  selementid2: string;
  drawtype: string;
  color: string;
  label: string;
  linktriggers: { triggerid: string; drawtype: string; color: string }[];
}

/** What is on a map: the part that can be undone. */
export interface Plane {
  elements: readonly ElementDraft[];
  links: readonly LinkDraft[];
}

export interface MapDraft extends Plane, SharedDraft {
  name: string;
  width: string;
  height: string;
  backgroundid: string;
  labelType: NetworkMap["label_type"];
  labelLocation: NetworkMap["label_location"];
  gridSize: NetworkMap["grid_size"];
}

const SIDE_MAX = 65_535;
const NEW_MAP = { width: "800", height: "600" };

/** The draft of a map, or of a new one. */
export function mapDraft(map: NetworkMap | null): MapDraft {
  return {
    name: map?.name ?? "",
    width: map?.width ?? NEW_MAP.width,
    height: map?.height ?? NEW_MAP.height,
    backgroundid: map?.backgroundid ?? "0",
    labelType: map?.label_type ?? MapLabelType.Name,
    labelLocation: map?.label_location ?? "0",
    gridSize: map?.grid_size ?? "50",
    ...sharedDraft(map),
    elements:
      map?.selements.map(({ x, y, ...element }) => ({
        selementid: element.selementid,
        elementtype: element.elementtype,
        elements: element.elements,
        iconid_off: element.iconid_off,
        label: element.label,
        x: Number(x),
        y: Number(y),
        tags: element.tags.map(({ tag, value, operator }) => ({ tag, value, operator })),
      })) ?? [],
    links:
      map?.links.map((link: MapLink) => ({
        linkid: link.linkid,
        selementid1: link.selementid1,
        selementid2: link.selementid2,
        drawtype: link.drawtype,
        color: link.color,
        label: link.label,
        linktriggers: link.linktriggers.map(({ triggerid, drawtype, color }) => ({
          triggerid,
          drawtype,
          color,
        })),
      })) ?? [],
  };
}

const isSide = (text: string) =>
  /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= SIDE_MAX;

/** What is wrong with a draft, by field. */
export function mapProblems(draft: MapDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  for (const side of ["width", "height"] as const)
    if (!isSide(draft[side])) problems[side] = `Enter a ${side} from 1 to ${SIDE_MAX}.`;
  const empty = draft.elements.some(
    ({ elementtype, elements }) => elementtype !== MapElementType.Image && elements.length === 0,
  );
  if (empty) problems.elements = "Choose what each element shows.";
  if (draft.elements.some(({ iconid_off }) => iconid_off === "0"))
    problems.elements ??= "Choose an icon for each element.";
  if (draft.links.some((link) => link.linktriggers.some(({ triggerid }) => triggerid === "")))
    problems.links = "Choose a trigger for each indicator.";
  return problems;
}

/** A draft without problems, as `map.create` and `map.update` take it. */
export function mapParams(draft: MapDraft, map: NetworkMap | null): Members<"map"> {
  return {
    name: draft.name.trim(),
    width: draft.width,
    height: draft.height,
    backgroundid: draft.backgroundid,
    label_type: draft.labelType,
    label_location: draft.labelLocation,
    grid_size: draft.gridSize,
    ...sharedParams(draft, map),
    selements: draft.elements.map(({ elements, ...element }) =>
      element.elementtype === MapElementType.Image ? element : { ...element, elements },
    ),
    links: draft.links.map(({ linkid, ...link }) => (linkid ? { linkid, ...link } : link)),
  };
}

/** A name for a new element that no other has. */
function newReference(elements: readonly ElementDraft[]): string {
  for (let n = 1; ; n++) {
    const reference = `new${n}`;
    if (elements.every(({ selementid }) => selementid !== reference)) return reference;
  }
}

/** The plane with one more element, and the id of that element. */
export function withElement(
  plane: Plane,
  element: Omit<ElementDraft, "selementid">,
): [Plane, string] {
  const selementid = newReference(plane.elements);
  return [{ ...plane, elements: [...plane.elements, { ...element, selementid }] }, selementid];
}

/** The plane without an element and its links. */
export function withoutElement(plane: Plane, id: string): Plane {
  return {
    elements: plane.elements.filter(({ selementid }) => selementid !== id),
    links: plane.links.filter(
      ({ selementid1, selementid2 }) => selementid1 !== id && selementid2 !== id,
    ),
  };
}

/** The plane with other members of an element. */
export function changed(plane: Plane, id: string, next: Partial<ElementDraft>): Plane {
  const elements = plane.elements.map((one) => (one.selementid === id ? { ...one, ...next } : one));
  return { ...plane, elements };
}

/** A place on the map, on the grid of this side. */
export function placed(x: number, y: number, grid: number, width: number, height: number) {
  const within = (value: number, side: number) =>
    Math.min(Math.max(0, Math.round(value / grid) * grid), Math.max(0, side - 1));
  return { x: within(x, width), y: within(y, height) };
}
