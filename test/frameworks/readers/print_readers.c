/* SPDX-License-Identifier: Apache-2.0 */
/* print-readers shell|toml|python FILE: the words of a script's launch, each between marks, or a TOML file or the names
 * of a Python file as JSON; what is not known is null. print-readers python FILE FUNCTION: what a function returns. */
#include "base/arena.h"
#include "frameworks/python/python.h"
#include "frameworks/readers/text.h"
#include "frameworks/readers/toml.h"
#include "frameworks/shell/shell.h"

#include <stdio.h>
#include <string.h>

static void print_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c == '"' || c == '\\' || c == 127)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

/* Scalars as pairs of kind and text: what a number is worth is for who reads it. */
static void print_node(const struct node *node)
{
    if (node->kind == NODE_REFUSED) {
        printf("null");
        return;
    }
    if (node->kind == NODE_SCALAR) {
        printf("[\"%s\", ", node->quoted ? "string" : "plain");
        print_text(node->text);
        putchar(']');
        return;
    }
    putchar(node->kind == NODE_MAP ? '{' : '[');
    if (node->kind == NODE_LIST)
        printf("\"list\"%s", node->first ? ", " : "");
    for (const struct node *child = node->first; child; child = child->next) {
        if (node->kind == NODE_MAP) {
            print_text(child->key);
            printf(": ");
        }
        print_node(child);
        if (child->next)
            printf(", ");
    }
    putchar(node->kind == NODE_MAP ? '}' : ']');
}

static bool is_option(const char *word)
{
    return !strncmp(word, "--", 2);
}

/* A launch of which something is not known is none, but for names that nobody sets: these are taken as not set. */
static bool print_words(const char *file, const char *text, size_t size, struct arena *arena, struct diag *diag)
{
    struct shell_command command;
    const struct shell_request request = {
        .file = file, .text = text, .size = size, .is_option = is_option, .tool = "any"};
    if (!shell_read(&request, arena, diag, &command))
        return false;
    for (size_t i = 0; i < command.note_count; i++)
        fprintf(stderr, "%u: %s: %s\n", command.notes[i].at.line, command.notes[i].name, command.notes[i].text);
    for (size_t i = 0; i < command.count; i++) {
        const struct shell_word *word = &command.words[i];
        if (word->open && (word->why || strcmp(word->text + 1, word->open) != 0)) {
            fprintf(stderr, "%s:%u: $%s is not known: %s\n", file, word->at.line, word->open,
                    word->why ? word->why : "nobody sets it");
            return false;
        }
    }
    for (size_t i = 0; i < command.count; i++)
        if (!command.words[i].many)
            printf("%s\x1f\n", command.words[i].open ? "" : command.words[i].text);
    return true;
}

static bool print_python(const char *file, const char *text, size_t size, const char *function, struct arena *arena,
                         struct diag *diag)
{
    static const char *const harmless[] = {"harmless", NULL};
    const struct python_request request = {file, text, size, harmless, arena, diag};
    struct python *python = python_load(&request);
    const struct node *root = !python ? NULL : function ? python_call(python, function) : python_names(python);
    if (root)
        print_node(root);
    return root;
}

static bool print_toml(const char *file, const char *text, size_t size, struct arena *arena, struct diag *diag)
{
    const struct node *root = toml_parse(file, text, size, arena, diag);
    if (root)
        print_node(root);
    return root;
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct diag diag = {.out = stderr};
    size_t size = 0;
    const char *text = argc == 3 || argc == 4 ? text_read(argv[2], &size, arena, &diag) : NULL;
    bool good = text && (!strcmp(argv[1], "shell")    ? print_words(argv[2], text, size, arena, &diag)
                         : !strcmp(argv[1], "python") ? print_python(argv[2], text, size, argv[3], arena, &diag)
                                                      : print_toml(argv[2], text, size, arena, &diag));
    arena_destroy(arena);
    return !good;
}
