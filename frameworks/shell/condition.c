/* SPDX-License-Identifier: Apache-2.0 */
/* The words of [[ ... ]]. */
#include "frameworks/shell/syntax.h"

#include <string.h>

/* Bash takes no two words beside each other but behind a unary operator, nor three but around a binary one. */
static bool is_condition(const struct raw *words, size_t count, const char *text)
{
    static const char *const binary[] = {"=",   "==",  "!=",  "=~",  "<",   ">",   "-eq", "-ne",
                                         "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", NULL};
    if (count == 2)
        return text[words[0].from] == '-' && words[0].to == words[0].from + 2;
    for (const char *const *each = binary; count == 3 && *each; each++)
        if (words[1].to - words[1].from == strlen(*each) && !strncmp(text + words[1].from, *each, strlen(*each)))
            return true;
    return count < 2;
}

static bool joins(const char *text, const struct raw *raw)
{
    size_t length = raw->to - raw->from;
    return length == 1 ? strchr("!()", text[raw->from]) != NULL
                       : length == 2 && (!strncmp(text + raw->from, "&&", 2) || !strncmp(text + raw->from, "||", 2));
}

bool parser_is_condition(const struct parser *p, const struct step *step)
{
    bool good = true;
    for (size_t i = 0, first = 0; i <= step->count; i++)
        if (i == step->count || joins(p->source->text, &step->words[i])) {
            good &= is_condition(step->words + first, i - first, p->source->text);
            first = i + 1;
        }
    return good;
}
