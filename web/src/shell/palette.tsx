import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { hostSearchQuery } from "~/api/hosts";
import { hostItemSearchQuery } from "~/api/items";
import { templateSearchQuery } from "~/api/templates";
import { cx } from "~/ui/cx";
import { Icon, type IconName } from "~/ui/icon";
import { Kbd } from "~/ui/state";
import { isBehind, useSettled } from "~/util/hooks";
import { includesAll } from "~/util/words";
import { destinations } from "./nav";
import { texts } from "./texts";

/** Kinds of entries that are not searched for on the server. */
const PRESENT = ["Pages", "Actions"];

interface Entry {
  id: string;
  kind: string;
  label: string;
  note?: string;
  icon: IconName;
  go: () => void;
}

/** `settled`: the first entry is one of the text, not of an earlier one. */
function useEntries(text: string): { entries: Entry[]; busy: boolean; settled: boolean } {
  const navigate = useNavigate();
  const needle = useSettled(text.trim(), 120);
  const wanted = needle.length > 0;
  const hosts = useQuery({ ...hostSearchQuery(needle, 8), enabled: wanted });
  const items = useQuery({ ...hostItemSearchQuery(needle), enabled: needle.length > 1 });
  const templates = useQuery({ ...templateSearchQuery(needle), enabled: needle.length > 1 });
  const matches = (label: string) => includesAll(label, text);

  const pages: Entry[] = destinations()
    .flatMap((section) => section.pages)
    .map((page) => ({
      id: page.to,
      kind: "Pages",
      label: page.label,
      icon: page.icon,
      go: () => void navigate({ to: page.to }),
    }));
  pages.push(
    {
      id: "new-host",
      kind: "Actions",
      label: "Create host",
      icon: "plus",
      go: () => void navigate({ to: "/hosts/new" }),
    },
    {
      id: "new-maintenance",
      kind: "Actions",
      label: "Create maintenance",
      icon: "wrench",
      go: () => void navigate({ to: "/maintenance/new" }),
    },
    {
      id: "silenced",
      kind: "Actions",
      label: "Show silenced problems too",
      icon: "mute",
      go: () => void navigate({ to: "/problems", search: { suppressed: "yes" } }),
    },
    {
      id: "unacked",
      kind: "Actions",
      label: "Show unacknowledged problems",
      icon: "ack",
      go: () => void navigate({ to: "/problems", search: { ack: "no" } }),
    },
    {
      id: "not-supported",
      kind: "Actions",
      label: "Show not supported items",
      icon: "latest",
      go: () => void navigate({ to: "/latest", search: { state: "1" } }),
    },
    {
      id: "slow-hosts",
      kind: "Actions",
      label: "Show the slowest hosts",
      icon: "queue",
      go: () => void navigate({ to: "/queue", search: { by: "hosts" } }),
    },
    {
      id: "tokens",
      kind: "Actions",
      label: "Show API tokens",
      icon: "key",
      go: () => void navigate({ to: "/users", search: { tab: "tokens" } }),
    },
  );
  const entries = pages.filter((page) => matches(page.label));
  const searches = needle.length > 1 ? [hosts, items, templates] : [hosts];
  // Hosts come first: with one of them, the others may still be on their way.
  const decisive = hosts.data?.length ? [hosts] : searches;
  const settled = wanted
    ? !decisive.some((search) => isBehind(text.trim(), needle, search))
    : text.trim() === "";
  if (!wanted) return { entries, busy: false, settled };
  for (const host of hosts.data ?? []) {
    const go = () => void navigate({ to: "/hosts/$hostid", params: { hostid: host.hostid } });
    entries.push({ id: `h${host.hostid}`, kind: "Hosts", label: host.name, icon: "hosts", go });
  }
  for (const item of needle.length > 1 ? (items.data ?? []).slice(0, 8) : []) {
    const go = () => void navigate({ to: "/graph", search: { items: item.itemid } });
    const note = item.hosts[0]?.name;
    entries.push({
      id: `i${item.itemid}`,
      kind: "Items",
      label: item.name,
      note,
      icon: "graph",
      go,
    });
  }
  for (const template of needle.length > 1 ? (templates.data ?? []).slice(0, 5) : []) {
    const params = { templateid: template.templateid };
    const go = () => void navigate({ to: "/templates/$templateid", params });
    entries.push({
      id: `t${template.templateid}`,
      kind: "Templates",
      label: template.name,
      icon: "templates",
      go,
    });
  }
  return { entries, busy: searches.some((search) => search.isFetching), settled };
}

