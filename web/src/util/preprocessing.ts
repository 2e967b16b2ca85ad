/** A parameter of a step. */
export interface StepParam {
  label: string;
  placeholder?: string;
  multiline?: boolean;
  choices?: readonly (readonly [value: string, label: string])[];
  optional?: boolean;
}

/** A kind of preprocessing step, by the API's number. Parameters are joined by line breaks. */
export interface StepKind {
  type: string;
  label: string;
  group: string;
  params: readonly StepParam[];
  /** Steps that cannot fail have no "custom on fail". */
  neverFails?: boolean;
}

const CHARACTERS: readonly StepParam[] = [{ label: "List of characters", placeholder: " \\n\\t" }];
const SNMP_FORMAT = [
  ["1", "UTF-8 from hex string"],
  ["2", "MAC from hex string"],
  ["3", "Integer from BITS"],
] as const;

export const STEP_KINDS: readonly StepKind[] = [
  {
    type: "5",
    label: "Regular expression",
    group: "Text",
    params: [
      { label: "Pattern", placeholder: "([0-9]+)" },
      { label: "Output", placeholder: "\\1" },
    ],
  },
  {
    type: "25",
    label: "Replace",
    group: "Text",
    params: [{ label: "Search" }, { label: "Replacement", optional: true }],
    neverFails: true,
  },
  { type: "4", label: "Trim", group: "Text", params: CHARACTERS, neverFails: true },
  { type: "2", label: "Right trim", group: "Text", params: CHARACTERS, neverFails: true },
  { type: "3", label: "Left trim", group: "Text", params: CHARACTERS, neverFails: true },
  {
    type: "11",
    label: "XML XPath",
    group: "Structured data",
    params: [{ label: "XPath", placeholder: "//disk/used" }],
  },
  {
    type: "12",
    label: "JSONPath",
    group: "Structured data",
    params: [{ label: "Path", placeholder: "$.path.to.node" }],
  },
  {
    type: "24",
    label: "CSV to JSON",
    group: "Structured data",
    params: [
      { label: "Delimiter", placeholder: "," },
      { label: "Quotation", placeholder: '"' },
      {
        label: "First row is the header",
        choices: [
          ["1", "Header row"],
          ["0", "No header row"],
        ],
      },
    ],
  },
  { type: "27", label: "XML to JSON", group: "Structured data", params: [] },
  {
    type: "28",
    label: "SNMP walk value",
    group: "SNMP",
    params: [{ label: "OID" }, { label: "Format", choices: [["0", "Unchanged"], ...SNMP_FORMAT] }],
  },
  {
    type: "29",
    label: "SNMP walk to JSON",
    group: "SNMP",
    params: [{ label: "Field, OID, format: one per line", multiline: true }],
  },
  {
    type: "30",
    label: "SNMP get value",
    group: "SNMP",
    params: [{ label: "Format", choices: SNMP_FORMAT }],
  },
  {
    type: "1",
    label: "Custom multiplier",
    group: "Arithmetic",
    params: [{ label: "Factor", placeholder: "8" }],
  },
  { type: "9", label: "Simple change", group: "Change", params: [] },
  { type: "10", label: "Change per second", group: "Change", params: [] },
  { type: "6", label: "Boolean to decimal", group: "Numeral systems", params: [] },
  { type: "7", label: "Octal to decimal", group: "Numeral systems", params: [] },
  { type: "8", label: "Hexadecimal to decimal", group: "Numeral systems", params: [] },
  {
    type: "21",
    label: "JavaScript",
    group: "Custom scripts",
    params: [
      { label: "Script: body of function (value)", multiline: true, placeholder: "return value;" },
    ],
    neverFails: true,
  },
  {
    type: "13",
    label: "In range",
    group: "Validation",
    params: [
      { label: "Minimum", optional: true },
      { label: "Maximum", optional: true },
    ],
  },
  {
    type: "14",
    label: "Matches regular expression",
    group: "Validation",
    params: [{ label: "Pattern" }],
  },
  {
    type: "15",
    label: "Does not match regular expression",
    group: "Validation",
    params: [{ label: "Pattern" }],
  },
  {
    type: "16",
    label: "Check for error in JSON",
    group: "Validation",
    params: [{ label: "Path", placeholder: "$.error" }],
  },
  {
    type: "17",
    label: "Check for error in XML",
    group: "Validation",
    params: [{ label: "XPath" }],
  },
  {
    type: "18",
    label: "Check for error using regular expression",
    group: "Validation",
    params: [{ label: "Pattern" }, { label: "Output", placeholder: "\\1" }],
  },
  {
    type: "26",
    label: "Check for not supported value",
    group: "Validation",
    params: [
      {
        label: "Scope",
        choices: [
          ["-1", "Any error"],
          ["0", "Error matches"],
          ["1", "Error does not match"],
        ],
      },
      { label: "Pattern", optional: true },
    ],
  },
  { type: "19", label: "Discard unchanged", group: "Throttling", params: [], neverFails: true },
  {
    type: "20",
    label: "Discard unchanged with heartbeat",
    group: "Throttling",
    params: [{ label: "Heartbeat", placeholder: "1h" }],
    neverFails: true,
  },
  {
    type: "22",
    label: "Prometheus pattern",
    group: "Prometheus",
    params: [
      { label: "Pattern", placeholder: 'metric{label="value"}' },
      {
        label: "Result",
        choices: [
          ["value", "Value"],
          ["label", "Label"],
          ["function", "Function"],
        ],
      },
      { label: "Label or function", optional: true },
    ],
  },
  {
    type: "23",
    label: "Prometheus to JSON",
    group: "Prometheus",
    params: [{ label: "Pattern", optional: true }],
  },
];

/** Kinds of steps that discovery rules may have. */
export const RULE_STEPS: ReadonlySet<string> = new Set(
  "5 11 12 14 15 16 17 20 21 23 24 25 27 28 29 30".split(" "),
);

export const ON_FAIL = [
  ["0", "Original error"],
  ["1", "Discard value"],
  ["2", "Set value to"],
  ["3", "Set error to"],
] as const;

export function stepKind(type: string): StepKind | undefined {
  return STEP_KINDS.find((kind) => kind.type === type);
}

/** The parameters of a step as the editor holds them: one text per box. */
export function splitParams(type: string, params: string): string[] {
  const kind = stepKind(type);
  if (!kind || kind.params.length === 0) return [];
  // A script or a list may hold line breaks of its own.
  if (kind.params.length === 1) return [params];
  const parts = params.split("\n");
  return kind.params.map((param, i) => parts[i] ?? param.choices?.[0]?.[0] ?? "");
}

/** The inverse of `splitParams`. */
export function joinParams(type: string, parts: readonly string[]): string {
  const kind = stepKind(type);
  if (!kind) return parts.join("\n");
  return kind.params.map((param, i) => parts[i] ?? param.choices?.[0]?.[0] ?? "").join("\n");
}

/** The empty parameters of a new step. */
export function newParams(type: string): string {
  return joinParams(type, []);
}
