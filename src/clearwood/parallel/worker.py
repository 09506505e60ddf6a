"""The program of a process that works with others: see `clearwood.parallel.worker_group`."""

import sys

from clearwood.parallel.worker_group import run

if __name__ == "__main__":
    run(sys.stdin.buffer.read(), int(sys.argv[1]))
