// SPDX-License-Identifier: Apache-2.0
// NDNts producer: answers PREFIX/SIZE/... with SIZE octets of Content. Prints "ready"; exit 0 at SIGTERM.
import { produce } from "@ndn/endpoint";
import { Data, digestSigning, Name } from "@ndn/packet";

import { makeContent, openFace, parseOptions } from "./peer.mjs";

const options = parseOptions();
const face = await openFace(options, []);
const prefix = new Name(options.prefix);
let answered = 0;

produce(prefix, async (interest) => {
  const size = Number(interest.name.at(prefix.length).text);
  if (!(size >= 0 && size <= 8500)) {
    return undefined;
  }
  answered++;
  return new Data(interest.name, Data.FreshnessPeriod(1000), makeContent(interest.name, size));
}, { concurrency: 16, dataSigner: digestSigning });

process.on("SIGTERM", () => {
  console.log(JSON.stringify({ answered }));
  face.close();
  process.exit(0);
});
console.log("ready");
