/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes `stagesim import`: the first byte says as what kind of file the rest is read. What is accepted is written, and
 * the scenario is YAML whose every value is one that its key could have. */
#include "base/arena.h"
#include "base/document.h"
#include "frameworks/import/import.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const char *const names[] = {"job.sh", "job.toml", "job.json", "job.yaml", "job.py"};

/* A directory of this process's own, made at the first input. */
static const char *path_of(unsigned char kind, struct arena *arena)
{
    static char folder[] = "/tmp/fuzz-import-XXXXXX";
    static bool made;
    if (!made && !mkdtemp(folder))
        abort();
    made = true;
    return arena_print(arena, "%s/%s", folder, names[kind % 5]);
}

static void check_written(const struct import *import, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    import_write(import, out);
    import_tell(import, out);
    rewind(out);
    import_write(import, out);
    long end = ftell(out);
    fclose(out);
    if (!document_parse_kind(&document_scenario, "written", text, (size_t)end, arena, &diag))
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    if (!size)
        return 0;
    struct arena *arena = arena_create();
    const char *path = path_of(data[0], arena);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data + 1, 1, size - 1, file) != size - 1 || fclose(file))
        abort();
    struct diag diag = {.out = NULL};
    struct import import;
    struct import_request request = {.files = &path, .file_count = 1, .platform = "dgx-h100:1", .gpus = 8};
    bool good = import_read(&request, &import, arena, &diag);
    if (good != (diag.errors == 0))
        abort();
    if (good)
        check_written(&import, arena);
    unlink(path);
    arena_destroy(arena);
    return 0;
}
