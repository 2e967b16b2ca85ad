/** Kinds of files by their endings. */
const TYPES = { yaml: "application/yaml", txt: "text/plain" };

/** Gives the reader a text as a file. */
export function download(name: string, text: string, ending: keyof typeof TYPES = "yaml"): void {
  const url = URL.createObjectURL(new Blob([text], { type: TYPES[ending] }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name.replaceAll(/[^\w.-]+/g, "_")}.${ending}`;
  link.click();
  URL.revokeObjectURL(url);
}
