import { Outlet, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { Questions } from "~/ui/confirm";
import { Toasts } from "~/ui/toast";
import { DESTINATIONS, Nav } from "./nav";
import { Topbar } from "./topbar";

const Palette = lazy(() => import("./palette"));
const Shortcuts = lazy(() => import("./shortcuts"));

const NARROW_KEY = "vedette.nav";
type Overlay = "palette" | "shortcuts" | null;

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("input:not([type=checkbox]), textarea, select") !== null
  );
}

/** Keys that work everywhere: Ctrl-K, ?, / and "g" followed by a page's letter. */
function useGlobalKeys(setOverlay: (overlay: Overlay) => void) {
  const navigate = useNavigate();
  useEffect(() => {
    let going = false;
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setOverlay("palette");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      if (document.querySelector("dialog[open]")) return;
      if (going) {
        going = false;
        const page = DESTINATIONS.flatMap((s) => s.pages).find((p) => p.key === event.key);
        if (!page) return;
        event.preventDefault();
        event.stopPropagation();
        void navigate({ to: page.to });
      } else if (event.key === "g") {
        going = true;
        setTimeout(() => {
          going = false;
        }, 1200);
      } else if (event.key === "?") {
        event.preventDefault();
        setOverlay("shortcuts");
      } else if (event.key === "/") {
        event.preventDefault();
        document.querySelector<HTMLInputElement>("input[data-search]")?.focus();
      }
    };
    addEventListener("keydown", onKey, true);
    return () => removeEventListener("keydown", onKey, true);
  }, [navigate, setOverlay]);
}

/** Sidebar, top bar and the page. */
export function Shell() {
  const [narrow, setNarrow] = useState(() => localStorage.getItem(NARROW_KEY) === "narrow");
  const [overlay, setOverlay] = useState<Overlay>(null);
  useGlobalKeys(setOverlay);
  const close = () => setOverlay(null);
  return (
    <div className="flex h-full">
      <a
        href="#main"
        className="absolute -top-10 left-2 z-50 rounded-md bg-accent px-3 py-1.5 text-on-accent focus:top-2"
      >
        Skip to content
      </a>
      <Nav
        narrow={narrow}
        onNarrow={() => {
          localStorage.setItem(NARROW_KEY, narrow ? "wide" : "narrow");
          setNarrow(!narrow);
        }}
      />
      <div className="flex min-w-0 flex-1 flex-col">
        <Topbar
          onSearch={() => setOverlay("palette")}
          onShortcuts={() => setOverlay("shortcuts")}
        />
        <main id="main" tabIndex={-1} className="min-h-0 flex-1 outline-none">
          <Outlet />
        </main>
      </div>
      <Suspense>
        {overlay === "palette" && <Palette onClose={close} />}
        {overlay === "shortcuts" && <Shortcuts onClose={close} />}
      </Suspense>
      <Questions />
      <Toasts />
    </div>
  );
}
