#!/usr/bin/env python3
"""Generates one key with tno.mpc.protocols.distributed_keygen, all parties in this process.

Usage: tno_keygen.py BITS PARTIES THRESHOLD
"""

import asyncio
import socket
import sys

from tno.mpc.communication import Pool
from tno.mpc.protocols.distributed_keygen import DistributedPaillier


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


async def main():
    bits, parties, threshold = map(int, sys.argv[1:4])
    ports = free_ports(parties)
    pools = []
    for own in range(parties):
        pool = Pool()
        pool.add_http_server(addr="127.0.0.1", port=ports[own])
        for other in range(parties):
            if other != own:
                pool.add_http_client(f"party_{other}", addr="127.0.0.1", port=ports[other])
        pools.append(pool)
    # As in the package's own example: number of trial primes, rounds of the test, statistical
    # security.
    generated = (DistributedPaillier.from_security_parameter(pool, threshold, bits, 2000, 40, 40, distributed=False) for pool in pools)
    await asyncio.gather(*generated)


asyncio.run(main())
