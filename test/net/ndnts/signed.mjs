// SPDX-License-Identifier: Apache-2.0
// Commands signed with a key of the keychain. --make FILE writes a new key's certificate for the trust anchor, and its
// private key beside it; --key FILE commands with that key; without it, with a stranger's.
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";

import { Certificate, ECDSA, generateSigningKey } from "@ndn/keychain";
import { invoke } from "@ndn/nfdmgmt";
import { Name, ValidityPeriod } from "@ndn/packet";
import { Encoder } from "@ndn/tlv";

import { check, equal, finish, join } from "./app.mjs";

const { values } = parseArgs({
  options: { uri: { type: "string" }, make: { type: "string" }, key: { type: "string" }, expect: { type: "string", default: "200" } },
});

if (values.make) {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
  const pkcs8 = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey));
  const spki = new Uint8Array(await crypto.subtle.exportKey("spki", pair.publicKey));
  const [signer, verifier] = await generateSigningKey("/operator", ECDSA, { importPkcs8: [pkcs8, spki] });
  const cert = await Certificate.selfSign({ privateKey: signer, publicKey: verifier, validity: ValidityPeriod.daysFromNow(1) });
  await writeFile(values.make, `${Buffer.from(Encoder.encode(cert.data)).toString("base64")}\n`);
  await writeFile(`${values.make}.key`, JSON.stringify({
    name: signer.name.toString(), pkcs8: Buffer.from(pkcs8).toString("base64"), spki: Buffer.from(spki).toString("base64"),
  }));
  process.exit(0);
}

let signer;
if (values.key) {
  const { name, pkcs8, spki } = JSON.parse(await readFile(values.key, "utf8"));
  [signer] = await generateSigningKey(new Name(name), ECDSA, { importPkcs8: [Buffer.from(pkcs8, "base64"), Buffer.from(spki, "base64")] });
} else {
  [signer] = await generateSigningKey("/stranger");
}

const { fw } = await join(values.uri);
const options = { cOpts: { fw }, ...(values.key || values.expect !== "digest" ? { signer } : {}) };
const code = values.expect === "digest" ? 403 : Number(values.expect);
for (const [verb, params] of [
  ["faces/create", { uri: "udp4://10.0.2.77:6363" }],
  ["strategy-choice/set", { name: new Name("/signed"), strategy: new Name("/localhost/nfd/strategy/multicast") }],
  ["rib/register", { name: new Name("/signed") }],
  ["cs/config", { capacity: 1000 }],
]) {
  await check(`${verb} is answered ${code}`, async () => {
    const response = await invoke(verb, params, options);
    equal(response.statusCode, code, response.statusText);
  });
}
finish();
