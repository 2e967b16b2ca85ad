import { useSyncExternalStore } from "react";
import type { WidgetContent } from "./draft";
import type { Size } from "./geometry";

/** A widget that was copied, for any dashboard in this browser. */
export interface CopiedWidget {
  content: WidgetContent;
  size: Size;
}

const KEY = "vedette.widget";
const listeners = new Set<() => void>();

export function copyWidget(copied: CopiedWidget): void {
  localStorage.setItem(KEY, JSON.stringify(copied));
  for (const listener of listeners) listener();
}

const isText = (value: unknown) => typeof value === "string";

/** The widget in a text of the store; null: there is none, or another version wrote it. */
export function parseCopied(text: string | null): CopiedWidget | null {
  try {
    const value = JSON.parse(text ?? "null") as CopiedWidget | null;
    const content = value?.content;
    const right =
      isText(content?.type) &&
      isText(content?.name) &&
      typeof content?.hideHeader === "boolean" &&
      Array.isArray(content.fields) &&
      content.fields.every((field) => [field?.type, field?.name, field?.value].every(isText)) &&
      Number.isInteger(value?.size?.width) &&
      Number.isInteger(value?.size?.height);
    return right ? value : null;
  } catch {
    return null;
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", listener);
  };
}

/** The widget that was copied last, in any tab; null: none. */
export const useCopiedWidget = (): CopiedWidget | null =>
  parseCopied(useSyncExternalStore(subscribe, () => localStorage.getItem(KEY)));
