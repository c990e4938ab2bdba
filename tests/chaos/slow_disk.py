"""A disk that is slow for the store alone, and that knows what is certain to survive a power failure.

A library that is loaded before the C library delays each fsync by the milliseconds in a file. After each fsync of
an append-only file it notes the file's size as it was before: what lies beyond that may be lost with the power.
"""

import os
from pathlib import Path

from tests.chaos.preloading import compile_library

_SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int is_store(void) { return strcmp(program_invocation_short_name, "valkey-server") == 0; }

static void wait_for_disk(const char *folder) {
    char path[4096], text[32] = "";
    snprintf(path, sizeof path, "%s/delay", folder);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    if (read(file, text, sizeof text - 1) > 0) {
        long ms = atol(text);
        struct timespec pause = {ms / 1000, (ms % 1000) * 1000000};
        if (ms) nanosleep(&pause, NULL);
    }
    close(file);
}

static void note(const char *folder, int synced, long long size) {
    char link[64], name[4096], path[4096], line[4200];
    snprintf(link, sizeof link, "/proc/self/fd/%d", synced);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0) return;
    name[length] = 0;
    if (!strstr(name, ".incr.aof")) return;
    snprintf(path, sizeof path, "%s/synced", folder);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    int written = snprintf(line, sizeof line, "%020lld %s\n", size, name);
    if (pwrite(file, line, written, 0) == written && ftruncate(file, written)) { }
    close(file);
}

static int sync_slowly(int file, const char *name) {
    int (*real)(int) = (int (*)(int)) dlsym(RTLD_NEXT, name);
    const char *folder = getenv("SLOW_DISK");
    if (!folder || !is_store()) return real(file);
    struct stat facts;
    long long size = fstat(file, &facts) == 0 ? facts.st_size : 0;
    wait_for_disk(folder);
    int result = real(file);
    if (result == 0) note(folder, file, size);
    return result;
}

int fsync(int file) { return sync_slowly(file, "fsync"); }
int fdatasync(int file) { return sync_slowly(file, "fdatasync"); }
"""


class SlowDisk:
    """The library, its folder, and the environment of a site that uses it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        library = compile_library(_SOURCE, folder / "slow_disk.so")
        self.environment = {"LD_PRELOAD": str(library), "SLOW_DISK": str(folder)}

    def delay(self, milliseconds: int) -> None:
        """Let each fsync from now on take so much longer."""
        draft = self._folder / "delay.new"
        draft.write_text(str(milliseconds))
        draft.replace(self._folder / "delay")

    def lose_power(self) -> int:
        """Cut the file of a killed store to what was synced; return the number of bytes that are lost."""
        size, _, name = (self._folder / "synced").read_text().strip().partition(" ")
        file = Path(name)
        lost = file.stat().st_size - int(size)
        os.truncate(file, int(size))
        return lost
