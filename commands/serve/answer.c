/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/serve/answer.h"

#include "base/bulk.h"
#include "base/json/json_reader.h"
#include "base/json_writer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct text {
    char *bytes; /* with a zero behind them; free() */
    size_t size, at;
};

/* The whole of a file, from its start. */
static struct text text_of(int descriptor)
{
    off_t end = descriptor < 0 ? 0 : lseek(descriptor, 0, SEEK_END);
    struct text text = {memory_zeroed(end < 0 ? 1 : (size_t)end + 1, 1), 0, 0};
    while (end > 0 && text.size < (size_t)end) {
        ssize_t length = pread(descriptor, text.bytes + text.size, (size_t)end - text.size, (off_t)text.size);
        if (length <= 0)
            break;
        text.size += (size_t)length;
    }
    return text;
}

static size_t give(void *user, char *buffer, size_t size, struct fault *fault)
{
    struct text *text = user;
    size_t left = text->size - text->at, given = left < size ? left : size;
    (void)fault;
    memcpy(buffer, text->bytes + text->at, given);
    text->at += given;
    return given;
}

static bool is_json(struct text *text)
{
    struct place at;
    bool trouble;
    char first = text->bytes[strspn(text->bytes, " \n\t\r")];
    if (first != '{' && first != '[')
        return false;
    struct json_reader *reader = json_reader_create("output", give, text);
    while (json_next(reader) != JSON_END) {}
    bool good = !json_reader_failed(reader, &at, &trouble);
    json_reader_destroy(reader);
    return good;
}

/* JSON has no newlines inside texts: without those between, all of it is one line. */
static void write_on_a_line(FILE *out, const struct text *text)
{
    for (size_t i = 0; i < text->size; i++)
        if (text->bytes[i] != '\n')
            putc(text->bytes[i], out);
        else if (i + 1 < text->size)
            putc(' ', out);
}

/* A shorter word in the place of a name. */
static void rename_all(char *text, const char *name, const char *word)
{
    size_t length = strlen(name), size = strlen(word);
    for (char *at = text; (at = strstr(at, name)); at += size) {
        for (size_t i = 0; i < size; i++)
            at[i] = word[i];
        memmove(at + size, at + length, strlen(at + length) + 1);
    }
}

void answer_write(FILE *out, const struct answer *answer)
{
    struct text result = text_of(answer->output), said = text_of(answer->messages);
    if (answer->empty)
        rename_all(said.bytes, answer->empty, "scenario");
    fprintf(out, "{\"id\": %s, \"code\": %d", answer->id, answer->code);
    if (result.size)
        fputs(", \"result\": ", out);
    if (result.size && is_json(&result))
        write_on_a_line(out, &result);
    else if (result.size)
        json_escape(out, result.bytes);
    if (said.size || answer->instead) {
        fputs(", \"messages\": ", out);
        json_escape(out, answer->instead ? answer->instead : said.bytes);
    }
    fputs("}\n", out);
    fflush(out);
    free(result.bytes);
    free(said.bytes);
}
