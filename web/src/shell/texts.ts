/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  main: "Main",
  vedette: "Vedette",
  widenTheSidebar: "Widen the sidebar",
  narrowTheSidebar: "Narrow the sidebar",
  find: "Find",
  findHostsItemsPages: "Find hosts, items, pages",
  findPlaceholder: "Find hosts, items, pages…",
  searching: "Searching",
  esc: "Esc",
  results: "Results",
  noMatchesSearchFor: "No matches. Search for a part of a host or item name.",
  menu: "Menu",
  skipToContent: "Skip to content",
  keyboardShortcuts: "Keyboard shortcuts",
  theServerDoesNot: "The server does not respond.",
  theme: "Theme",
  signOut: "Sign out",
  ctrl: "Ctrl",
  dataIsOld: (age: string, since: string) =>
    `The data on this page is ${age} old (${since}); states and durations may be wrong. The page retries automatically.`,
} as const;
