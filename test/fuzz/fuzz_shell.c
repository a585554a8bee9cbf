/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the follower of launch scripts: it ends, says why it refuses, and what it reads has texts and reasons. */
#include "base/arena.h"
#include "frameworks/shell/shell.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static bool is_option(const char *word)
{
    return !strncmp(word, "--", 2);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const struct shell_define defines[] = {{"TP", "4"}, {"1", "first"}};
    struct arena *arena = arena_create();
    struct diag diag = {.out = NULL};
    struct shell_command command;
    char *text = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        text[i] = (char)data[i];
    text[size] = '\0';
    const struct shell_request request = {.file = "nowhere/script.sh",
                                          .text = text,
                                          .size = size,
                                          .defines = defines,
                                          .define_count = size % 3,
                                          .is_option = is_option,
                                          .tool = "any"};
    bool read = !memchr(text, '\0', size) && shell_read(&request, arena, &diag, &command);
    if (read && diag.errors)
        abort();
    for (size_t i = 0; read && i < command.count; i++)
        if (!command.words[i].text || (command.words[i].many && !command.words[i].open))
            abort();
    free(text);
    arena_destroy(arena);
    return 0;
}
