#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replay a recorded management session and compare the answers.

usage: nfd_transcript.py SOCKET TRANSCRIPT

A transcript holds what a client of NFD sent ("> HEX") and what NFD answered ("< HEX"), a comment ("# command") before
each command. Requests are sent again over the Unix socket; FaceIds and version components that NFD had chosen are
replaced by those that pitlaned chose. Each answer must have the same elements in the same order, the same names,
status codes and texts; values that differ by nature (counters, times, digests) are not compared. The items of a
dataset are compared by what they are about: every item of NFD's answer must be in ours.

Prints one line for each answer and exits 1 when any differs.
"""
import re
import socket
import sys

NAME, COMPONENT, DIGEST, PARAMS_DIGEST, SEGMENT, VERSION = 7, 8, 1, 2, 50, 54
INTEREST, DATA, LP, FRAGMENT = 5, 6, 100, 80
META, CONTENT, SIGNATURE_INFO, SIGNATURE_VALUE, FINAL_BLOCK = 20, 21, 22, 23, 26
PARAMETERS, RESPONSE, CODE, TEXT, FACE_ID, STRATEGY, FILTER = 104, 101, 102, 103, 105, 107, 150
ITEM, RECORD, CHANNEL = 128, 129, 130
URI, COUNTERS = 114, {144, 145, 146, 147, 148, 149, 151, 152}
# LocalUri, Flags and Mtu of faces that were there before: of the machine and the configuration.
CONFIGURED = {129, 108, 137}
MTU, UNLIMITED = 137, 8800


def take(octets, at=0):
    """The TLV at an offset: type, value, offset behind it."""
    def number(i):
        first = octets[i]
        if first < 253:
            return first, i + 1
        size = {253: 2, 254: 4, 255: 8}[first]
        return int.from_bytes(octets[i + 1:i + 1 + size], "big"), i + 1 + size
    kind, at = number(at)
    size, at = number(at)
    if at + size > len(octets):
        raise ValueError("element is cut off")
    return kind, octets[at:at + size], at + size


def elements(octets):
    at, found = 0, []
    while at < len(octets):
        kind, value, at = take(octets, at)
        found.append((kind, value))
    return found


def tlv(kind, value):
    def number(n):
        return bytes([n]) if n < 253 else b"\xfd" + n.to_bytes(2, "big")
    return number(kind) + number(len(value)) + value


def nni(value):
    return int.from_bytes(value, "big")


def put_nni(number):
    size = next(size for size in (1, 2, 4, 8) if number < 1 << 8 * size)
    return number.to_bytes(size, "big")


def unwrap(packet):
    """The network packet, and the types of the LP header fields before it."""
    kind, value, _ = take(packet)
    if kind != LP:
        return packet, []
    fields = elements(value)
    return next(v for k, v in fields if k == FRAGMENT), [k for k, _ in fields]


def name_of(packet):
    return elements(dict([elements(take(unwrap(packet)[0])[1])[0]])[NAME])


class Chosen:
    """What the reference chose and what pitlaned chose in its place."""

    def __init__(self):
        self.faces, self.versions = {}, {}

    def parameters(self, octets):
        out = b""
        for kind, value in elements(octets):
            if kind == FACE_ID:
                value = put_nni(self.faces.get(nni(value), nni(value)))
            out += tlv(kind, value)
        return out

    def component(self, kind, value):
        if kind == VERSION:
            value = self.versions.get(value, value)
        if kind == COMPONENT and value[:1] == bytes([PARAMETERS]):
            value = tlv(PARAMETERS, self.parameters(take(value)[1]))
        return tlv(kind, value)

    def request(self, packet):
        kind, value, _ = take(packet)
        if kind == LP:
            return tlv(LP, b"".join(tlv(k, self.request(v) if k == FRAGMENT else v) for k, v in elements(value)))
        parts = elements(value)
        parts[0] = (NAME, b"".join(self.component(k, v) for k, v in elements(parts[0][1])))
        return tlv(kind, b"".join(tlv(k, v) for k, v in parts))

    def learn(self, theirs, ours):
        """From two answers to the same question."""
        for (kind, a), (_, b) in zip(name_of(theirs), name_of(ours)):
            if kind == VERSION:
                self.versions[a] = b


def content_of(packet):
    return dict(elements(take(unwrap(packet)[0])[1]))[CONTENT]


def item_key(kind, value):
    """What an item of a dataset is about."""
    if kind == CHANNEL:
        return None
    parts = elements(value)
    first = parts[0]
    if first[0] == NAME:
        return first[1]
    if first[0] == FACE_ID:
        # Sockets of applications are numbered by the process.
        return re.sub(rb"fd://\d+", b"fd://N", dict(parts)[URI])
    return b""


def shape(kind, value):
    """Types of an item's elements, of records inside too."""
    if kind == CHANNEL:
        return [k for k, _ in elements(value)]
    parts = elements(value)
    if parts[0][0] != NAME:
        return [k for k, _ in parts]
    return [(k, [i for i, _ in elements(v)]) if k in (RECORD, STRATEGY) else k for k, v in parts]


