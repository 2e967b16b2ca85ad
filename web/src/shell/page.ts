import type { RouteComponent } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { lazyComponent } from "~/ui/lazy";

/** A page whose code is loaded when it is opened. */
export function page<K extends string>(
  // Not by the component's type, which depends on that of the routes.
  load: () => Promise<Record<K, unknown>>,
  name: K,
): RouteComponent {
  return lazyComponent(async () => (await load())[name] as ComponentType);
}
