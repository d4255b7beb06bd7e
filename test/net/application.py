#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What applications on the Unix socket see of a forwarder as it is by default. usage: application.py SOCKET

Prints one line for each expectation and exits 1 when any does not hold.
"""
import os
import select
import socket
import sys
import time

from management_rows import NACK, NFD, command, name, tlv
from nfd_transcript import CODE, CONTENT, DATA, FACE_ID, FRAGMENT, INTEREST, LP, NAME, content_of, elements, nni, put_nni
from nfd_transcript import take, unwrap

INCOMING, NEXT_HOP, CACHE_POLICY, NO_CACHE, MARK, TOKEN, REASON, NO_ROUTE = 812, 816, 820, 821, 832, 98, 801, 150
PARAMETERS, FLAGS, MASK, STATUS = 104, 108, 112, {"measurements": 134, "satisfied": 153}
LOCAL_FIELDS, ADMIT, SERVE = 1, 1, 2


def number(kind, value):
    return tlv(kind, put_nni(value))


def interest(uri, hop_limit=None, by_prefix=False, fields=()):
    octets = tlv(NAME, name(uri)) + (tlv(33, b"") + tlv(18, b"") if by_prefix else b"")
    octets += tlv(10, os.urandom(4)) + number(12, 2000) + (tlv(34, bytes([hop_limit])) if hop_limit is not None else b"")
    return wrapped(fields, tlv(INTEREST, octets))


def wrapped(fields, fragment):
    if not fields:
        return fragment
    return tlv(LP, b"".join(tlv(k, v) for k, v in fields) + tlv(FRAGMENT, fragment))


def data_for(packet, fields=()):
    question = dict(elements(take(unwrap(packet)[0])[1]))[NAME]
    octets = tlv(NAME, question) + tlv(20, number(25, 10000)) + tlv(CONTENT, b"x")
    return wrapped(fields, tlv(DATA, octets + tlv(22, tlv(27, b"\0")) + tlv(23, b"\0" * 32)))


def fields_of(packet):
    kind, value, _ = take(packet)
    return dict(elements(value)) if kind == LP else {}


class Application:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(sys.argv[1])
        self.octets = b""
        self.id = nni(self.command("faces/update", b"")[1][FACE_ID])

    def send(self, packet):
        self.socket.sendall(packet)

    def receive(self, seconds=3.0):
        """A packet; None when there is none; b"" at the end."""
        end = time.time() + seconds
        while True:
            try:
                size = take(self.octets)[2]
                packet, self.octets = self.octets[:size], self.octets[size:]
                return packet
            except (IndexError, ValueError):
                pass
            if not select.select([self.socket], [], [], max(0, end - time.time()))[0]:
                return None
            got = self.socket.recv(65536)
            if not got:
                return b""
            self.octets += got

    def nothing(self):
        return self.receive(0.3) is None

    def command(self, verb, parameters):
        self.send(command(NFD + verb, parameters))
        response = dict(elements(take(content_of(self.receive()))[1]))
        return nni(response[CODE]), dict(elements(response.get(PARAMETERS, b"")))

    def status(self):
        self.send(interest(NFD + "status/general", by_prefix=True))
        return {k: nni(v) for k, v in elements(content_of(self.receive())) if k != 128}

    def ask(self, producer, uri, asked=(), answered=()):
        """An exchange: the Interest as the producer got it, the Data as it came back."""
        self.send(interest(uri, fields=asked))
        question = producer.receive()
        producer.send(data_for(question, answered))
        return question, self.receive()


bad = 0


def expect(what, holds, *seen):
    global bad
    bad += not holds
    print("ok" if holds else "WRONG", what, *(() if holds else seen))


def fields(plain, knowing, producer):
    question, answer = plain.ask(producer, "/p/1")
    expect("an application that knows no NDNLPv2 gets bare packets", (question[0], answer[0]) == (INTEREST, DATA))
    code, _ = knowing.command("faces/update", number(FLAGS, LOCAL_FIELDS) + number(MASK, LOCAL_FIELDS))
    expect("faces/update without FaceId is about the application's own face", code == 200)
    _, answer = knowing.ask(producer, "/p/2")
    expect("Data has IncomingFaceId", fields_of(answer).get(INCOMING) == put_nni(producer.id), answer)
    knowing.send(interest("/p/2"))
    expect("Data of the Content Store has its FaceId", fields_of(knowing.receive()).get(INCOMING) == b"\xfe")
    knowing.command("rib/register", tlv(NAME, name("/k")))
    question, _ = plain.ask(knowing, "/k/1")
    expect("an Interest has IncomingFaceId", fields_of(question).get(INCOMING) == put_nni(plain.id), question)
    knowing.send(interest("/p/3"))
    question = unwrap(producer.receive())[0]
    producer.send(wrapped([(NACK, number(REASON, NO_ROUTE))], question))
    got = fields_of(knowing.receive())
    expect("a Nack has IncomingFaceId", NACK in got and got.get(INCOMING) == put_nni(producer.id), got)

    knowing.send(interest("/nowhere/1", fields=[(NEXT_HOP, put_nni(plain.id))]))
    question = plain.receive()
    expect("NextHopFaceId leads an Interest that has no route", question is not None)
    plain.send(data_for(question))
    expect("and its Data comes back", take(unwrap(knowing.receive())[0])[0] == DATA)
    producer.send(interest("/p/4", fields=[(NEXT_HOP, put_nni(plain.id))]))
    expect("NextHopFaceId of an application without local fields is not obeyed", plain.nothing())

    no_cache = [(CACHE_POLICY, number(NO_CACHE, 1))]
    knowing.ask(producer, "/p/5", answered=no_cache)
    knowing.send(interest("/p/5"))
    question = producer.receive()
    expect("Data with NoCache is not cached", question is not None)
    producer.send(data_for(question))
    knowing.receive()
    question, answer = plain.ask(producer, "/p/6", [(TOKEN, b"\1\2\3\4")])
    expect("a PitToken comes back, and goes nowhere else",
           TOKEN not in fields_of(question) and fields_of(answer).get(TOKEN) == b"\1\2\3\4", question, answer)
    question, answer = plain.ask(producer, "/p/7", [(MARK, b"\1")], [(MARK, b"\1")])
    expect("CongestionMarks are passed on", MARK in fields_of(question) and MARK in fields_of(answer), question, answer)


def tables(plain, producer):
    for flags, what in ((SERVE, "without admit nothing is cached"), (ADMIT, "without serve nothing is served")):
        code, _ = plain.command("cs/config", number(FLAGS, flags) + number(MASK, ADMIT | SERVE))
        uri = "/p/flags%d" % flags
        plain.ask(producer, uri)
        plain.send(interest(uri))
        question = producer.receive()
        expect(what, code == 200 and question is not None)
        producer.send(data_for(question))
        plain.receive()
    plain.command("cs/config", number(FLAGS, ADMIT | SERVE) + number(MASK, ADMIT | SERVE))
    plain.ask(producer, "/p/both")
    plain.send(interest("/p/both"))
    expect("with both it is", plain.receive() is not None and producer.nothing())

    producer.send(data_for(interest("/p/unsolicited")))
    time.sleep(0.1)
    plain.send(interest("/p/unsolicited"))
    question = producer.receive()
    expect("Data that nobody asked for is dropped", question is not None)
    producer.send(data_for(question))
    plain.receive()
    for limit, left, what in ((0, None, "HopLimit 0 ends here"), (5, 4, "HopLimit goes down by one"),
                              (None, -1, "no HopLimit is added")):
        plain.send(interest("/p/hops%s" % limit, limit))
        question = producer.receive(0.3)
        got = question and nni(dict(elements(take(question)[1])).get(34, b"\xff"))
        expect(what, got == (255 if left == -1 else left), question)
        if question is not None:
            producer.send(data_for(question))
            plain.receive()

    before = plain.status()
    plain.ask(producer, "/p/counted")
    after = plain.status()
    expect("status/general counts an exchange", after[STATUS["satisfied"]] > before[STATUS["satisfied"]], before, after)
    strategy = tlv(107, tlv(NAME, name("/localhost/nfd/strategy/asf")))
    code, _ = plain.command("strategy-choice/set", tlv(NAME, name("/p")) + strategy)
    plain.ask(producer, "/p/measured")
    expect("and what asf measures", code == 200 and plain.status()[STATUS["measurements"]] > 0, plain.status())


def comings_and_goings(plain, producer):
    ids = []
    for _ in range(20):
        other = Application()
        ids.append(other.id)
        other.socket.close()
    expect("FaceIds start at 256 and are not used again", len(set(ids)) == 20 and min(ids + [plain.id]) >= 256, ids)
    other = Application()
    code, _ = plain.command("faces/destroy", number(FACE_ID, other.id))
    expect("faces/destroy ends the connection", code == 200 and other.receive() == b"")
    expect("and of no face is well", plain.command("faces/destroy", number(FACE_ID, 99999))[0] == 200)
    plain.send(interest("/p/left"))
    producer.receive()
    producer.socket.close()
    time.sleep(0.3)
    plain.send(interest("/p/left/behind"))
    expect("an application that goes in an exchange leaves no route", NACK in fields_of(plain.receive() or b"\x05\0"))


def main():
    plain, knowing, producer = Application(), Application(), Application()
    producer.command("rib/register", tlv(NAME, name("/p")))
    fields(plain, knowing, producer)
    tables(plain, producer)
    comings_and_goings(plain, producer)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
