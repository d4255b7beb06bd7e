// SPDX-License-Identifier: Apache-2.0
// NDNts consumer: fetches PREFIX/SIZE/RUN/0.. and checks signature and Content of each. Prints one JSON document; exit 0
// when nothing was lost or wrong.
import { consume } from "@ndn/endpoint";
import { digestSigning, Interest, Name } from "@ndn/packet";

import { makeContent, openFace, parseOptions } from "./peer.mjs";

const options = parseOptions();
const face = await openFace(options, ["/"]);
const base = new Name(options.prefix).append(String(options.size), options.run);
let next = 0;
let received = 0;
let bad = 0;
const failures = {};

async function run() {
  while (next < options.count) {
    const name = base.append(String(next++));
    try {
      const data = await consume(new Interest(name, ...(options.cached ? [] : [Interest.MustBeFresh]), Interest.Lifetime(4000)), { verifier: digestSigning });
      const good = data.name.equals(name) && Buffer.compare(data.content, makeContent(name, options.size)) === 0;
      if (good) { received++; } else { bad++; }
    } catch (err) {
      const text = String(err?.message ?? err);
      failures[text.slice(0, 60)] = (failures[text.slice(0, 60)] ?? 0) + 1;
    }
  }
}

const start = performance.now();
await Promise.all(Array.from({ length: options.window }, run));
console.log(JSON.stringify({ sent: next, received, bad, failures, time_ms: Math.round(performance.now() - start) }));
face.close();
process.exit(received === options.count ? 0 : 1);
