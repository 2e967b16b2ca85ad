import { useState } from "react";
import type { ItemFilter } from "~/api/items";
import { mayConfigure } from "~/api/session-store";
import { Button } from "~/ui/button";
import { lazyComponent } from "~/ui/lazy";
import { texts } from "./texts";

/** The items to change: some by their ids, or all that match a filter. */
export type Selection = { ids: readonly string[] } | { filter: ItemFilter };

const Dialog = lazyComponent(async () => (await import("./dialog")).MassChangeDialog, {
  fallback: null,
});

interface MassChangeButtonProps {
  selection: Selection;
  count: number;
  /** The items are all of the list, not selected ones. */
  all: boolean;
  template?: boolean;
}

/** Opens the change of several items; nothing for users who may not configure them. */
export function MassChangeButton({ selection, count, all, template }: MassChangeButtonProps) {
  // The dialog keeps the items that it was opened for, whatever happens to the list.
  const [opened, setOpened] = useState<Selection | null>(null);
  if (!mayConfigure(template ? "templates" : "hosts")) return null;
  return (
    <>
      {count > 0 && (
        <Button icon="edit" onClick={() => setOpened(selection)}>
          {all ? texts.changeAll(count) : texts.changeSelected(count)}
        </Button>
      )}
      {opened && (
        <Dialog selection={opened} template={template ?? false} onClose={() => setOpened(null)} />
      )}
    </>
  );
}
