import { expect, test } from "vitest";
import { LiveHub, type ToPage } from "./live-hub";

function rig() {
  const streams: {
    token: string;
    open: boolean;
    onEvent: (name: string, data: string) => void;
    onState: (live: boolean) => void;
  }[] = [];
  const time = { now: 0 };
  const hub = new LiveHub(
    (token, onEvent, onState) => {
      const stream = { token, open: true, onEvent, onState };
      streams.push(stream);
      return () => {
        stream.open = false;
      };
    },
    () => time.now,
  );
  const page = () => {
    const got: ToPage[] = [];
    return { got, postMessage: (message: ToPage) => void got.push(message) };
  };
  const open = () => streams.filter((stream) => stream.open).length;
  return { hub, streams, time, page, open };
}

test("twenty pages share one stream, and each receives its events", () => {
  const { hub, streams, page, open } = rig();
  const pages = Array.from({ length: 20 }, page);
  for (const one of pages) hub.receive(one, { kind: "follow", token: "a" });
  expect(open()).toBe(1);
  streams[0]?.onState(true);
  streams[0]?.onEvent("problems", "{}");
  for (const one of pages) {
    expect(one.got.slice(-2)).toEqual([
      { kind: "state", live: true },
      { kind: "event", name: "problems", data: "{}" },
    ]);
  }
});

test("a page that joins a running stream learns that it is live", () => {
  const { hub, streams, page } = rig();
  hub.receive(page(), { kind: "follow", token: "a" });
  streams[0]?.onState(true);
  const late = page();
  hub.receive(late, { kind: "follow", token: "a" });
  hub.receive(late, { kind: "follow", token: "a" });
  expect(late.got).toEqual([{ kind: "state", live: true }]);
});

test("the stream closes when the last page is hidden", () => {
  const { hub, page, open } = rig();
  const [one, other] = [page(), page()];
  hub.receive(one, { kind: "follow", token: "a" });
  hub.receive(other, { kind: "follow", token: "a" });
  hub.receive(one, { kind: "leave" });
  expect(open()).toBe(1);
  hub.receive(other, { kind: "leave" });
  expect(open()).toBe(0);
  hub.receive(one, { kind: "follow", token: "a" });
  expect(open()).toBe(1);
});

test("sessions do not share a stream, and a new session closes the old one's", () => {
  const { hub, streams, page, open } = rig();
  const [one, other] = [page(), page()];
  hub.receive(one, { kind: "follow", token: "a" });
  hub.receive(other, { kind: "follow", token: "b" });
  expect(open()).toBe(2);
  streams[0]?.onEvent("config", "{}");
  expect(other.got).toEqual([{ kind: "state", live: false }]);
  hub.receive(one, { kind: "follow", token: "b" });
  expect(streams.map((stream) => stream.open)).toEqual([false, true]);
});

test("a page that crashed loses its place", () => {
  const { hub, streams, time, page, open } = rig();
  hub.receive(page(), { kind: "follow", token: "a" });
  time.now = 60_000;
  streams[0]?.onEvent("problems", "{}");
  expect(open()).toBe(0);
});
