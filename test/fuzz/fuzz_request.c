/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes requests to `stagesim serve`: what is taken is the command line of a known command, what is refused says why.
 */
#include "base/arena.h"
#include "commands/serve/request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const struct command run = {.name = "run", .help = "  --format FORMAT       text, csv or json\n"},
                                schedule = {.name = "schedule", .help = "  --format FORMAT       text or csv\n"},
                                serve = {.name = "serve", .help = "No format.\n"};
    static const struct command *const commands[] = {&run, &schedule, &serve, NULL};
    struct arena *arena = arena_create();
    struct request request;
    struct fault fault = {""};
    char *line = malloc(size + 1); /* of exactly that size: reading beyond it is seen */
    memcpy(line, data, size);
    bool good = request_read(line, size, commands, "/nowhere", &request, arena, &fault);
    if (good != !fault.text[0] || !request.id || !*request.id)
        abort();
    if (good && !request.command && !request.of)
        abort();
    if (good && request.command) {
        if (request.command == &serve || strcmp(request.words[0], request.command->name) != 0 ||
            request.words[request.word_count])
            abort();
        for (int i = 0; i < request.word_count; i++)
            if (!request.words[i])
                abort();
    }
    free(line);
    arena_destroy(arena);
    return 0;
}
