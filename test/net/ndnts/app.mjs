// SPDX-License-Identifier: Apache-2.0
// What the application tests share: a forwarder of NDNts with one face to pitlaned over any transport, and checks that
// are counted. A URI is unix:///path, tcp://host:port, udp://host:port or ws://host:port.
import { Forwarder } from "@ndn/fw";
import { TcpTransport, UdpTransport, UnixTransport } from "@ndn/node-transport";
import { WsTransport } from "@ndn/ws-transport";

/** A logical forwarder of its own, joined to pitlaned: { fw, face }. */
export async function join(uri, addRoutes = ["/"]) {
  const fw = Forwarder.create();
  const { protocol, hostname, port, pathname } = new URL(uri);
  const host = hostname.replace(/^\[|\]$/g, "");
  const options = { fw, addRoutes };
  let face;
  switch (protocol) {
    case "unix:": face = await UnixTransport.createFace(options, pathname); break;
    case "tcp:": face = await TcpTransport.createFace(options, host, Number(port)); break;
    case "udp:": face = await UdpTransport.createFace(options, { host, port: Number(port), family: host.includes(":") ? 6 : 4 }); break;
    case "ws:": face = await WsTransport.createFace(options, uri); break;
    default: throw new Error(`no transport for ${uri}`);
  }
  return { fw, face };
}

let failed = 0;
let passed = 0;

/** Run one check; it fails by throwing. */
export async function check(name, fn) {
  try {
    await fn();
    passed++;
    console.log(`ok ${name}`);
  } catch (err) {
    failed++;
    console.log(`not ok ${name}: ${err?.stack ?? err}`);
  }
}

export function equal(got, expected, what = "value") {
  if (got !== expected) {
    throw new Error(`${what} is ${got}, expected ${expected}`);
  }
}

export function truthy(value, what) {
  if (!value) {
    throw new Error(`not true: ${what}`);
  }
}

/** Print the sum and end the process. */
export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}
