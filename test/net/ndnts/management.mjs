// SPDX-License-Identifier: Apache-2.0
// Every dataset and every command of @ndn/nfdmgmt, over the local socket: management.mjs --uri unix:///path.
import { parseArgs } from "node:util";

import { consume, produce } from "@ndn/endpoint";
import { generateSigningKey } from "@ndn/keychain";
import {
  ChannelStatus, ControlCommandOptions, ControlParameters, CsFlags, CsInfo, enableNfdPrefixReg, FaceFlags, FaceQuery, FaceStatus,
  GeneralStatus, invoke, invokeCsErase, invokeGeneric, list, PrefixAnn, RibEntry, RouteFlags, StrategyChoice,
} from "@ndn/nfdmgmt";
import { Component, Data, digestSigning, Interest, Name, ValidityPeriod } from "@ndn/packet";

import { check, equal, finish, join, truthy } from "./app.mjs";

const { values: { uri, remote } } = parseArgs({
  options: { uri: { type: "string" }, remote: { type: "string", default: "10.0.2.9" } },
});
const { fw } = await join(uri);
const opts = { cOpts: { fw } };
const datasets = (dataset) => list(dataset, opts);
const command = (verb, params) => invoke(verb, params, opts);
const own = async () => (await command("faces/update", {})).body && ControlParameters.decodeFromResponseBody(await command("faces/update", {})).faceId;

async function expectStatus(verb, params, code) {
  const response = await command(verb, params);
  equal(response.statusCode, code, `${verb}: ${response.statusText}`);
  return response.body.length > 0 ? ControlParameters.decodeFromResponseBody(response) : undefined;
}

await check("status/general decodes and counts", async () => {
  const [status] = await datasets(GeneralStatus);
  truthy(status.nfdVersion.length > 0, "a version");
  truthy(Math.abs(Date.now() - status.currentTimestamp) < 5000, "the time of day");
  truthy(status.uptime >= 0 && status.nFibEntries >= 1 && status.nInInterests >= 1, "counters");
});

await check("faces/list has the internal face and this one", async () => {
  const faces = await datasets(FaceStatus);
  truthy(faces.some((face) => face.faceId === 1 && face.uri === "internal://"), "internal://");
  const id = await own();
  const mine = faces.find((face) => face.faceId === id);
  truthy(mine.uri.startsWith("fd://") && mine.localUri.startsWith("unix://"), "URIs of the socket");
  equal(mine.faceScope, 1, "FaceScope");
  truthy(mine.nInInterests > 0n && mine.nOutData > 0n, "counters of the face");
});

await check("faces/channels names the socket", async () => {
  const channels = await datasets(ChannelStatus);
  truthy(channels.some(({ localUri }) => localUri.startsWith("unix://")), "unix channel");
});

await check("faces/create, 409 with the existing face, query, update, destroy", async () => {
  const at = `udp4://${remote}:6363`;
  const made = await expectStatus("faces/create", { uri: at, facePersistency: 0, mtu: 1200 }, 200);
  equal(made.uri, at);
  equal(made.mtu, 1200);
  const again = await expectStatus("faces/create", { uri: at }, 409);
  equal(again.faceId, made.faceId, "FaceId of the existing face");
  const found = await datasets(FaceQuery({ uri: at }));
  equal(found.length, 1, "faces found");
  equal(found[0].faceId, made.faceId);
  const updated = await expectStatus("faces/update", { faceId: made.faceId, mtu: 1300, flags: FaceFlags.LpReliability, mask: FaceFlags.LpReliability }, 200);
  equal(updated.mtu, 1300);
  truthy(updated.flagLpReliability, "reliability is on");
  const [status] = await datasets(FaceQuery({ faceId: made.faceId }));
  truthy(status.flagLpReliability && status.mtu === 1300, "faces/query shows the change");
  await expectStatus("faces/destroy", { faceId: made.faceId }, 200);
  equal((await datasets(FaceQuery({ uri: at }))).length, 0, "faces left");
});

