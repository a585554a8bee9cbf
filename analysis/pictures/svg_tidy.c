/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/svg_tidy.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct name {
    const char *text; /* into the document */
    size_t length;
};

/* The ids seen so far; their index is their new number. A document has some hundred (one per glyph and clip). */
struct names {
    struct name *items;
    size_t count, capacity;
};

void xml_escape(FILE *out, const char *text)
{
    for (; *text;) {
        char clean[256];
        text_clean(clean, sizeof clean, text);
        for (const char *at = clean; *at; at++) {
            const char *entity = *at == '&'   ? "&amp;"
                                 : *at == '<' ? "&lt;"
                                 : *at == '>' ? "&gt;"
                                 : *at == '"' ? "&quot;"
                                              : NULL;
            if (*at == '\'')
                entity = "&#39;";
            if (entity)
                fputs(entity, out);
            else
                fputc(*at, out);
        }
        text += strlen(clean);
    }
}

static size_t name_number(struct names *names, struct name name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (names->items[i].length == name.length && memcmp(names->items[i].text, name.text, name.length) == 0)
            return i;
    }
    names->items = array_grow(names->items, &names->capacity, names->count + 1, sizeof *names->items);
    names->items[names->count] = name;
    return names->count++;
}

static const char *find(const char *from, const char *end, const char *word)
{
    const char *found = memmem(from, (size_t)(end - from), word, strlen(word));
    return found ? found : end;
}

/* The nearest start of an id at or after `from`: its definition (id="...") or a reference to it ("#...", url(#...)).
 * `end` when there is none. `from` is never the first byte of the document. */
static const char *next_id(const char *from, const char *end)
{
    static const char definition[] = " id=";
    const size_t length = sizeof definition - 1;
    for (const char *at = from; at < end; at++) {
        if (*at == '#' && (at[-1] == '"' || at[-1] == '('))
            return at + 1;
        if (*at == '"' && (size_t)(at - from) >= length && memcmp(at - length, definition, length) == 0)
            return at + 1;
    }
    return end;
}

static void write_body(const char *at, const char *end, const char *prefix, FILE *out)
{
    struct names names = {0};
    for (;;) {
        const char *id = next_id(at, end);
        fwrite(at, 1, (size_t)(id - at), out);
        if (id == end)
            break;
        size_t length = 0;
        while (id + length < end && id[length] != '"' && id[length] != ')')
            length++;
        fprintf(out, "%s%zu", prefix, name_number(&names, (struct name){id, length}));
        at = id + length;
    }
    free(names.items);
}

static void write_caption(const struct canvas_caption *caption, FILE *out)
{
    fputs("\n<title>", out);
    xml_escape(out, caption->title);
    fputs("</title>", out);
    if (caption->description) {
        fputs("\n<desc>", out);
        xml_escape(out, caption->description);
        fputs("</desc>", out);
    }
}

/* The attributes of the root, with its width and height in millimetres where the picture is for paper. What follows
 * them, viewBox first, counts units of the drawing. */
static void write_root(const char *root, const char *inside, const struct canvas_caption *caption, FILE *out)
{
    double width, height;
    const char *size = find(root, inside, " width=\"");
    const char *view = find(size, inside, " viewBox");
    if (!(caption->scale > 0) || view == inside || sscanf(view, " viewBox=\"0 0 %lf %lf\"", &width, &height) != 2) {
        fwrite(root, 1, (size_t)(inside - root), out);
        return;
    }
    fwrite(root, 1, (size_t)(size - root), out);
    fprintf(out, " width=\"%.6gmm\" height=\"%.6gmm\"", width * caption->scale / 72 * 25.4,
            height * caption->scale / 72 * 25.4);
    fwrite(view, 1, (size_t)(inside - view), out);
}

void svg_tidy(const char *svg, size_t size, const struct canvas_caption *caption, FILE *out)
{
    const char *end = svg + size;
    const char *root = find(svg, end, "<svg");
    const char *inside = find(root, end, ">");
    if (inside == end)
        return;
    const char *start = caption->prefix ? root : svg;
    fwrite(start, 1, (size_t)(root - start), out);
    fputs("<svg role=\"img\"", out);
    root += strlen("<svg");
    write_root(root, inside + 1, caption, out);
    write_caption(caption, out);
    write_body(inside + 1, end, caption->prefix ? caption->prefix : "i", out);
}
