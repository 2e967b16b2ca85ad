/** Server-sent events of one response body: calls `take` with the name and the data of each. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  take: (name: string, data: string) => void,
): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      let name = "";
      const data: string[] = [];
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) name = line.slice(7);
        else if (line.startsWith("data: ")) data.push(line.slice(6));
      }
      // A block without a name is a comment that keeps the connection open.
      if (name) take(name, data.join("\n"));
    }
  }
}
