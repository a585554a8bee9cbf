/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in lines of at most 160 columns, and back again. */
#include "base/text/wrap.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* What is written; the caller frees it. */
static char *wrapped(const char *head, const char *text)
{
    struct {
        char *text;
        size_t size;
    } *written = calloc(1, sizeof *written); /* not on the stack: gcc 12 takes the text for the variable's address */
    FILE *out = open_memstream(&written->text, &written->size);
    wrap_write(out, head, text);
    fclose(out);
    char *result = written->text;
    free(written);
    return result;
}

/* `count` times a word and a blank, without the last blank. */
static const char *repeat(const char *word, unsigned count)
{
    static char text[4096];
    *text = '\0';
    while (count-- > 0)
        strcat(strcat(text, word), count ? " " : "");
    return text;
}

Test(wrap, short_messages_are_one_line)
{
    char *text = wrapped("a.yaml:1:1: error: ", "no");
    cr_expect_str_eq(text, "a.yaml:1:1: error: no\n");
    free(text);
    text = wrapped("12345678901: ", repeat("abcdef", 21)); /* 13 + 146 */
    cr_expect_eq(strlen(text), 13 + 146 + 1);
    cr_expect_null(strchr(strchr(text, '\n') + 1, '\n'));
    free(text);
}

Test(wrap, no_line_is_longer_and_joining_gives_the_text)
{
    for (unsigned count = 1; count < 120; count++) {
        const char *text = repeat(count % 3 ? "w\xC3\xB6rter" : "words", count);
        char *result = wrapped("f: error: ", text), *copy = strdup(result);
        for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n")) {
            size_t columns = 0;
            for (const char *at = line; *at; at++)
                columns += (*at & 0xC0) != 0x80;
            cr_expect_leq(columns, WRAP_COLUMNS, "%s", line);
        }
        wrap_join(result);
        cr_expect_eq(strlen(result), 10 + strlen(text) + 1);
        cr_expect_str_eq(strcmp(result + 10, text) > 0 ? result + 10 + strlen(text) : "", "\n");
        cr_expect_eq(strncmp(result + 10, text, strlen(text)), 0);
        free(copy);
        free(result);
    }
}

Test(wrap, a_clause_is_kept_together)
{
    char text[512];
    snprintf(text, sizeof text, "%s; expected this", repeat("1234567", 16));
    strcat(strcat(text, " "), repeat("and that", 6));
    char *result = wrapped("f: ", text), *second = strchr(result, '\n');
    cr_assert_eq(strncmp(second, "\n           expected this", 25), 0, "%s", result);
    free(result);
}

Test(wrap, long_words_stand_alone)
{
    char word[300] = "";
    memset(word, 'x', sizeof word - 1);
    char *result = wrapped("f: ", word);
    cr_expect_eq(strlen(result), 3 + sizeof word);
    free(result);
    result = wrapped(word, "too long");
    cr_expect_str_eq(result + sizeof word - 1, "\n           too long\n");
    free(result);
}

Test(wrap, joining_leaves_what_follows)
{
    char text[] = "a: error: b\n           c\n       3 | x\n         | ^\n";
    wrap_join(text);
    cr_expect_str_eq(text, "a: error: b c\n       3 | x\n         | ^\n");
}
