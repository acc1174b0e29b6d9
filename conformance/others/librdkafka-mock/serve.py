"""Serves librdkafka's mock cluster on a free port of 127.0.0.1 until Ctrl-C, SIGTERM or the end of the input.

The mock lives inside a producer; it says where it listens in a debug line only.
"""

import logging
import re
import signal
import sys

from confluent_kafka import Producer


class Address(logging.Handler):
    """Prints the address once the mock names it."""

    def __init__(self):
        super().__init__()
        self.found = False

    def emit(self, record):
        named = re.search(r"bootstrap\.servers=([^\s,]+)", record.getMessage())
        if named and not self.found:
            self.found = True
            print("ready", named.group(1), flush=True)


def main():
    address = Address()
    logger = logging.getLogger("mock")
    logger.setLevel(logging.DEBUG)
    logger.addHandler(address)
    logger.propagate = False
    config = {"bootstrap.servers": "mock", "test.mock.num.brokers": 1, "debug": "mock"}
    producer = Producer(config, logger=logger)
    producer.poll(1.0)
    if not address.found:
        sys.exit("the mock did not say where it listens")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    # Whatever ends the input ends the server.
    sys.stdin.read()


if __name__ == "__main__":
    main()
