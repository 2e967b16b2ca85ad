/** Port in the documentation of the server's parameter --engines. */
const PORT = 10_061;
export const DATA = "/var/lib/vedette-engine";

/** Where this page comes from, which engines often reach too. */
export const usualController = (host: string) => `${host || "localhost"}:${PORT}`;

export const isController = (text: string) =>
  /^[^\s:/'"\\$`;&|<>()]+:\d{1,5}$|^\[[\da-fA-F:.]+\]:\d{1,5}$/.test(text);

/** Whether only this machine reaches the address. */
export const isLocal = (controller: string) => /^(localhost|127\.[\d.]+|\[::1\]):/.test(controller);

/** A word of a shell. */
const quoted = (text: string) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** What starts an engine for the first time. The token is in the environment: other users see flags. */
export const engineCommand = (token: string, controller: string, data: string) =>
  `VEDETTE_ENGINE_TOKEN=${quoted(token)} vedette engine --controller ${quoted(controller)} --data ${quoted(data)}`;