await check("faces/create refuses what NFD refuses", async () => {
  await expectStatus("faces/create", { uri: "udp4://999.1.1.1:1" }, 400);
  await expectStatus("faces/create", { uri: "udp4://224.0.0.1:6363" }, 406);
  await expectStatus("faces/create", { uri: "ether://[02:00:00:00:00:09]" }, 406);
  await expectStatus("faces/update", { faceId: 99999, mtu: 1200 }, 404);
});

await check("faces/query by scheme", async () => {
  const found = await datasets(FaceQuery({ uriScheme: "internal" }));
  equal(found.length, 1);
  equal(found[0].faceId, 1);
});

await check("rib/register, list, unregister", async () => {
  const name = new Name("/ndnts/rib");
  const id = await own();
  const made = await expectStatus("rib/register", { name, origin: 65, cost: 7, flags: RouteFlags.Capture, expirationPeriod: 60000 }, 200);
  equal(made.faceId, id, "FaceId");
  equal(made.cost, 7);
  const entry = (await datasets(RibEntry)).find((item) => item.name.equals(name));
  equal(entry.route.length, 1, "routes");
  const [route] = entry.route;
  equal(route.faceId, id);
  equal(route.origin, 65);
  truthy(route.flagCapture && !route.flagChildInherit, "flags");
  truthy(route.expirationPeriod > 50000 && route.expirationPeriod <= 60000, "time left");
  await expectStatus("rib/unregister", { name, origin: 65 }, 200);
  truthy(!(await datasets(RibEntry)).some((item) => item.name.equals(name)), "the route is gone");
});

await check("rib/register of 33 components is 414", async () => {
  await expectStatus("rib/register", { name: new Name(`/${Array.from({ length: 33 }, (_, i) => i).join("/")}`) }, 414);
});

await check("rib/announce", async () => {
  const [privateKey] = await generateSigningKey("/ndnts/announcer");
  const pa = await PrefixAnn.build({
    announced: "/ndnts/announced", expirationPeriod: 120000, validityPeriod: ValidityPeriod.daysFromNow(1), signer: privateKey,
  });
  const response = await invokeGeneric("rib/announce", pa.data, {
    ...opts, prefix: new Name("/localhost/nfd"), formatCommand: ControlCommandOptions.formatCommandAppParams,
  });
  equal(response.statusCode, 200, response.statusText);
  const entry = (await datasets(RibEntry)).find((item) => item.name.equals(new Name("/ndnts/announced")));
  equal(entry.route[0].origin, 129, "origin");
  equal(entry.route[0].cost, 2048, "cost");
});

await check("strategy-choice: set with and without version, parameters, unset, unknown", async () => {
  const name = new Name("/ndnts/strategy");
  const strategyOf = async () => (await datasets(StrategyChoice)).find((item) => item.name.equals(name))?.strategy.toString();
  for (const [set, shown] of [
    ["/localhost/nfd/strategy/multicast", "/8=localhost/8=nfd/8=strategy/8=multicast/54=%05"],
    ["/localhost/nfd/strategy/multicast/54=%05", "/8=localhost/8=nfd/8=strategy/8=multicast/54=%05"],
    ["/localhost/nfd/strategy/best-route", "/8=localhost/8=nfd/8=strategy/8=best-route/54=%05"],
    ["/localhost/nfd/strategy/access", "/8=localhost/8=nfd/8=strategy/8=access/54=%01"],
    ["/localhost/nfd/strategy/self-learning", "/8=localhost/8=nfd/8=strategy/8=self-learning/54=%01"],
    ["/localhost/nfd/strategy/random", "/8=localhost/8=nfd/8=strategy/8=random/54=%01"],
    ["/localhost/nfd/strategy/asf/54=%05/probing-interval~30000", "/8=localhost/8=nfd/8=strategy/8=asf/54=%05/8=probing-interval~30000"],
  ]) {
    const made = await expectStatus("strategy-choice/set", { name, strategy: new Name(set) }, 200);
    equal(made.strategy.toString(), shown);
    equal(await strategyOf(), shown);
  }
  await expectStatus("strategy-choice/set", { name, strategy: new Name("/localhost/nfd/strategy/nope") }, 404);
  await expectStatus("strategy-choice/set", { name, strategy: new Name("/localhost/nfd/strategy/multicast/54=%03") }, 409);
  await expectStatus("strategy-choice/unset", { name }, 200);
  equal(await strategyOf(), undefined);
  await expectStatus("strategy-choice/unset", { name: new Name() }, 400);
});

