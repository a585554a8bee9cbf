/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a queue's page. */
#include "base/arena.h"
#include "cluster/answers/queue_page.h"

void queue_page_finish(struct queue_page *page)
{
    for (size_t i = 0; i < page->section_count; i++)
        table_destroy(page->sections[i].table);
}

void queue_page_tile(struct queue_page *page, const char *value, const char *name, struct arena *arena)
{
    page->tiles[page->tile_count++] = (struct queue_tile){arena_copy(arena, value), name};
}

struct queue_section *queue_page_table(struct queue_page *page, const char *heading, struct table *table)
{
    struct queue_section *section = &page->sections[page->section_count++];
    *section = (struct queue_section){.heading = heading, .table = table, .sorts = true, .items = "", .notes = ""};
    return section;
}
