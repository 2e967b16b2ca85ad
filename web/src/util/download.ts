/** Gives the reader a text as a YAML file. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/yaml" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name.replaceAll(/[^\w.-]+/g, "_")}.yaml`;
  link.click();
  URL.revokeObjectURL(url);
}
