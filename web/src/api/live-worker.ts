// A shared worker: all tabs of the browser share its event stream, because browsers open only six
// connections to a server over HTTP/1.1.

import { type FromPage, LiveHub } from "./live-hub";
import { openStream } from "./live-stream";

const hub = new LiveHub(openStream);

addEventListener("connect", (event) => {
  const port = (event as MessageEvent).ports[0];
  if (!port) return;
  port.onmessage = (message: MessageEvent<FromPage>) => hub.receive(port, message.data);
});