/** Finds pages, hosts, items and templates by typing. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const { entries, busy, settled } = useEntries(text);
  const current = Math.min(active, entries.length - 1);

  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    list.current?.querySelector(`[data-index="${current}"]`)?.scrollIntoView({ block: "nearest" });
  }, [current]);
  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    entry.go();
  };
  // Enter chooses the first entry of the text, which may still be on its way; pages are always there.
  const [entered, setEntered] = useState(false);
  const enter = useRef<() => void>(() => undefined);
  enter.current = () => choose(entries[current]);
  const found = settled && (entries.length > 0 || !busy);
  const ready = found || active > 0 || PRESENT.includes(entries[current]?.kind ?? "");
  useEffect(() => {
    if (!entered || !ready) return;
    setEntered(false);
    enter.current();
  }, [entered, ready]);

  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes natively
    <dialog
      ref={dialog}
      aria-label={texts.find}
      onCancel={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
      className="m-auto mt-[12vh] w-full max-w-xl overflow-hidden rounded-xl border bg-raised p-0 text-ink shadow-pop animate-rise"
    >
      <div className="flex items-center gap-2.5 border-b px-4">
        <Icon name="search" className="text-faint" />
        <input
          role="combobox"
          aria-label={texts.findHostsItemsPages}
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={entries[current] ? `palette-${entries[current].id}` : undefined}
          placeholder={texts.findPlaceholder}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setActive(0);
            setEntered(false);
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") setActive(Math.min(current + 1, entries.length - 1));
            else if (event.key === "ArrowUp") setActive(Math.max(current - 1, 0));
            else if (event.key === "Enter") setEntered(true);
            else return;
            event.preventDefault();
          }}
          className="h-12 flex-1 bg-transparent text-base outline-none"
        />
        {busy && <span className="text-xs text-faint animate-blink">{texts.searching}</span>}
        <Kbd>{texts.esc}</Kbd>
      </div>
      <div
        ref={list}
        id="palette-list"
        role="listbox"
        aria-label={texts.results}
        className="max-h-[50vh] overflow-auto p-2"
      >
        {entries.map((entry, i) => (
          <div key={entry.id}>
            {entry.kind !== entries[i - 1]?.kind && (
              <p className="px-2.5 pt-2 pb-1 text-2xs font-medium text-faint">{entry.kind}</p>
            )}
            <button
              type="button"
              role="option"
              id={`palette-${entry.id}`}
              data-index={i}
              tabIndex={-1}
              aria-selected={i === current}
              onMouseMove={() => setActive(i)}
              onClick={() => choose(entry)}
              className={cx(
                "flex h-9 w-full items-center gap-2.5 rounded-md px-2.5 text-left",
                i === current && "bg-accent-soft text-accent-ink",
              )}
            >
              <Icon name={entry.icon} className="text-faint" />
              <span className="truncate">{entry.label}</span>
              {entry.note && (
                <span className="ml-auto truncate pl-4 text-xs text-faint">{entry.note}</span>
              )}
            </button>
          </div>
        ))}
        {entries.length === 0 && !busy && (
          <p className="px-3 py-8 text-center text-soft">{texts.noMatchesSearchFor}</p>
        )}
      </div>
    </dialog>
  );
}
