# SPDX-License-Identifier: Apache-2.0
"""Configurations of the forwarder under test."""
import os


def head(run, name):
    """Own folder, no sockets but its own."""
    return f"""\
daemon: {{ runtime-dir = "{run}"; file-prefix = "bench{os.getpid()}{name}"; }};
unix: {{ path = "{run}/{name}.nfd.sock"; }};
tcp: {{ listen = false; }};
udp: {{ listen = false; multicast = false; }};
websocket: {{ listen = false; }};
pit: {{ capacity = "64k"; }};
cs: {{ capacity = 1024; }};
fib: {{ capacity = "64k"; }};
"""


def routes(count, faces):
    """Prefixes of two components, over the faces in turn."""
    rows = ",\n".join(f'    {{ prefix = "/ndnbench/flow{n:04}"; face = "{faces[n % len(faces)]}"; }}'
                      for n in range(count))
    return f"route = (\n{rows}\n);\n"


def write(folder, name, text):
    """A configuration of that text behind the head, in the folder. @return its path"""
    run = os.path.join(folder, "run")
    os.makedirs(run, exist_ok=True)
    path = os.path.join(folder, name + ".conf")
    with open(path, "w") as f:
        f.write(head(run, name) + text)
    os.chmod(path, 0o600)
    return path
