import { QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { cleanup, configure, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, vi } from "vitest";
import type { MockApi } from "~/api/mock/api";
import { createClient } from "~/api/query-client";
import { answered } from "~/api/reach";
import { beginSession, endSession } from "~/api/session-store";
import { createAppRouter } from "~/router";

/** Pixels of everything: without a size a virtual table has no rows on screen. */
const SIZE = { width: 1280, height: 720 };

/** Busy machines need longer than the default of a second. */
configure({ asyncUtilTimeout: 30_000 });

/** The canvas of charts does not exist here, and tests look at words. */
vi.mock("uplot", () => ({ default: class {} }));
vi.mock("~/charts/time-chart", () => ({ TimeChart: () => null }));
vi.mock("~/charts/sparkline", () => ({ Sparkline: () => null }));

beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(SIZE.height);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(SIZE.width);
});

let forget: () => void = () => undefined;

afterEach(() => {
  cleanup();
  forget();
  endSession("signed-out");
  answered();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

interface OpenOptions {
  /** 1 user, 2 admin, 3 super admin. */
  type?: number;
  /** What the role denies. */
  denied?: readonly string[];
}

/** Opens a page of the whole application as a signed-in user, with the mock as its server. */
export async function openPage(api: MockApi, path: string, { type = 3, denied }: OpenOptions = {}) {
  vi.stubGlobal("fetch", api.fetch);
  const who = { token: "t", userid: "1", username: "ann", displayName: "Ann", type, denied };
  beginSession(who, false);
  const client = createClient();
  forget = () => client.clear();
  const router = createAppRouter(createMemoryHistory({ initialEntries: [path] }));
  render(
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
  await screen.findByRole("main");
  return client;
}
