// The conditions and actions that rules can have: their members in the API, and their words.

interface ConditionKind {
  /** Member of `if`. */
  kind: string;
  label: string;
  /** Before the value in a sentence; of pairs before the name. */
  words: string;
  /** The condition has a name and a value. */
  pair?: boolean;
  example: string;
}

export const CONDITIONS: readonly ConditionKind[] = [
  { kind: "path_prefix", label: "Path starts with", words: "path starts with", example: "/api/" },
  { kind: "path", label: "Path is", words: "path is", example: "/status" },
  { kind: "host", label: "Host is", words: "host is", example: "www.example.com" },
  {
    kind: "host_suffix",
    label: "Host ends with",
    words: "host ends with",
    example: ".example.com",
  },
  { kind: "method", label: "Method is", words: "method is", example: "POST" },
  { kind: "header", label: "Header is", words: "header", pair: true, example: "X-Version" },
  {
    kind: "query",
    label: "Query parameter is",
    words: "query parameter",
    pair: true,
    example: "v",
  },
  { kind: "cookie", label: "Cookie is", words: "cookie", pair: true, example: "group" },
];

export const conditionKind = (kind: string) => CONDITIONS.find((one) => one.kind === kind);

/** What decides about a request, at most one in a rule; "": later rules do. */
export const VERDICTS = [
  ["pool", "Use a pool"],
  ["redirect", "Redirect"],
  ["deny", "Respond with a status"],
  ["respond", "Respond with a text"],
  ["script", "Run a script"],
  ["", "Continue with the next rule"],
] as const;

export type VerdictKind = (typeof VERDICTS)[number][0];

interface EditKind {
  /** Member of `then`. */
  kind: string;
  label: string;
  /** `{name}` and `{value}` are replaced. */
  words: string;
  /** Without it, the change has no name. */
  nameLabel?: string;
  /** Without it, the change has no value. */
  valueLabel?: string;
  example?: string;
  /** A rule has it once. */
  once?: boolean;
}

export const EDITS: readonly EditKind[] = [
  {
    kind: "set_header",
    label: "Set request header",
    words: "set request header {name} to {value}",
    nameLabel: "Header",
    valueLabel: "Value",
    example: "X-Edge",
  },
  {
    kind: "del_header",
    label: "Remove request header",
    words: "remove request header {name}",
    nameLabel: "Header",
    example: "X-Debug",
  },
  {
    kind: "set_response_header",
    label: "Set response header",
    words: "set response header {name} to {value}",
    nameLabel: "Header",
    valueLabel: "Value",
    example: "Cache-Control",
  },
  {
    kind: "del_response_header",
    label: "Remove response header",
    words: "remove response header {name}",
    nameLabel: "Header",
    example: "X-Powered-By",
  },
  {
    kind: "rewrite",
    label: "Replace start of path",
    words: "replace {name} at the start of the path with {value}",
    nameLabel: "Start of path",
    valueLabel: "New start",
    example: "/old/",
    once: true,
  },
  {
    kind: "authentication",
    label: "Set authentication",
    words: "set authentication to {name}",
    nameLabel: "Policy",
    example: "staff",
    once: true,
  },
  {
    kind: "no_compression",
    label: "Do not compress",
    words: "do not compress responses",
    once: true,
  },
  {
    kind: "no_cache",
    label: "Do not cache",
    words: "do not cache responses",
    once: true,
  },
];

export const editKind = (kind: string) => EDITS.find((one) => one.kind === kind);

export const REDIRECTS = [
  ["301", "301 Moved Permanently"],
  ["302", "302 Found"],
  ["303", "303 See Other"],
  ["307", "307 Temporary Redirect"],
  ["308", "308 Permanent Redirect"],
] as const;
