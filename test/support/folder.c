/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/folder.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

static bool is_name(const char *name)
{
    size_t length = strlen(name),
           plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_/");
    const char *slash = strchr(name, '/');
    return length && length == plain && length < 60 && *name != '/' && !strstr(name, "..") && name[length - 1] != '/' &&
           (!slash || !strchr(slash + 1, '/'));
}

static int before = -1; /* where the process worked before */

static void write_part(const char *text, size_t size)
{
    char name[64] = "";
    const char *line = memchr(text, '\n', size);
    if (!line || line - text >= (ptrdiff_t)sizeof name)
        return;
    memcpy(name, text, (size_t)(line - text));
    if (!is_name(name))
        return;
    char *slash = strchr(name, '/');
    if (slash) {
        *slash = '\0';
        mkdir(name, 0777);
        *slash = '/';
    }
    FILE *out = fopen(name, "wb");
    if (!out)
        return; /* a folder of that name */
    fwrite(line + 1, 1, size - (size_t)(line + 1 - text), out);
    fclose(out);
}

void folder_fill(const void *text, size_t size, char path[FOLDER_PATH])
{
    const char *from = text, *end = from + size;
    if (before < 0)
        before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(path, FOLDER_PATH, "%s/fuzzed-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(path) || chdir(path))
        abort();
    while (from < end) {
        const char *feed = memchr(from, '\f', (size_t)(end - from));
        write_part(from, (size_t)((feed ? feed : end) - from));
        from = feed ? feed + 1 : end;
    }
}

bool folder_has(const char *path, const char *name)
{
    char file[FOLDER_PATH + 64];
    snprintf(file, sizeof file, "%s/%s", path, name);
    return access(file, F_OK) == 0;
}

static unsigned long long sum; /* nftw hands nothing on */

static unsigned long long add(unsigned long long earlier, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        earlier = (earlier ^ bytes[i]) * UINT64_C(0x100000001b3);
    return earlier;
}

/* Folders are visited in no particular order, so that files are added up. */
static int add_file(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    char block[4096];
    unsigned long long own = add(UINT64_C(0xcbf29ce484222325), path, strlen(path));
    FILE *in = kind == FTW_F ? fopen(path, "rb") : NULL;
    (void)status, (void)where;
    for (size_t got; in && (got = fread(block, 1, sizeof block, in)) > 0;)
        own = add(own, block, got);
    if (in)
        fclose(in);
    sum += own;
    return 0;
}

unsigned long long folder_sum(const char *path)
{
    sum = 0;
    nftw(path, add_file, 16, FTW_PHYS);
    return sum;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

void folder_remove(const char *path)
{
    if (fchdir(before) || nftw(path, remove_one, 16, FTW_PHYS | FTW_DEPTH))
        abort();
}

/* ---- standard streams ---- */

/* Of the sanitizers; without them nobody calls it. */
__attribute__((weak)) void __sanitizer_set_report_fd(void *descriptor);

/* Descriptors: of the user's streams, and of what is caught. */
static struct {
    bool ready;
    int user[2], caught[2];
} streams;

static void streams_prepare(void)
{
    static const char *const names[] = {"output", "errors"};
    for (int i = 0; i < 2; i++) {
        streams.user[i] = dup(STDOUT_FILENO + i);
        streams.caught[i] = memfd_create(names[i], MFD_CLOEXEC);
        if (streams.user[i] < 0 || streams.caught[i] < 0)
            abort();
    }
    if (__sanitizer_set_report_fd)
        __sanitizer_set_report_fd((void *)(intptr_t)streams.user[1]);
    streams.ready = true;
}

static void streams_switch(const int descriptors[2])
{
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++)
        if (dup2(descriptors[i], STDOUT_FILENO + i) < 0)
            abort();
}

void streams_catch(void)
{
    if (!streams.ready)
        streams_prepare();
    for (int i = 0; i < 2; i++)
        if (ftruncate(streams.caught[i], 0) || lseek(streams.caught[i], 0, SEEK_SET))
            abort();
    streams_switch(streams.caught);
}

void streams_release(void)
{
    streams_switch(streams.user);
}

const char *streams_errors(void)
{
    static char text[4096];
    ssize_t got = pread(streams.caught[1], text, sizeof text - 1, 0);
    text[got < 0 ? 0 : got] = '\0';
    return text;
}
