import { useState } from "react";
import type { ScriptTarget } from "~/api/scripts";
import { allows } from "~/api/session-store";
import { Button, IconButton } from "~/ui/button";
import { lazyComponent } from "~/ui/lazy";
import type { Column } from "~/ui/table";
import { texts } from "./texts";

/** Whether the user's role allows running scripts. */
export const mayRunScripts = () => allows("execute_scripts");

const Lazy = lazyComponent(async () => (await import("./dialog")).ScriptsDialog, {
  fallback: null,
});

/** The scripts of a host or a problem; their code is loaded when they are opened. */
export function Scripts(props: { target: ScriptTarget; name: string; onClose: () => void }) {
  return <Lazy {...props} />;
}

interface ScriptsButtonProps {
  target: ScriptTarget;
  /** The host or the problem. */
  name: string;
  small?: boolean;
}

/** Opens the scripts of a host or a problem. */
export function ScriptsButton({ target, name, small }: ScriptsButtonProps) {
  const [open, setOpen] = useState(false);
  if (!mayRunScripts()) return null;
  return (
    <>
      <Button icon="play" small={small} onClick={() => setOpen(true)}>
        {texts.runScript}
      </Button>
      {open && <Scripts target={target} name={name} onClose={() => setOpen(false)} />}
    </>
  );
}

/** The column of a list whose buttons open the scripts of a row. */
export function scriptsColumn<T>(nameOf: (row: T) => string, onOpen: (row: T) => void): Column<T> {
  return {
    id: "scripts",
    on: "wide",
    header: <span className="sr-only">{texts.scripts}</span>,
    width: "1.5rem",
    cell: (row) => (
      <IconButton
        small
        icon="play"
        label={texts.runScriptOn(nameOf(row))}
        onClick={(event) => {
          event.stopPropagation();
          onOpen(row);
        }}
      />
    ),
  };
}
