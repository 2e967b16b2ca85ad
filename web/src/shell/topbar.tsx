import { useState, useSyncExternalStore } from "react";
import { type LiveState, liveState, subscribeLive } from "~/api/live";
import { session } from "~/api/session-store";
import { signOut } from "~/api/users";
import { IconButton } from "~/ui/button";
import { Icon, type IconName } from "~/ui/icon";
import { MenuItem, Popover } from "~/ui/popover";
import { Dot } from "~/ui/severity";
import { Kbd } from "~/ui/state";
import { applyTheme, type ThemeChoice, themeChoice } from "~/util/hooks";
import { zoneName } from "~/util/time";
import { texts } from "./texts";

const LIVE_WORDS: Record<LiveState, string> = {
  live: "Live",
  polling: "Every 5 s",
  offline: "Offline",
};

const LIVE_HINTS: Record<LiveState, string> = {
  live: "Changes appear immediately",
  polling: "The page polls for changes every 5 seconds",
  offline: "The server does not respond",
};

function LiveMark() {
  const state = useSyncExternalStore(subscribeLive, liveState);
  const hint = LIVE_HINTS[state];
  return (
    <span
      className="flex items-center gap-1.5 px-2 text-xs whitespace-nowrap text-soft"
      title={hint}
    >
      <Dot tone={state === "live" ? "good" : state === "offline" ? "bad" : "off"} />
      <span className="max-sm:sr-only">{LIVE_WORDS[state]}</span>
    </span>
  );
}

const THEMES: readonly (readonly [ThemeChoice, string, IconName])[] = [
  ["light", "Light", "sun"],
  ["dark", "Dark", "moon"],
  ["system", "System default", "screen"],
];

function ThemeMenu() {
  const [choice, setChoice] = useState(themeChoice);
  const icon = THEMES.find(([value]) => value === choice)?.[2] ?? "screen";
  return (
    <Popover
      align="right"
      className="min-w-44"
      trigger={({ open, toggle }) => (
        <IconButton icon={icon} label={texts.theme} aria-expanded={open} onClick={toggle} />
      )}
    >
      {(close) =>
        THEMES.map(([value, label, mark]) => (
          <MenuItem
            key={value}
            checked={value === choice}
            onClick={() => {
              applyTheme(value);
              setChoice(value);
              close();
            }}
          >
            <Icon name={mark} size={15} />
            {label}
          </MenuItem>
        ))
      }
    </Popover>
  );
}

function UserMenu() {
  const user = session();
  const initials = (user?.displayName ?? "?")
    .split(/\s+/)
    .map((word) => word[0])
    .slice(0, 2)
    .join("");
  return (
    <Popover
      align="right"
      trigger={({ open, toggle }) => (
        <button
          type="button"
          aria-label={texts.signedInAs(initials, user?.username ?? "")}
          aria-expanded={open}
          onClick={toggle}
          className="ml-1 flex size-7 items-center justify-center rounded-full bg-accent-soft text-2xs font-semibold text-accent-ink hover:opacity-80"
        >
          {initials}
        </button>
      )}
    >
      {() => (
        <>
          <div className="border-b px-2.5 pt-1.5 pb-2">
            <p className="truncate font-medium">{user?.displayName}</p>
            <p className="truncate text-xs text-faint">{user?.username}</p>
            <p className="truncate pt-1 text-xs text-faint">{texts.timesAreIn(zoneName())}</p>
          </div>
          <div className="pt-1">
            <MenuItem onClick={() => void signOut()}>
              <Icon name="out" size={15} />
              {texts.signOut}
            </MenuItem>
          </div>
        </>
      )}
    </Popover>
  );
}

interface TopbarProps {
  onMenu: () => void;
  onSearch: () => void;
  onShortcuts: () => void;
}

export function Topbar({ onMenu, onSearch, onShortcuts }: TopbarProps) {
  return (
    <div className="flex h-12 shrink-0 items-center justify-between gap-4 border-b bg-surface px-4 max-md:gap-2 max-md:px-2">
      <span className="md:hidden">
        <IconButton icon="menu" label={texts.menu} onClick={onMenu} />
      </span>
      <button
        type="button"
        onClick={onSearch}
        className="flex h-8 w-96 min-w-0 items-center gap-2 md:max-w-[40vw] rounded-md border bg-sunken px-2.5 text-sm text-faint hover:border-line-strong"
      >
        <Icon name="search" size={14} />
        <span className="flex-1 truncate text-left">{texts.findPlaceholder}</span>
        <span className="flex gap-1 max-md:hidden">
          <Kbd>{texts.ctrl}</Kbd>
          <Kbd>K</Kbd>
        </span>
      </button>
      <div className="flex items-center gap-0.5">
        <LiveMark />
        <span className="max-md:hidden">
          <IconButton icon="keyboard" label={texts.keyboardShortcuts} onClick={onShortcuts} />
        </span>
        <ThemeMenu />
        <UserMenu />
      </div>
    </div>
  );
}
