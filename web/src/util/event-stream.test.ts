import { describe, expect, it } from "vitest";
import { readEvents } from "./event-stream";

function body(...pieces: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
}

describe("readEvents", () => {
  it("finds events however the body is cut", async () => {
    const text =
      'event: values\ndata: {"itemids":["1"]}\n\n:\n\nevent: problems\ndata: {}\n\nevent: con';
    const expected = [
      ["values", '{"itemids":["1"]}'],
      ["problems", "{}"],
    ];
    for (const pieces of [[text], [...text], [text.slice(0, 7), text.slice(7)]]) {
      const found: string[][] = [];
      await readEvents(body(...pieces), (name, data) => found.push([name, data]));
      expect(found).toEqual(expected);
    }
  });
});
