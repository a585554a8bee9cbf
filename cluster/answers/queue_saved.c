/* SPDX-License-Identifier: Apache-2.0 */
/* queue.json, written and read back. */
#include "analysis/output/saved/kept_fields.h"
#include "base/arena.h"
#include "cluster/answers/queue_page.h"

#include <stdlib.h>
#include <string.h>

/* Longer than any run, and more nodes than any cluster has; pictures compute with them. */
static const double seconds_most = 1e12;
enum { NODES_MOST = 10000000 };

/* ---- writing ---- */

static void write_sections(struct json_writer *json, const struct queue_page *page)
{
    json_array_begin(json, "sections", true);
    for (size_t i = 0; i < page->section_count; i++) {
        const struct queue_section *section = &page->sections[i];
        json_object_begin(json, NULL, true);
        json_text(json, "heading", section->heading);
        json_integer(json, "sorts", section->sorts);
        json_text(json, "items", section->items);
        json_text(json, "notes", section->notes);
        kept_table_write(json, section->table, true);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_boxes(struct json_writer *json, const struct queue_drawing *drawing)
{
    json_array_begin(json, "boxes", true);
    for (size_t i = 0; i < drawing->box_count; i++) {
        const struct queue_box *box = &drawing->boxes[i];
        json_array_begin(json, NULL, false);
        json_text(json, NULL, box->name);
        json_integer(json, NULL, box->job);
        json_integer(json, NULL, box->first);
        json_integer(json, NULL, box->count);
        json_number(json, NULL, box->from);
        json_number(json, NULL, box->to);
        json_number(json, NULL, box->stalled);
        json_array_end(json);
    }
    json_array_end(json);
}

static void write_drawing(struct json_writer *json, const struct queue_drawing *drawing)
{
    json_object_begin(json, "drawing", true);
    json_text(json, "description", drawing->description);
    json_integer(json, "nodes", drawing->nodes);
    json_integer(json, "longest", drawing->longest);
    json_number(json, "begin", drawing->begin);
    json_number(json, "span", drawing->span);
    json_integer(json, "draws", drawing->draws);
    write_boxes(json, drawing);
    json_array_begin(json, "away", true);
    for (size_t i = 0; i < drawing->away_count; i++) {
        json_array_begin(json, NULL, false);
        json_integer(json, NULL, drawing->away[i].node);
        json_number(json, NULL, drawing->away[i].from);
        json_number(json, NULL, drawing->away[i].to);
        json_array_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "levels", true);
    for (size_t i = 0; i < drawing->level_count; i++) {
        json_array_begin(json, NULL, false);
        json_number(json, NULL, drawing->levels[i].time);
        json_integer(json, NULL, drawing->levels[i].waiting);
        json_integer(json, NULL, drawing->levels[i].nodes);
        json_array_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

void queue_page_write(FILE *out, const struct queue_page *page)
{
    struct json_writer json = json_writer_init(out);
    json_object_begin(&json, NULL, true);
    json_text(&json, "title", page->drawing.title);
    json_text(&json, "line", page->line);
    json_text(&json, "verdict", page->verdict);
    json_text(&json, "notes", page->notes);
    json_text(&json, "chart_notes", page->chart_notes);
    json_array_begin(&json, "tiles", true);
    for (size_t i = 0; i < page->tile_count; i++) {
        json_array_begin(&json, NULL, false);
        json_text(&json, NULL, page->tiles[i].value);
        json_text(&json, NULL, page->tiles[i].name);
        json_array_end(&json);
    }
    json_array_end(&json);
    write_sections(&json, page);
    write_drawing(&json, &page->drawing);
    json_object_end(&json);
    putc('\n', out);
}

/* ---- reading ---- */

static const char *member(struct kept_file *file, const struct node *map, const char *key)
{
    return kept_text(file, node_get(map, key), map);
}

static void read_tiles(struct kept_file *file, const struct node *root, struct queue_page *page)
{
    for (const struct node *tile = kept_list(file, root, "tiles")->first; tile && file->good; tile = tile->next) {
        if (tile->kind != NODE_LIST || page->tile_count == QUEUE_TILES_MAX)
            kept_refuse(file, tile, "at most 16 tiles, each [value, name]");
        else
            page->tiles[page->tile_count++] =
                (struct queue_tile){kept_text(file, tile->first, tile), kept_text(file, kept_next(tile->first), tile)};
    }
}

static void read_sections(struct kept_file *file, const struct node *root, struct queue_page *page)
{
    const struct node *sections = kept_list(file, root, "sections");
    for (const struct node *node = sections->first; node && file->good; node = node->next) {
        if (node->kind != NODE_MAP || page->section_count == QUEUE_SECTIONS_MAX) {
            kept_refuse(file, node, "at most 10 sections");
            return;
        }
        struct queue_section *section = queue_page_table(page, member(file, node, "heading"), table_create());
        section->sorts = kept_count(file, node_get(node, "sorts"), node) > 0;
        section->items = member(file, node, "items");
        section->notes = member(file, node, "notes");
        kept_table_read(file, node, true, section->table);
    }
}

static bool is_within(const struct queue_drawing *drawing, double from, double to)
{
    return from >= drawing->begin && from <= to && to <= drawing->begin + drawing->span * (1 + 1e-9);
}

static void read_boxes(struct kept_file *file, const struct node *map, struct queue_drawing *drawing)
{
    const struct node *list = kept_list(file, map, "boxes");
    drawing->boxes = arena_array(file->arena, list->count + (size_t)1, sizeof *drawing->boxes);
    for (const struct node *entry = list->first; entry && file->good; entry = entry->next) {
        struct queue_box *box = &drawing->boxes[drawing->box_count++];
        const struct node *at = entry->kind == NODE_LIST ? entry->first : NULL;
        box->name = kept_text(file, at, entry);
        box->job = kept_count(file, at = kept_next(at), entry);
        box->first = kept_count(file, at = kept_next(at), entry);
        box->count = kept_count(file, at = kept_next(at), entry);
        box->from = kept_number(file, at = kept_next(at), entry);
        box->to = kept_number(file, at = kept_next(at), entry);
        box->stalled = kept_number(file, kept_next(at), entry);
        if (!is_within(drawing, box->from, box->to) || box->stalled < 0 || box->stalled > box->to - box->from ||
            (uint64_t)box->first + box->count > drawing->nodes)
            kept_refuse(file, entry, "a box [name, job, first node, nodes, from, to, stalled]");
    }
}

static void read_away(struct kept_file *file, const struct node *map, struct queue_drawing *drawing)
{
    const struct node *list = kept_list(file, map, "away");
    struct queue_away *away = arena_array(file->arena, list->count + (size_t)1, sizeof *away);
    for (const struct node *entry = list->first; entry && file->good; entry = entry->next) {
        const struct node *at = entry->kind == NODE_LIST ? entry->first : NULL;
        struct queue_away *one = &away[drawing->away_count++];
        one->node = kept_count(file, at, entry);
        one->from = kept_number(file, at = kept_next(at), entry);
        one->to = kept_number(file, kept_next(at), entry);
        if (one->node >= drawing->nodes || !is_within(drawing, one->from, one->to))
            kept_refuse(file, entry, "a node in repair [node, from, to]");
    }
    drawing->away = away;
}

static void read_levels(struct kept_file *file, const struct node *map, struct queue_drawing *drawing)
{
    const struct node *list = kept_list(file, map, "levels");
    struct queue_level *levels = arena_array(file->arena, list->count + (size_t)1, sizeof *levels);
    double before = drawing->begin;
    for (const struct node *entry = list->first; entry && file->good; entry = entry->next) {
        const struct node *at = entry->kind == NODE_LIST ? entry->first : NULL;
        struct queue_level *level = &levels[drawing->level_count++];
        level->time = kept_number(file, at, entry);
        level->waiting = kept_count(file, at = kept_next(at), entry);
        level->nodes = kept_count(file, kept_next(at), entry);
        if (!is_within(drawing, level->time, level->time) || level->time < before ||
            level->waiting > drawing->longest || level->nodes > drawing->nodes)
            kept_refuse(file, entry, "a level [time, waiting, nodes], by time");
        before = level->time;
    }
    drawing->levels = levels;
}

static void read_drawing(struct kept_file *file, const struct node *root, struct queue_drawing *drawing)
{
    const struct node *map = node_get(root, "drawing");
    if (!map || map->kind != NODE_MAP) {
        kept_refuse(file, map ? map : root, "a drawing");
        return;
    }
    drawing->description = member(file, map, "description");
    drawing->nodes = kept_count(file, node_get(map, "nodes"), map);
    drawing->longest = kept_count(file, node_get(map, "longest"), map);
    drawing->begin = kept_number(file, node_get(map, "begin"), map);
    drawing->span = kept_number(file, node_get(map, "span"), map);
    drawing->draws = kept_count(file, node_get(map, "draws"), map) > 0;
    if (!drawing->nodes || drawing->nodes > NODES_MOST || drawing->begin < 0 || !(drawing->span > 0) ||
        drawing->begin + drawing->span > seconds_most)
        kept_refuse(file, map, "nodes, and the seconds in which the run began and that it took");
    if (!file->good)
        return;
    read_boxes(file, map, drawing);
    read_away(file, map, drawing);
    read_levels(file, map, drawing);
}

bool queue_page_read(const char *path, struct queue_page *page, struct arena *arena, struct diag *diag)
{
    struct kept_file file = {QUEUE_SAVED, arena, diag, true};
    const struct node *root = kept_load(path, &file);
    *page = (struct queue_page){.line = ""};
    if (!root)
        return false;
    page->drawing.title = member(&file, root, "title");
    page->line = member(&file, root, "line");
    page->verdict = member(&file, root, "verdict");
    page->notes = member(&file, root, "notes");
    page->chart_notes = member(&file, root, "chart_notes");
    read_tiles(&file, root, page);
    read_sections(&file, root, page);
    read_drawing(&file, root, &page->drawing);
    if (!file.good)
        queue_page_finish(page);
    return file.good;
}
