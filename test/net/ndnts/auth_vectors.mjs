// SPDX-License-Identifier: Apache-2.0
// Makes the lines of test/cases/auth_vectors.txt, with new keys each time.
import { Certificate, ECDSA, Ed25519, HMAC, RSA, generateSigningKey } from "@ndn/keychain";
import { Component, Interest, Name, SigInfo, ValidityPeriod, digestSigning } from "@ndn/packet";
import { PrefixAnn } from "@ndn/nfdmgmt";
import { Encoder } from "@ndn/tlv";
const hex = (e) => Buffer.from(Encoder.encode(e)).toString("hex");
const out = (name, e) => console.log(name, hex(e));
let time = Date.UTC(2026, 0, 2, 3, 4, 5);
const params = new Component(8, Uint8Array.from(Buffer.from("h\x07\x07\x07\x05\x08\x03abc")));
const cmd = new Name("/localhost/nfd/rib/register").append(params);
async function command(signer) {
  const i = new Interest(cmd, Interest.MustBeFresh);
  i.appParameters = new Uint8Array(0);
  i.sigInfo = new SigInfo(SigInfo.Nonce(8), SigInfo.Time(time++));
  await signer.sign(i);
  return i;
}
const validity = new ValidityPeriod(Date.UTC(2025, 0, 1), Date.UTC(2035, 0, 1));
for (const [t, algo, gen] of [["ecdsa", ECDSA, {}], ["ecdsa384", ECDSA, { curve: "P-384" }], ["rsa", RSA, {}], ["ed25519", Ed25519, {}]]) {
  const [priv, pub] = await generateSigningKey(`/ndnts/${t}`, algo, gen);
  const cert = await Certificate.selfSign({ privateKey: priv, publicKey: pub, validity });
  out(`${t}-certificate`, cert.data);
  out(`${t}-command`, await command(priv));
  out(`${t}-command`, await command(priv.withKeyLocator(cert.name)));
}
const raw = Uint8Array.from({ length: 32 }, (_, i) => i + 1);
const [hm] = await generateSigningKey("/ndnts/hmac/KEY/x", HMAC, { importRaw: raw });
console.log("hmac-key", Buffer.from("/ndnts/hmac/KEY/x " + Buffer.from(raw).toString("base64")).toString("hex"));
out("hmac-command", await command(hm));
out("digest-command", await command(digestSigning));
// top -> site
const [topPriv, topPub] = await generateSigningKey("/top", ECDSA);
const top = await Certificate.selfSign({ privateKey: topPriv, publicKey: topPub, validity });
const [sitePriv, sitePub] = await generateSigningKey("/top/site", Ed25519);
const site = await Certificate.issue({
  validity,
  issuerId: Component.from("top"),
  issuerPrivateKey: topPriv.withKeyLocator(top.name),
  publicKey: sitePub,
});
out("chain-anchor", top.data);
out("chain-certificate", site.data);
out("chain-command", await command(sitePriv.withKeyLocator(site.name)));
const announcement = await PrefixAnn.build({
  announced: "/top/site/app",
  version: 1,
  expirationPeriod: 3600000,
  validityPeriod: validity,
  signer: sitePriv,
});
out("announcement", announcement.data);
