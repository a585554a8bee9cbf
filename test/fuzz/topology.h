/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of a topology file to the platform that it becomes. */
#ifndef TEST_TOPOLOGY_H
#define TEST_TOPOLOGY_H

#include "base/arena.h"
#include "platforms/generate/generate.h"
#include "platforms/import/import.h"

#include <stdio.h>
#include <stdlib.h>

/* `text` is in the arena, with a zero behind it. A refusal without a reason is a finding. */
static inline void become_platform(const char *text, size_t size, const struct import_options *options, uint32_t nodes,
                                   struct arena *arena)
{
    struct fault fault = {""};
    struct import *import = import_text("input", text, size, options, arena, &fault);
    if (!import && !fault.text[0])
        abort();
    if (!import)
        return;
    FILE *nowhere = fopen("/dev/null", "w");
    struct design design = {.title = import->source, .prefix = "gpu", .node = import->node, .nodes = nodes};
    design.fabric = (struct fabric){
        .name = "switched", .kind = FABRIC_SWITCHED, .pod = 32, .oversubscription = 1, .source = "test"};
    if (!design_write(&design, nowhere, &fault) && !fault.text[0])
        abort();
    fclose(nowhere);
}

/* The input as such a text. */
static inline const char *text_of(const unsigned char *data, size_t size, struct arena *arena)
{
    char *text = arena_alloc(arena, size + 1);
    for (size_t i = 0; i < size; i++)
        text[i] = (char)data[i];
    return text;
}

#endif
