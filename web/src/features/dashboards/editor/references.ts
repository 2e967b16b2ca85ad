// Widgets read the selection of others through references: the one that gives has a field `reference`, the one
// that reads a field such as `hostids._reference` with the value `ABCDE._hostids`.

import { kindName } from "../widgets/kinds";
import { type Fields, fieldValue, TEXT_FIELD, withValue } from "./fields";
import { kindOf } from "./kinds";
import type { DataType, Options } from "./settings";

/** The dashboard itself, in place of a widget's reference. */
export const DASHBOARD = "DASHBOARD";
const DASHBOARD_GIVES: readonly DataType[] = ["_hostid", "_hostids", "_timeperiod"];
const REFERENCE = "reference";
const LETTERS = 5;
const ALPHABET = 26;
const FIRST_LETTER = 65;

interface Giving {
  type: string;
  name: string;
  fields: Fields;
}

const referenceIn = (widget: Giving) => fieldValue(widget.fields, REFERENCE) ?? "";

/** Five letters for the number of a reference: 0 is AAAAA. */
const letters = (number: number): string =>
  Array.from({ length: LETTERS }, (_, n) => Math.floor(number / ALPHABET ** n) % ALPHABET)
    .reverse()
    .map((letter) => String.fromCharCode(FIRST_LETTER + letter))
    .join("");

/** A reference that none of these widgets has. */
export function freshReference(widgets: readonly Giving[]): string {
  const used = new Set(widgets.map(referenceIn));
  let number = 0;
  while (used.has(letters(number))) number++;
  return letters(number);
}

/** The widget with a reference that is unique among `others`, if its kind gives anything. */
export function withFreshReference<W extends Giving>(widget: W, others: readonly Giving[]): W {
  const gives = kindOf(widget.type).gives.length > 0;
  const reference = gives ? freshReference(others) : undefined;
  return { ...widget, fields: withValue(widget.fields, REFERENCE, TEXT_FIELD, reference) };
}

/** The widgets of a page with a reference for each that gives something; `all` are those of the dashboard. */
export function withReferences<W extends Giving>(
  widgets: readonly W[],
  all: readonly Giving[],
): W[] {
  const known: Giving[] = [...all];
  return widgets.map((widget) => {
    if (kindOf(widget.type).gives.length === 0 || referenceIn(widget)) return widget;
    const next = withFreshReference(widget, known);
    known.push(next);
    return next;
  });
}

/** Where a setting can read this kind of data: references with words. */
export function sourcesOf(
  widgets: readonly Giving[],
  data: DataType,
  dashboard: string | null,
): Options {
  const own =
    dashboard !== null && DASHBOARD_GIVES.includes(data)
      ? [[`${DASHBOARD}.${data}`, dashboard] as const]
      : [];
  const others = widgets
    .filter((widget) => kindOf(widget.type).gives.includes(data) && referenceIn(widget))
    .map(
      (widget) => [`${referenceIn(widget)}.${data}`, widget.name || kindName(widget.type)] as const,
    );
  return [...own, ...others];
}
