/* SPDX-License-Identifier: Apache-2.0 */
/* What lies between words: blanks, comments, redirections, here-documents. */
#include "frameworks/readers/shell_parts.h"

#include <string.h>

/* Blanks, continued lines and comments; with `lines` also the ends of lines and semicolons. */
void shell_skip(struct shell *s, bool lines)
{
    while (s->at < s->size) {
        char c = s->text[s->at];
        if (c == '\\' && s->text[s->at + 1] == '\n')
            s->at += 2;
        else if (c == '#')
            s->at += strcspn(s->text + s->at, "\n");
        else if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n') ||
                 (lines && (c == ';' || c == '&') && s->text[s->at + 1] != ';'))
            s->at++;
        else
            return;
    }
}

bool shell_next_is(const struct shell *s, const char *word)
{
    size_t end = shell_word_end(s, s->at), length = strlen(word);
    return end - s->at == length && !strncmp(s->text + s->at, word, length);
}

/* Behind a here-document's last line. */
static void skip_document(struct shell *s)
{
    s->at += 2 + (s->text[s->at + 2] == '-');
    shell_skip(s, false);
    size_t end = shell_word_end(s, s->at), from = s->at, length = end - s->at;
    if (length >= 2 && strchr("'\"", s->text[from])) {
        from++;
        length -= 2;
    }
    const char *line = strchr(s->text + end, '\n');
    s->at = end;
    while (line && *line) {
        const char *text = line + 1 + strspn(line + 1, "\t"), *next = strchr(line + 1, '\n');
        if (length && !strncmp(text, s->text + from, length) && (text[length] == '\n' || !text[length])) {
            s->at = (size_t)(text + length - s->text);
            return;
        }
        line = next;
    }
    s->at = line ? end : s->size;
}

/* A redirection: the operator and its file. */
void shell_skip_redirection(struct shell *s)
{
    if (!strncmp(s->text + s->at, "<<", 2) && s->text[s->at + 2] != '<') {
        skip_document(s);
        return;
    }
    s->at += strspn(s->text + s->at, "<>&");
    shell_skip(s, false);
    s->at = shell_word_end(s, s->at);
}
