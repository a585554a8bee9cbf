/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/parts.h"

#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A name, then blocks, each behind its size; a size of 0 ends the file. */
struct head {
    char name[PARTS_NAME_MAX];
};

void parts_begin(FILE *out, const char *name)
{
    struct head head = {""};
    snprintf(head.name, sizeof head.name, "%s", name);
    fwrite(&head, sizeof head, 1, out);
}

void parts_put(FILE *out, const void *bytes, size_t size)
{
    if (!size)
        return;
    fwrite(&size, sizeof size, 1, out);
    fwrite(bytes, 1, size, out);
}

void parts_end(FILE *out)
{
    size_t none = 0;
    fwrite(&none, sizeof none, 1, out);
}

struct block {
    uint8_t *bytes;
    size_t capacity;
};

/* Copies blocks up to the end of their file. */
static bool copy(FILE *in, FILE *out, struct block *block)
{
    size_t size = 1;
    while (fread(&size, sizeof size, 1, in) == 1 && size > 0) {
        block->bytes = array_grow(block->bytes, &block->capacity, size, 1);
        if (fread(block->bytes, 1, size, in) != size)
            return false;
        fwrite(block->bytes, 1, size, out);
    }
    return size == 0 && !ferror(in);
}

bool parts_unpack(FILE *in, struct output *output, const char *directory, struct fault *fault)
{
    struct block block = {0};
    struct head head;
    bool fine = true;
    rewind(in);
    while (fine && fread(&head, sizeof head, 1, in) == 1) {
        char path[512];
        snprintf(path, sizeof path, "%s%s", directory, head.name);
        FILE *out = output_open(output, path, fault);
        fine = out &&
               (copy(in, out, &block) || fault_set(fault, "%s: what was written could not be read back", path)) &&
               output_close_last(output, fault);
    }
    free(block.bytes);
    return fine && (!ferror(in) || fault_set(fault, "the files of a run could not be read back"));
}
