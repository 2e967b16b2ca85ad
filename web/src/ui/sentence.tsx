import { Fragment, type ReactNode } from "react";

/** The names of the places of a text: `"Open {page}."` has `page`. */
type Places<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Places<Rest>
  : never;

/**
 * A sentence of a catalog with elements, such as links, at its places: `{name}`. Translations can move
 * the places.
 */
export function Sentence<T extends string>({
  text,
  places,
}: {
  text: T;
  places: Readonly<Record<Places<T>, ReactNode>>;
}) {
  // Every other part is the name of a place.
  return text.split(/\{(\w+)\}/).map((part, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a fixed text
    <Fragment key={at}>{at % 2 ? (places as Record<string, ReactNode>)[part] : part}</Fragment>
  ));
}
