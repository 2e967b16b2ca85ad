// The sign-in page, and the frame that all other pages are in.
import { createRootRoute, createRoute, redirect } from "@tanstack/react-router";
import { session } from "~/api/session-store";
import { page } from "~/shell/page";
import { Shell } from "~/shell/shell";
import { pickSearch } from "~/util/search";

export const root = createRootRoute();

export const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: (search) => pickSearch(search, ["next"]),
  component: page(() => import("~/features/sign-in/page"), "LoginPage"),
});

export const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  component: Shell,
  beforeLoad: ({ location }) => {
    if (session()) return;
    const next = location.href === "/" ? undefined : location.href;
    throw redirect({ to: "/login", search: { next } });
  },
});
