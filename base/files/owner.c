/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/owner.h"

#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char attribute[] = "user.stagesim";
enum { MARK_SIZE = 80 };

static void print_mark(char mark[MARK_SIZE], const struct stat *status)
{
    snprintf(mark, MARK_SIZE, "%lld %lld.%09ld", (long long)status->st_size, (long long)status->st_mtim.tv_sec,
             (long)status->st_mtim.tv_nsec);
}

void owner_mark(int descriptor)
{
    char mark[MARK_SIZE];
    struct stat status;
    if (fstat(descriptor, &status) || !S_ISREG(status.st_mode))
        return;
    print_mark(mark, &status);
    (void)!fsetxattr(descriptor, attribute, mark, strlen(mark), 0);
}

/* Length of the mark, -1 without. */
static ssize_t read_mark(int descriptor, char mark[MARK_SIZE])
{
    ssize_t length = fgetxattr(descriptor, attribute, mark, MARK_SIZE - 1);
    mark[length < 0 ? 0 : length] = '\0';
    return length;
}

/* A directory of results says so where its about.json begins. */
static bool was_copied(int folder)
{
    static const char expected[] = "{\n  \"stagesim\": \"";
    char text[sizeof expected] = "", mark[MARK_SIZE];
    int descriptor = folder == AT_FDCWD ? -1 : openat(folder, "about.json", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool found = descriptor >= 0 && read(descriptor, text, sizeof text - 1) == (ssize_t)(sizeof text - 1) &&
                 !strcmp(text, expected) && read_mark(descriptor, mark) < 0;
    if (descriptor >= 0)
        close(descriptor);
    return found;
}

/* An empty file has nothing to lose. */
static bool is_own(int folder, int descriptor, const struct stat *status)
{
    char mark[MARK_SIZE], expected[MARK_SIZE];
    print_mark(expected, status);
    if (read_mark(descriptor, mark) < 0)
        return status->st_size == 0 || was_copied(folder);
    return status->st_size == 0 || !strcmp(mark, expected);
}

static bool refuse(struct fault *fault, const char *name, const char *why)
{
    fault->refused = !fault->text[0];
    return fault_set(fault, "%s: %s, or name another place", name, why);
}

bool owner_allows(int folder, const char *path, const char *name, struct fault *fault)
{
    struct stat status;
    if (fstatat(folder, path, &status, 0))
        return true;
    if (S_ISDIR(status.st_mode))
        return fault_set(fault, "%s: cannot be written: a directory of that name is in the way", name);
    if (!S_ISREG(status.st_mode))
        return true;
    if (path_was_read(&status))
        return refuse(fault, name, "this file was read, and an output does not replace it; read a copy");
    int descriptor = openat(folder, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool own = descriptor >= 0 && is_own(folder, descriptor, &status);
    if (descriptor >= 0)
        close(descriptor);
    return own ||
           refuse(fault, name, "there is a file that stagesim did not write, or that was changed since; remove it");
}