class Differences:
    def __init__(self, chosen):
        self.chosen, self.found = chosen, []

    def same(self, what, theirs, ours):
        if theirs != ours:
            self.found.append(f"{what}: {ours}, expected {theirs}")

    def answer(self, theirs, ours):
        (t_packet, t_header), (o_packet, o_header) = unwrap(theirs), unwrap(ours)
        self.same("LP header", t_header, o_header)
        t, o = elements(take(t_packet)[1]), elements(take(o_packet)[1])
        self.same("elements", [k for k, _ in t], [k for k, _ in o])
        t, o = dict(t), dict(o)
        self.same("MetaInfo", [k for k, _ in elements(t[META])], [k for k, _ in elements(o.get(META, b""))])
        self.same("SignatureInfo", t[SIGNATURE_INFO], o.get(SIGNATURE_INFO))
        t_name, o_name = elements(t[NAME]), elements(o[NAME])
        self.same("name", [c if c[0] not in (VERSION, PARAMS_DIGEST) and c[1][:1] != b"h" else c[0] for c in t_name],
                  [c if c[0] not in (VERSION, PARAMS_DIGEST) and c[1][:1] != b"h" else c[0] for c in o_name])
        t_content, o_content = t.get(CONTENT, b""), o.get(CONTENT, b"")
        if t_content and take(t_content)[0] == RESPONSE:
            self.response(take(t_content)[1], take(o_content)[1])
        elif t_name[2][1] == b"status":
            self.same("status", [k for k, _ in elements(t_content)], [k for k, _ in elements(o_content)])
        elif t_name[2][1] == b"cs":
            self.same("CsInfo", [(k, shape(k, v)) for k, v in elements(t_content)],
                      [(k, shape(k, v)) for k, v in elements(o_content)])
        else:
            self.items(elements(t_content), elements(o_content))

    def response(self, theirs, ours):
        t, o = elements(theirs), elements(ours)
        self.same("response", [k for k, _ in t], [k for k, _ in o])
        t, o = dict(t), dict(o)
        self.same("code", nni(t[CODE]), nni(o[CODE]))
        if nni(t[CODE]) == 200:
            self.same("text", t[TEXT], o[TEXT])
        if PARAMETERS not in t:
            return
        t_fields, o_fields = elements(t[PARAMETERS]), elements(o.get(PARAMETERS, b""))
        self.same("parameters", [k for k, _ in t_fields], [k for k, _ in o_fields])
        for (kind, a), (_, b) in zip(t_fields, o_fields):
            if kind == FACE_ID:
                self.chosen.faces[nni(a)] = nni(b)
            elif kind != MTU or nni(a) != UNLIMITED:
                # A face of a port has the port's MTU where NFD has none to obey.
                self.same(f"parameter {kind}", a, b)

    def items(self, theirs, ours):
        ours = [(item_key(k, v), shape(k, v), k, v) for k, v in ours]
        for kind, value in theirs:
            key, expected = item_key(kind, value), shape(kind, value)
            like = [o for o in ours if o[0] == key]
            if not like:
                self.found.append(f"no item about {key}")
            elif kind != CHANNEL and expected not in [o[1] for o in like]:
                self.found.append(f"item about {key}: {like[0][1]}, expected {expected}")
            elif kind == ITEM and elements(value)[0][0] == FACE_ID:
                self.face(dict(elements(value)), [dict(elements(o[3])) for o in like if o[1] == expected])

    def face(self, theirs, ours):
        """One of our faces (several have a socket as their peer) is like theirs but for FaceId and counters."""
        kinds = theirs.keys() - COUNTERS - {FACE_ID, URI} - CONFIGURED
        unlike = [[k for k in kinds if theirs[k] != face[k]] for face in ours]
        if [] not in unlike:
            self.found.append(f"face {theirs[URI].decode()}: elements {unlike[0]} have other values")


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(5)
        self.socket.connect(path)
        self.buffer = b""

    def send(self, packet):
        self.socket.sendall(packet)

    def receive(self):
        while True:
            try:
                _, _, end = take(self.buffer)
                packet, self.buffer = self.buffer[:end], self.buffer[end:]
                return packet
            except (ValueError, IndexError):
                octets = self.socket.recv(65536)
                if not octets:
                    raise ConnectionError("pitlaned closed the connection") from None
                self.buffer += octets


def commands(path):
    """Runs of lines that belong to one client process: (title, [(direction, packet)])."""
    title, lines = None, []
    with open(path, encoding="ascii") as file:
        for line in file:
            if line.startswith("#"):
                if lines:
                    yield title, lines
                title, lines = line[1:].strip(), []
            elif line[:2] in ("> ", "< "):
                lines.append((line[0], bytes.fromhex(line[2:])))
    if lines:
        yield title, lines


def replay(path, title, lines, chosen):
    client, bad = Client(path), 0
    answers = [packet for direction, packet in lines if direction == "<"]
    sent, got = 0, []
    for direction, packet in lines:
        if direction == ">":
            client.send(chosen.request(packet))
            sent += 1
            continue
        # Answers to questions asked at once come in any order; the name tells which is which.
        theirs = packet
        wanted = name_of(theirs)[2:4]
        while True:
            match = next((g for g in got if name_of(g)[2:4] == wanted), None)
            if match is not None:
                got.remove(match)
                break
            got.append(client.receive())
        differences = Differences(chosen)
        differences.answer(theirs, match)
        chosen.learn(theirs, match)
        label = "/".join(v.decode("ascii", "replace") for _, v in wanted)
        print(f"{'ok' if not differences.found else 'DIFFERENT'}: {title or 'session'}: {label}")
        for text in differences.found:
            print(f"    {text}")
        bad += len(differences.found) > 0
    assert sent >= len(answers)
    return bad


def main():
    path, transcript = sys.argv[1:]
    chosen, bad, n = Chosen(), 0, 0
    for title, lines in commands(transcript):
        bad += replay(path, title, lines, chosen)
        n += sum(direction == "<" for direction, _ in lines)
    print(f"{n} answers, {bad} different")
    return 1 if bad or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
