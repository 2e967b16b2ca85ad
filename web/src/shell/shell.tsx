import { Outlet, useLocation, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { session, subscribeSession } from "~/api/session-store";
import { NoPermission } from "~/shared/fallback";
import { Questions } from "~/ui/confirm";
import { lazyComponent } from "~/ui/lazy";
import { Toasts } from "~/ui/toast";
import { destinations, isDenied, Nav } from "./nav";
import { StaleBanner } from "./stale-banner";
import { texts } from "./texts";
import { Topbar } from "./topbar";

const OVERLAY = { fallback: null, noteClass: "fixed inset-x-4 top-4 z-50 mx-auto max-w-md" };
const Palette = lazyComponent(() => import("./palette").then((m) => m.default), OVERLAY);
const Shortcuts = lazyComponent(() => import("./shortcuts").then((m) => m.default), OVERLAY);

const NARROW_KEY = "vedette.nav";
/** How long after "g" the letter of a page counts. */
const GO_MS = 1200;
type Overlay = "palette" | "shortcuts" | "menu" | null;

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("input:not([type=checkbox]), textarea, select") !== null
  );
}

/** Moves keys of tables to the page's table when nothing else has the focus. */
function passToTable(event: KeyboardEvent): boolean {
  if (!["j", "k", "ArrowDown", "ArrowUp"].includes(event.key)) return false;
  const focused = document.activeElement;
  if (focused && focused !== document.body && focused.id !== "main") return false;
  const table = document.querySelector<HTMLElement>("main [role=grid]");
  if (!table) return false;
  table.focus();
  table.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, bubbles: true }));
  return true;
}

/** Keys that work everywhere: Ctrl-K, ?, / and "g" followed by a page's letter. */
function useGlobalKeys(setOverlay: (overlay: Overlay) => void) {
  const navigate = useNavigate();
  useEffect(() => {
    // When "g" was pressed: by the times of the keys, so that a busy page does not shorten the time.
    let goAt: number | undefined;
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setOverlay("palette");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      if (document.querySelector("dialog[open]")) return;
      const going = goAt !== undefined && event.timeStamp - goAt < GO_MS;
      goAt = undefined;
      if (going) {
        const page = destinations()
          .flatMap((s) => s.pages)
          .find((p) => p.key === event.key);
        if (!page) return;
        event.preventDefault();
        event.stopPropagation();
        void navigate({ to: page.to });
      } else if (event.key === "g") {
        goAt = event.timeStamp;
      } else if (event.key === "?") {
        event.preventDefault();
        setOverlay("shortcuts");
      } else if (event.key === "/") {
        event.preventDefault();
        document.querySelector<HTMLInputElement>("input[data-search]")?.focus();
      } else if (passToTable(event)) {
        event.preventDefault();
        event.stopPropagation();
      }
    };
    addEventListener("keydown", onKey, true);
    return () => removeEventListener("keydown", onKey, true);
  }, [navigate, setOverlay]);
}

/** The sidebar over the page, on phones. */
function Menu({ onClose }: { onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes natively
    <dialog
      ref={ref}
      aria-label={texts.menu}
      onCancel={onClose}
      // Also a click on a link closes it.
      onClick={onClose}
      className="m-0 h-full max-h-none w-64 max-w-[85vw] bg-surface p-0 text-ink shadow-pop open:flex"
    >
      <Nav className="w-full border-0" narrow={false} onNarrow={onClose} />
    </dialog>
  );
}

/** Sidebar, top bar and the page. */
export function Shell() {
  const [narrow, setNarrow] = useState(() => localStorage.getItem(NARROW_KEY) === "narrow");
  const [overlay, setOverlay] = useState<Overlay>(null);
  useGlobalKeys(setOverlay);
  // The menu follows the rights, which arrive after the page.
  useSyncExternalStore(subscribeSession, session);
  const { pathname } = useLocation();
  // Kiosk mode: the page alone, for screens on a wall.
  const isKiosk = useSearch({ strict: false }).kiosk === "1";
  const close = () => setOverlay(null);
  return (
    <div className="flex h-full">
      <a
        href="#main"
        className="absolute -top-10 left-2 z-50 rounded-md bg-accent px-3 py-1.5 text-on-accent focus:top-2"
      >
        {texts.skipToContent}
      </a>
      {!isKiosk && (
        <Nav
          className="max-md:hidden"
          narrow={narrow}
          onNarrow={() => {
            localStorage.setItem(NARROW_KEY, narrow ? "wide" : "narrow");
            setNarrow(!narrow);
          }}
        />
      )}
      <div className="flex min-w-0 flex-1 flex-col">
        {!isKiosk && (
          <Topbar
            onMenu={() => setOverlay("menu")}
            onSearch={() => setOverlay("palette")}
            onShortcuts={() => setOverlay("shortcuts")}
          />
        )}
        <StaleBanner />
        <main id="main" tabIndex={-1} className="min-h-0 flex-1 outline-none">
          {isDenied(pathname) ? <NoPermission /> : <Outlet />}
        </main>
      </div>
      {overlay === "menu" && <Menu onClose={close} />}
      {overlay === "palette" && <Palette onClose={close} />}
      {overlay === "shortcuts" && <Shortcuts onClose={close} />}
      <Questions />
      <Toasts />
    </div>
  );
}
