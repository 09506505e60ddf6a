"""The program of a process that works together with others: see `clearwood.parallel.gang`."""

import sys

from clearwood.parallel.gang import run

if __name__ == "__main__":
    run(sys.stdin.buffer.read(), int(sys.argv[1]))
