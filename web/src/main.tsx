import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "~/api/client";
import { startLive } from "~/api/live";
import { session, subscribeSession } from "~/api/session-store";
import { router } from "~/router";
import { applyTheme, themeChoice } from "~/util/hooks";
import "./app.css";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // Only a lost connection is worth asking again; a refusal stays a refusal.
      retry: (failures, error) => error instanceof ApiError && error.code === 0 && failures < 2,
      refetchOnWindowFocus: true,
    },
  },
});

// After an upgrade the files that an open page still wants are gone: take the new page, but once.
const RELOADED_KEY = "vedette.reloaded";
addEventListener("vite:preloadError", (event) => {
  const last = Number(sessionStorage.getItem(RELOADED_KEY) ?? 0);
  if (Date.now() - last < 60_000) return;
  sessionStorage.setItem(RELOADED_KEY, String(Date.now()));
  event.preventDefault();
  location.reload();
});

startLive(client);
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
