import { useMemo, useState } from "react";
import type { MenuScript } from "~/api/scripts";
import { SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { kindName, type Menu, menuOf } from "~/util/scripts";
import { includesAll } from "~/util/words";
import { texts } from "./texts";

/** Fewer scripts are in sight without a search. */
const SEARCHED = 8;

interface ListProps {
  menu: Menu<MenuScript>;
  /** Menus start open. */
  open: boolean;
  onChoose: (script: MenuScript) => void;
}

function Entries({ menu, open, onChoose }: ListProps) {
  return (
    <ul className="flex flex-col gap-0.5">
      {menu.menus.map((inner) => (
        <li key={`menu ${inner.name}`}>
          <details open={open} className="group">
            <summary className="flex min-h-9 cursor-pointer list-none items-center gap-2 rounded-md px-2 font-medium hover:bg-hover [&::-webkit-details-marker]:hidden">
              <Icon name="right" size={14} className="text-faint group-open:rotate-90" />
              {inner.name}
            </summary>
            <div className="ml-3.5 border-l pl-2">
              <Entries menu={inner} open={open} onChoose={onChoose} />
            </div>
          </details>
        </li>
      ))}
      {menu.scripts.map((script) => (
        <li key={script.scriptid}>
          <button
            type="button"
            title={script.description || undefined}
            onClick={() => onChoose(script)}
            className="flex min-h-9 w-full flex-wrap items-center gap-x-2 rounded-md px-2 py-1 text-left hover:bg-hover"
          >
            <Icon name="play" size={14} className="text-soft" />
            <span className="min-w-0 break-words">{script.name}</span>
            <span className="ml-auto text-xs text-soft">{kindName(script)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

interface ScriptMenuProps {
  scripts: readonly MenuScript[];
  onChoose: (script: MenuScript) => void;
}

/** Scripts by their menu paths; a search opens all menus. */
export function ScriptMenu({ scripts, onChoose }: ScriptMenuProps) {
  const [text, setText] = useState("");
  const found = useMemo(
    () => scripts.filter((one) => includesAll(`${one.menu_path} ${one.name}`, text)),
    [scripts, text],
  );
  const searched = scripts.length > SEARCHED;
  return (
    <div className="flex flex-col gap-2">
      {searched && (
        <SearchBox label={texts.searchScripts} value={text} onChange={setText} className="w-full" />
      )}
      {found.length === 0 && <p className="py-2 text-soft">{texts.noMatches}</p>}
      <nav aria-label={texts.scripts}>
        <Entries
          key={text ? "found" : "all"}
          menu={menuOf(found)}
          open={!searched || text !== ""}
          onChoose={onChoose}
        />
      </nav>
    </div>
  );
}
