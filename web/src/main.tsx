import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { probe } from "~/api/client";
import { startLive } from "~/api/live";
import { createClient } from "~/api/query-client";
import { session, subscribeSession } from "~/api/session-store";
import { refreshRights } from "~/api/users";
import { applyTheme, themeChoice } from "~/util/hooks";
import { router } from "./router";
import "./app.css";

const client = createClient();

// After an upgrade the files of an open page no longer exist: load the new page, but once, and
// only from a server that answers. Otherwise the browser would replace the app by its error page.
const RELOADED_KEY = "vedette.reloaded";
addEventListener("vite:preloadError", () => {
  const last = Number(sessionStorage.getItem(RELOADED_KEY) ?? 0);
  if (Date.now() - last < 60_000) return;
  fetch(location.pathname, { method: "HEAD", cache: "no-store" }).then(
    (answer) => {
      if (!answer.ok) return;
      sessionStorage.setItem(RELOADED_KEY, String(Date.now()));
      location.reload();
    },
    () => void probe(),
  );
});

startLive(client);
void refreshRights();
subscribeSession(() => {
  if (session()) return;
  client.clear();
  const here = router.state.location;
  if (here.pathname === "/login") return;
  const next = here.href === "/" ? undefined : here.href;
  void router.navigate({ to: "/login", search: { next } });
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
  applyTheme(themeChoice()),
);

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
