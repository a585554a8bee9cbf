/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/stage_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const kinds[] = {
    [STAGE_WRITES] = "writes", [STAGE_IS_NEW] = "new", [STAGE_EXCHANGES] = "exchange", [STAGE_MOVES] = "move"};

bool stage_record_write(const struct stage_record *record, int folder)
{
    int descriptor = openat(folder, "names.new", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!out) {
        if (descriptor >= 0)
            close(descriptor);
        return false;
    }
    fprintf(out, "%s %lu %lu%c", kinds[record->kind], record->device, record->inode, '\0');
    for (size_t i = 0; i < record->names.count; i++)
        fprintf(out, "%s%c", record->names.names[i], '\0');
    errno = EIO;
    bool written = !ferror(out);
    return (fclose(out) == 0) & written && renameat(folder, "names.new", folder, "names") == 0;
}

static bool read_text(int descriptor, char **text, size_t *size)
{
    struct stat status;
    if (fstat(descriptor, &status) || !(*text = malloc((size_t)status.st_size + 1)))
        return false;
    *size = 0;
    for (ssize_t got = 1; got > 0 && *size<(size_t)status.st_size; *size += got> 0 ? (size_t)got : 0)
        got = read(descriptor, *text + *size, (size_t)status.st_size - *size);
    (*text)[*size] = '\0';
    return *size == (size_t)status.st_size;
}

static size_t count_texts(const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == '\0';
    return count;
}

/* The first text says what, the others are names. */
static bool take_apart(struct stage_record *record, size_t size)
{
    char kind[16];
    size_t count = count_texts(record->text, size);
    if (count == 0 || sscanf(record->text, "%15s %lu %lu", kind, &record->device, &record->inode) != 3)
        return false;
    for (int i = STAGE_IS_NEW; i <= STAGE_MOVES; i++)
        if (!strcmp(kind, kinds[i]))
            record->kind = (enum stage_kind)i;
    const char **names = calloc(count, sizeof *names);
    const char *name = record->text;
    if (!names)
        return false;
    for (size_t i = 0; i + 1 < count; i++)
        names[i] = name += strlen(name) + 1;
    record->names = (struct tree_names){names, count - 1};
    return record->kind != STAGE_WRITES;
}

int stage_record_read(struct stage_record *record, int folder)
{
    *record = (struct stage_record){.kind = STAGE_WRITES};
    int descriptor = openat(folder, "names", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0)
        return errno == ENOENT ? 0 : -1;
    size_t size;
    errno = EINVAL;
    bool fine = read_text(descriptor, &record->text, &size) && take_apart(record, size);
    close(descriptor);
    return fine ? 0 : -1;
}

void stage_record_free(struct stage_record *record)
{
    free((void *)record->names.names);
    free(record->text);
    *record = (struct stage_record){.kind = STAGE_WRITES};
}
