"""Programs run as forks of a process that has imported their modules; pytest itself has threads, so it cannot fork."""

import os
import pickle
import signal
import socket
import subprocess
import sys
import time

MUCH = """
import numpy, pandas, sklearn.linear_model, sklearn.model_selection
import sklearn_rank._tables.evaluate, sklearn_rank.io, sklearn_rank.model_selection
"""
"""What most of the programs import."""

SERVER = """
import os, pickle, socket, sys
asked = socket.socket(fileno=int(sys.argv[1]))
while True:
    size, pipes, *_ = socket.recv_fds(asked, 10, 2)
    if not size:
        os._exit(0)
    request = asked.recv(int(size), socket.MSG_WAITALL)
    child = os.fork()
    if child == 0:
        break
    for pipe in pipes:
        os.close(pipe)
    asked.sendall(b"%10d" % child)
    asked.sendall(b"%10d" % os.waitpid(child, 0)[1])
asked.close()
for number, pipe in enumerate(pipes, start=1):
    os.dup2(pipe, number)
    os.close(pipe)
program, sys.argv, environment = pickle.loads(request)
os.environ.update(environment)
exec(program)
"""


class Fork:
    """A program that runs, much like `subprocess.Popen`; at the end of a with-block it has ended."""

    def __init__(self, asked, program, arguments, environment):
        self._asked, self._status = asked, None
        ends = [os.pipe() for _ in range(2)]
        self.stdout, self.stderr = (os.fdopen(reads, "rb") for reads, _ in ends)
        request = pickle.dumps((program, ["-c", *map(str, arguments)], environment))
        socket.send_fds(asked, [b"%10d" % len(request)], [writes for _, writes in ends])
        asked.sendall(request)
        for _, writes in ends:
            os.close(writes)
        self.pid = int(asked.recv(10, socket.MSG_WAITALL))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait(60)
        self.stdout.close()
        self.stderr.close()

    def send_signal(self, number):
        os.kill(self.pid, number)

    def wait(self, timeout):
        """Return the exit status, negative for the signal that ended it."""
        if self._status is None:
            self._asked.settimeout(timeout)
            self._status = os.waitstatus_to_exitcode(int(self._asked.recv(10, socket.MSG_WAITALL)))
            self._asked.settimeout(None)
        return self._status

    def communicate(self, timeout):
        """Return printed output until all processes with the pipe have ended, including any left behind."""
        until = time.monotonic() + timeout
        self.wait(timeout)
        printed = []
        for pipe in (self.stdout, self.stderr):
            os.set_blocking(pipe.fileno(), False)
            parts = []
            while (part := pipe.read()) != b"":
                parts.append(part or b"")
                assert time.monotonic() < until, "a process that is left holds the pipe"
                time.sleep(0.01 * (not part))
            printed.append(b"".join(parts))
        return printed


class Forks:
    """Programs that start in milliseconds, because the forked process has run `first`, their imports."""

    def __init__(self, first=MUCH):
        self._asked, theirs = socket.socketpair()
        command = [sys.executable, "-W", "ignore", "-c", first + SERVER, str(theirs.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        theirs.close()

    def run(self, program, *arguments, **environment):
        """Start a program, with arguments and further variables of the environment."""
        return Fork(self._asked, program, arguments, environment)

    def check(self, program, *arguments):
        """Run a program; raise AssertionError with its output if it fails."""
        with self.run(program, *arguments) as fork:
            printed = fork.communicate(120)
            assert fork.wait(0) == 0, printed[1].decode()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._asked.close()
        self._process.wait(60)
