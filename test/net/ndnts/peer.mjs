// SPDX-License-Identifier: Apache-2.0
// What consumer.mjs and producer.mjs share: the command line, a UDP face, and the Content that both know.
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";

import { UdpTransport } from "@ndn/node-transport";

export function parseOptions() {
  const { values } = parseArgs({
    options: {
      remote: { type: "string" },
      port: { type: "string", default: "6363" },
      local: { type: "string" },
      "local-port": { type: "string", default: "6363" },
      mtu: { type: "string", default: "1400" },
      prefix: { type: "string", default: "/ndnts" },
      count: { type: "string", default: "1000" },
      size: { type: "string", default: "100" },
      window: { type: "string", default: "16" },
      run: { type: "string", default: String(process.pid) },
      cached: { type: "boolean", default: false },
    },
  });
  return {
    ...values,
    port: Number(values.port),
    localPort: Number(values["local-port"]),
    mtu: Number(values.mtu),
    count: Number(values.count),
    size: Number(values.size),
    window: Number(values.window),
  };
}

export async function openFace(options, addRoutes) {
  const face = await UdpTransport.createFace({
    addRoutes,
    lp: { mtu: options.mtu, keepAlive: false, reassemblerCapacity: 64 },
  }, {
    host: options.remote,
    port: options.port,
    family: options.remote.includes(":") ? 6 : 4,
    bind: { address: options.local, port: options.localPort },
    recvBufferSize: 4 << 20,
    sendBufferSize: 4 << 20,
  });
  return face;
}

// Octets that depend on the Name and the size.
export function makeContent(name, size) {
  const block = createHash("sha256").update(name.toString()).digest();
  const content = new Uint8Array(size);
  for (let i = 0; i < size; i++) {
    content[i] = block[i % block.length] ^ (i >> 5);
  }
  return content;
}