await check("cs/config, cs/info, cs/erase", async () => {
  const before = (await datasets(CsInfo))[0];
  const changed = await expectStatus("cs/config", { capacity: 500, flags: 0, mask: CsFlags.EnableServe }, 200);
  equal(changed.capacity, 500);
  let [info] = await datasets(CsInfo);
  equal(info.capacity, 500n);
  truthy(!info.flagEnableServe && info.flagEnableAdmit, "flags");
  await expectStatus("cs/config", { capacity: Number(before.capacity), flags: CsFlags.EnableServe, mask: CsFlags.EnableServe }, 200);

  // Data that another application makes and this one fetches is cached, served again, and erased.
  const other = await join(uri, []);
  enableNfdPrefixReg(other.face);
  let asked = 0;
  const producer = produce("/ndnts/cs", async (interest) => {
    asked++;
    return new Data(interest.name, Data.FreshnessPeriod(60000), Buffer.alloc(100));
  }, { fw: other.fw, dataSigner: digestSigning });
  const name = (i) => new Name(`/ndnts/cs/${i}`);
  await consume(new Interest(name(0), Interest.Lifetime(2000)), { fw, retx: 10, verifier: digestSigning });
  for (let i = 1; i < 300; i++) {
    await consume(new Interest(name(i)), { fw });
  }
  const once = asked;
  await consume(new Interest(name(7), Interest.MustBeFresh), { fw });
  equal(asked, once, "Interests that reached the producer");
  [info] = await datasets(CsInfo);
  truthy(info.nCsEntries >= 300n && info.nHits >= 1n, "entries and hits");
  const first = await expectStatus("cs/erase", { name: new Name("/ndnts/cs"), count: 1000 }, 200);
  equal(first.count, 256, "erased by one command");
  equal(first.capacity, 256, "the limit, as more remain");
  equal(await invokeCsErase(new Name("/ndnts/cs"), opts), 44, "erased by the rest");
  await consume(new Interest(name(7), Interest.MustBeFresh), { fw });
  equal(asked, once + 1, "Interests that reached the producer after the erasure");
  producer.close();
  other.face.close();
});

await check("faces/events tells of faces that come and go", async () => {
  // The first question takes the latest event; what follows is asked for by sequence number.
  const base = new Name("/localhost/nfd/faces/events");
  const first = consume(new Interest(base, Interest.CanBePrefix, Interest.MustBeFresh, Interest.Lifetime(5000)), { fw });
  await new Promise((resolve) => { setTimeout(resolve, 300); });
  const other = await join(uri, []);
  const data = await first;
  const seq = data.name.at(-1);
  equal(seq.type, 0x3A, "component type of the sequence number");
  const number = seq.value.reduce((n, octet) => n * 256 + octet, 0);
  const next = new Component(0x3A, Uint8Array.of(number + 1));
  const second = consume(new Interest(base.append(next), Interest.Lifetime(5000)), { fw });
  other.face.close();
  const event = (await second).content;
  equal(event[0], 192, "FaceEventNotification");
});

await check("a producer's prefix is withdrawn when it leaves", async () => {
  const other = await join(uri, []);
  enableNfdPrefixReg(other.face);
  const producer = produce("/ndnts/leaves", async (interest) => new Data(interest.name), { fw: other.fw, dataSigner: digestSigning });
  await consume(new Interest("/ndnts/leaves/1", Interest.Lifetime(2000)), { fw, retx: 10 });
  truthy((await datasets(RibEntry)).some((item) => item.name.equals(new Name("/ndnts/leaves"))), "route while it lives");
  producer.close();
  other.face.close();
  for (let i = 0; i < 50; i++) {
    if (!(await datasets(RibEntry)).some((item) => item.name.equals(new Name("/ndnts/leaves")))) { return; }
    await new Promise((resolve) => { setTimeout(resolve, 20); });
  }
  throw new Error("the route is still there");
});

finish();
