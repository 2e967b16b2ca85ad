import { fieldOf, valuesOf, type Widget } from "~/api/dashboards";
import type { ProblemFilter, ProblemMode } from "~/api/problems";
import type { TagFilter } from "~/util/tags";
import { texts } from "./texts";

/** Types of widgets that show problems. */
type ProblemWidget = "problems" | "problemsbysv";

/** Fields that filters of both types apply, or that change nothing here. */
const APPLIED = [
  "groupids",
  "groupids._reference",
  "hostids",
  "hostids._reference",
  "override_hostid._reference",
  "severities",
  "problem",
  "evaltype",
  "tags",
  "show_suppressed",
  "rf_rate",
  "reference",
];
const APPLIED_BY: Record<ProblemWidget, readonly string[]> = {
  problems: [...APPLIED, "show", "acknowledgement_status", "unacknowledged", "show_lines"],
  problemsbysv: APPLIED,
};
/** Values of other fields that the widget shows. */
const SHOWN: Record<ProblemWidget, Readonly<Record<string, readonly string[]>>> = {
  problems: { sort_triggers: ["1", "4"], acknowledged_by_me: ["0"], show_symptoms: ["1"] },
  problemsbysv: { ext_ack: ["0", "1"], show_type: ["1"] },
};

/** `show` of a list of problems; recent problems are the default. */
const MODES: Readonly<Record<string, ProblemMode>> = { "2": "history", "3": "open" };
/** `acknowledgement_status` of a list of problems; all by default. */
const ACKNOWLEDGED: Readonly<Record<string, boolean>> = { "1": false, "2": true };
/** `sort_triggers`: severity, descending. */
const BY_SEVERITY = "1";
/** `evaltype`: one of the tags suffices. */
const ANY = "2";

const isTrue = (widget: Widget, name: string) => fieldOf(widget, name) === "1";

/** Fields `tags.0.tag`, `tags.0.operator` and `tags.0.value`. */
function tagsOf(widget: Widget): TagFilter[] {
  return widget.fields.flatMap(({ name, value: tag }) => {
    const start = /^(tags\.\d+)\.tag$/.exec(name)?.[1];
    if (start === undefined || tag === "") return [];
    const [operator, value] = [`${start}.operator`, `${start}.value`];
    return [{ tag, operator: Number(fieldOf(widget, operator)), value: fieldOf(widget, value) }];
  });
}

/** `acknowledgement_status`, `unacknowledged` of Zabbix 6.0, and `ext_ack` of counts. */
function acknowledgedOf(widget: Widget): boolean | undefined {
  if (widget.type === "problemsbysv") return isTrue(widget, "ext_ack") ? false : undefined;
  if (isTrue(widget, "unacknowledged")) return false;
  return ACKNOWLEDGED[fieldOf(widget, "acknowledgement_status")];
}

/** The problems that a widget shows; on the page of a host, those of the host. */
export function problemFilter(widget: Widget, hostid?: string): ProblemFilter {
  const isList = widget.type === "problems";
  return {
    mode: isList ? (MODES[fieldOf(widget, "show")] ?? "recent") : "open",
    groupids: valuesOf(widget, "groupids"),
    hostids: hostid === undefined ? valuesOf(widget, "hostids") : [hostid],
    severities: valuesOf(widget, "severities").map(Number),
    text: fieldOf(widget, "problem") || undefined,
    tags: tagsOf(widget),
    anyTag: fieldOf(widget, "evaltype") === ANY,
    acknowledged: acknowledgedOf(widget),
    suppressed: isTrue(widget, "show_suppressed") ? undefined : false,
    sort: isList && fieldOf(widget, "sort_triggers") === BY_SEVERITY ? "severity" : "time",
  };
}

/** Words for the settings of a problem widget that `problemFilter` does not apply. */
export function notApplied(widget: Widget): string[] {
  const type: ProblemWidget = widget.type === "problems" ? "problems" : "problemsbysv";
  const names = widget.fields
    .filter(({ name, value }) => {
      const base = /^(\w+)(\.\d+(\.\w+)?)?$/.exec(name)?.[1] ?? name;
      return !APPLIED_BY[type].includes(base) && !SHOWN[type][base]?.includes(value);
    })
    .map(({ name }) => name.replace(/\.\d.*$/, ""));
  return [...new Set(names)].map((name) => texts.settings[name] ?? name);
}
