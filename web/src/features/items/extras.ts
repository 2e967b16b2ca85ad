import { pairsOf, pairsText } from "~/util/pairs";

/** A parameter that only some types of items have. */
export interface ExtraField {
  /** The API's name of it. */
  field: string;
  label: string;
  hint?: string;
  multiline?: boolean;
  choices?: readonly (readonly [value: string, label: string])[];
  required?: boolean;
  /** Lines of "name: value", which the API takes as a list. */
  pairs?: boolean;
  secret?: boolean;
}

const TIMEOUT: ExtraField = {
  field: "timeout",
  label: "Timeout",
  hint: "Such as 10s. Leave empty to use the global timeout.",
};
const USERNAME: ExtraField = { field: "username", label: "User name" };
const PASSWORD: ExtraField = { field: "password", label: "Password", secret: true };
const SCRIPT: ExtraField = {
  field: "params",
  label: "Script",
  multiline: true,
  required: true,
  hint: "Body of function (value). The value is a JSON string with the parameters.",
};
const BROWSER_SCRIPT: ExtraField = {
  ...SCRIPT,
  hint: "Body of function (value). The value is a JSON string with the parameters. Start a browser with new Browser(Browser.chromeOptions()).",
};
const PARAMETERS: ExtraField = {
  field: "parameters",
  label: "Parameters",
  pairs: true,
  multiline: true,
  hint: "One per line: name: value",
};
const COMMANDS: ExtraField = {
  field: "params",
  label: "Commands",
  multiline: true,
  required: true,
};

/** By type, in the order shown. */
export const EXTRAS: Record<string, readonly ExtraField[]> = {
  "0": [TIMEOUT],
  "2": [
    {
      field: "trapper_hosts",
      label: "Allowed hosts",
      hint: "IP addresses or DNS names, separated by commas. Leave empty to allow all.",
    },
  ],
  "3": [USERNAME, PASSWORD, TIMEOUT],
  "7": [TIMEOUT],
  "10": [TIMEOUT],
  "11": [
    USERNAME,
    PASSWORD,
    { field: "params", label: "SQL query", multiline: true, required: true },
    TIMEOUT,
  ],
  "12": [
    {
      field: "ipmi_sensor",
      label: "IPMI sensor",
      hint: "Sensor name, or name: with the full sensor name and entity. The key ipmi.get does not need a sensor.",
    },
  ],
  "13": [
    {
      field: "authtype",
      label: "Authentication",
      choices: [
        ["0", "Password"],
        ["1", "Public key"],
      ],
    },
    { ...USERNAME, required: true },
    { ...PASSWORD, hint: "Password of the user or passphrase of the key" },
    { field: "publickey", label: "Public key file" },
    { field: "privatekey", label: "Private key file" },
    COMMANDS,
    TIMEOUT,
  ],
  "14": [{ ...USERNAME, required: true }, PASSWORD, COMMANDS, TIMEOUT],
  "16": [{ field: "jmx_endpoint", label: "JMX endpoint" }, USERNAME, PASSWORD],
  "19": [
    {
      field: "request_method",
      label: "Method",
      choices: [
        ["0", "GET"],
        ["1", "POST"],
        ["2", "PUT"],
        ["3", "HEAD"],
      ],
    },
    {
      field: "retrieve_mode",
      label: "Retrieve mode",
      choices: [
        ["0", "Body"],
        ["1", "Headers"],
        ["2", "Body and headers"],
      ],
    },
    {
      field: "output_format",
      label: "Convert to JSON",
      choices: [
        ["0", "No"],
        ["1", "Yes"],
      ],
    },
    {
      field: "follow_redirects",
      label: "Follow redirects",
      choices: [
        ["1", "Yes"],
        ["0", "No"],
      ],
    },
    {
      field: "query_fields",
      label: "Query fields",
      pairs: true,
      multiline: true,
      hint: "One per line: name: value",
    },
    {
      field: "headers",
      label: "Headers",
      pairs: true,
      multiline: true,
      hint: "One per line: name: value",
    },
    {
      field: "post_type",
      label: "Request body type",
      choices: [
        ["0", "Raw"],
        ["2", "JSON"],
        ["3", "XML"],
      ],
    },
    { field: "posts", label: "Request body", multiline: true },
    { field: "status_codes", label: "Required status codes", hint: "Such as 200,201-299" },
    {
      field: "authtype",
      label: "Authentication",
      hint: "Kerberos uses a ticket of the server's machine instead of the user name and password.",
      choices: [
        ["0", "None"],
        ["1", "Basic"],
        ["2", "NTLM"],
        ["3", "Kerberos"],
        ["4", "Digest"],
      ],
    },
    USERNAME,
    PASSWORD,
    {
      field: "verify_peer",
      label: "Verify certificate",
      choices: [
        ["0", "No"],
        ["1", "Yes"],
      ],
    },
    {
      field: "verify_host",
      label: "Verify host name",
      choices: [
        ["0", "No"],
        ["1", "Yes"],
      ],
    },
    {
      field: "ssl_cert_file",
      label: "Certificate file",
      hint: "In the server's --ssl-cert-location",
    },
    { field: "ssl_key_file", label: "Key file", hint: "In the server's --ssl-key-location" },
    { field: "ssl_key_password", label: "Key password" },
    { field: "http_proxy", label: "HTTP proxy", hint: "Such as http://proxy:3128" },
    {
      field: "allow_traps",
      label: "Enable trapping",
      choices: [
        ["0", "No"],
        ["1", "Yes"],
      ],
    },
    {
      field: "trapper_hosts",
      label: "Allowed hosts",
      hint: "Addresses. Leave empty to allow all.",
    },
    TIMEOUT,
  ],
  "20": [TIMEOUT],
  "21": [PARAMETERS, SCRIPT, TIMEOUT],
  "22": [PARAMETERS, BROWSER_SCRIPT, TIMEOUT],
};

/** A list of names and values as lines; other values as text. */
export function extraText(value: unknown): string {
  if (!Array.isArray(value)) return value === undefined || value === null ? "" : String(value);
  return pairsText(value);
}

/** The extra parameters as the API takes them. Empty ones are sent only where they replace something. */
export function extraParams(
  type: string,
  extra: Readonly<Record<string, string>>,
  before: Readonly<Record<string, unknown>> | null,
): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  for (const { field, pairs, choices } of EXTRAS[type] ?? []) {
    const text = extra[field] ?? "";
    const old = extraText(before?.[field]);
    if (choices && text === "") continue;
    if (text === "" && old === "") continue;
    params[field] = pairs ? pairsOf(text) : text;
  }
  return params;
}
