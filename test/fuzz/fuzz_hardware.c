/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of products. What it accepts is generated as a platform of one node and of three, and written as a
 * product again, which must be accepted and give the same platform. */
#include "base/arena.h"
#include "platforms/hardware/hardware.h"
#include "platforms/presets/presets.h"
#include "platforms/presets/product_write.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static char folder[] = "/tmp/stagesim-fuzz-XXXXXX", fuzz_file[64], again_file[64];

static void remove_files(void)
{
    unlink(fuzz_file);
    unlink(again_file);
    rmdir(folder);
}

/* Files of this process. */
static void name_files(void)
{
    if (*fuzz_file)
        return;
    if (!mkdtemp(folder))
        abort();
    snprintf(fuzz_file, sizeof fuzz_file, "%s/fuzz.yaml", folder);
    snprintf(again_file, sizeof again_file, "%s/again.yaml", folder);
    atexit(remove_files);
}

/* The platform without the comment on top; NULL where it does not come in that size. */
static char *platform_of(const char *preset, uint32_t nodes)
{
    struct platform_request request = {.preset = preset, .nodes = nodes};
    struct fault fault = {""};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool written = platform_generate(&request, out, &fault);
    fclose(out);
    char *body = written ? strstr(text, "-->") : NULL;
    char *copy = body ? strdup(body) : NULL;
    free(text);
    return copy;
}

/* The product of a text in a file of that name. */
static const struct preset *read_text(const char *name, const char *text, size_t size, struct diag *diag)
{
    FILE *out = fopen(name, "w");
    bool written = out && fwrite(text, 1, size, out) == size;
    if (!out || fclose(out) || !written)
        abort();
    return preset_read(name, (struct place){0}, diag);
}

static void write_and_read_again(const struct preset *preset, struct arena *arena, struct diag *diag)
{
    struct fault fault = {""};
    char *text = NULL, *first = NULL, *second = NULL;
    size_t size = 0;
    struct node_graph *node = preset_node(preset, preset->devices, arena);
    struct design design = {
        .title = "again", .prefix = preset->prefix, .node = node, .fabric = preset->fabric, .nodes = 1};
    FILE *out = open_memstream(&text, &size);
    bool written = node && preset->fabric.kind == FABRIC_SWITCHED && product_write(&design, "again", out, &fault);
    fclose(out);
    if (written) {
        if (!read_text(again_file, text, size, diag))
            abort();
        first = platform_of(again_file, 1);
        second = platform_of(again_file, 3);
        char *own = platform_of(fuzz_file, 1);
        if (!first != !own)
            abort();
        free(own);
    }
    free(first);
    free(second);
    free(text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct diag diag = {0};
    struct arena *arena = arena_create();
    name_files();
    const struct preset *preset = read_text(fuzz_file, (const char *)data, size, &diag);
    if (!preset && !diag.errors)
        abort();
    if (preset && preset->devices <= 64) {
        free(platform_of(fuzz_file, 3));
        write_and_read_again(preset, arena, &diag);
    }
    arena_destroy(arena);
    hardware_forget();
    return 0;
}
