import type { Facts } from "~/api/map-facts";
import type { MapElement, NetworkMap } from "~/api/maps";
import { MapElementType, MapLabelType } from "~/api/schema";
import { type ElementState, nameOf } from "./state";

/** Fields of the map with the label of each type of element. */
const FIELDS = {
  [MapElementType.Host]: ["label_type_host", "label_string_host"],
  [MapElementType.HostGroup]: ["label_type_hostgroup", "label_string_hostgroup"],
  [MapElementType.Trigger]: ["label_type_trigger", "label_string_trigger"],
  [MapElementType.Map]: ["label_type_map", "label_string_map"],
  [MapElementType.Image]: ["label_type_image", "label_string_image"],
} as const;

/** `label_format` of maps whose labels depend on the type of the element. */
const BY_TYPE: string = "1";

function expanded(text: string, element: MapElement, facts: Facts): string {
  const host = facts.hosts.get(element.elements[0]?.hostid ?? "");
  const values: Record<string, string | undefined> = {
    "{HOST.NAME}": host?.name,
    "{HOST.HOST}": host?.host,
    "{HOST.CONN}": host?.address,
    "{HOSTGROUP.NAME}": nameOf(element, facts),
    "{TRIGGER.NAME}": nameOf(element, facts),
    "{MAP.NAME}": nameOf(element, facts),
  };
  return text.replace(/\{[A-Z.]+\}/g, (macro) => values[macro] ?? macro);
}

/** Lines of the label of an element. */
export function labelOf(
  map: NetworkMap,
  element: MapElement,
  state: ElementState,
  facts: Facts,
): string[] {
  const fields = FIELDS[element.elementtype as keyof typeof FIELDS] ?? FIELDS[MapElementType.Image];
  const byType = map.label_format === BY_TYPE;
  const type: string = byType ? map[fields[0]] : map.label_type;
  const lines = (text: string) => expanded(text, element, facts).split(/\r?\n/);
  switch (type) {
    case MapLabelType.Label:
      return lines(element.label);
    case MapLabelType.Address:
      return [facts.hosts.get(element.elements[0]?.hostid ?? "")?.address ?? ""];
    case MapLabelType.Status:
      return [state.words];
    case MapLabelType.Nothing:
      return [];
    case MapLabelType.Custom:
      return lines(map[fields[1]]);
    default:
      return [nameOf(element, facts)];
  }
}
