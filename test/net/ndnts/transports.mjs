// SPDX-License-Identifier: Apache-2.0
// Producer and consumer as separate applications, each over the transport given: transports.mjs --uri URI --consumer URI.
import { parseArgs } from "node:util";

import { consume, produce } from "@ndn/endpoint";
import { enableNfdPrefixReg } from "@ndn/nfdmgmt";
import { Data, digestSigning, Interest, Name } from "@ndn/packet";

import { check, equal, finish, join } from "./app.mjs";
import { makeContent } from "./peer.mjs";

const { values } = parseArgs({
  options: { uri: { type: "string" }, consumer: { type: "string" }, prefix: { type: "string" }, count: { type: "string", default: "300" } },
});
const prefix = new Name(values.prefix);
const makes = await join(values.uri, []);
const asks = await join(values.consumer);
enableNfdPrefixReg(makes.face);
produce(prefix, async (interest) => {
  const size = Number(interest.name.at(prefix.length).text);
  return new Data(interest.name, Data.FreshnessPeriod(1), makeContent(interest.name, size));
}, { fw: makes.fw, concurrency: 16, dataSigner: digestSigning });

await check(`${values.uri}: the prefix is registered and reached`, async () => {
  await consume(new Interest(prefix.append("10", "first"), Interest.Lifetime(1000)), { fw: asks.fw, retx: 20, verifier: digestSigning });
});

for (const size of [0, 100, 1000, 8000]) {
  await check(`${values.uri}: ${values.count} exchanges of ${size} octets`, async () => {
    let next = 0;
    const run = async () => {
      while (next < Number(values.count)) {
        const name = prefix.append(String(size), String(next++));
        const data = await consume(new Interest(name, Interest.Lifetime(4000)), { fw: asks.fw, verifier: digestSigning });
        equal(Buffer.compare(data.content, makeContent(name, size)), 0, `Content of ${name}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, run));
  });
}

finish();
