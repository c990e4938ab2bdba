"""A clock that is wrong for the processes of one site: its web server and its store read the same one.

A library that is loaded before the C library adds the seconds in a file to the time of day. Clocks that count
since the machine's start stay right, as they do when the time of day is set.
"""

import struct
from pathlib import Path

from tests.chaos.preloading import compile_library

_SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long long none, *ahead = &none;

__attribute__((constructor)) static void open_clock(void) {
    const char *path = getenv("WRONG_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) ahead = mapped;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *ahead;
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    (void) zone;
    if (now && clock_gettime(CLOCK_REALTIME, &exact) == 0) {
        now->tv_sec = exact.tv_sec;
        now->tv_usec = exact.tv_nsec / 1000;
    }
    return 0;
}

time_t time(time_t *now) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now) *now = exact.tv_sec;
    return exact.tv_sec;
}
"""


class WrongClock:
    """The library, its file, and the environment of a site that uses it. Right at first."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._file = folder / "seconds"
        self._file.write_bytes(struct.pack("=q", 0))
        library = compile_library(_SOURCE, folder / "wrong_clock.so")
        self.environment = {"LD_PRELOAD": str(library), "WRONG_CLOCK": str(self._file)}

    def set_ahead(self, seconds: int) -> None:
        """Let the clock be so many seconds ahead; behind, if they are negative."""
        with self._file.open("r+b") as file:
            file.write(struct.pack("=q", seconds))
