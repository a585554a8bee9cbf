/* SPDX-License-Identifier: Apache-2.0 */
/* Redirections: where input of a command comes from, and what becomes of its output. */
#include "base/arena.h"
#include "base/paths.h"
#include "frameworks/shell/parts.h"

#include <string.h>
#include <sys/stat.h>

/* Expanded, but for quotes, which are characters there. */
static void expand_document(struct shell *s, uint16_t source, const struct redirect *document, struct cells *out)
{
    const char *text = s->sources[source].text;
    bool line = true;
    for (size_t i = document->from; i < document->to && !s->broken;) {
        char c = text[i];
        if (line && document->tabs && c == '\t') {
            i++;
            continue;
        }
        line = c == '\n';
        size_t end = i + 1;
        if (!document->literal && c == '\\' && strchr("$`\\\n", text[i + 1])) {
            if (text[i + 1] != '\n')
                shell_add(s, out, (struct cell){(uint32_t)i + 1, source, text[i + 1], true});
            i += 2;
            continue;
        }
        if (!document->literal && (c == '$' || c == '`')) {
            end = c == '$' ? shell_dollar_end(&s->sources[source], i, document->to)
                           : shell_quote_end(&s->sources[source], i, document->to);
            for (size_t k = i + 2; c == '$' && text[i + 1] == '{' && k + 3 <= end; k++)
                if (!strncmp(text + k, "$((", 3)) /* which bash reads wrong in a document */
                    shell_refuse(s, source, i, "arithmetic in ${} of a document, which bash does not read");
            shell_expand(s, source, i, end, true, out);
        } else if (c == CELL_OPEN && s->sources[source].origin)
            shell_add_open(s, out, s->sources[source].origin[i].at, true);
        else
            shell_add(s, out, (struct cell){(uint32_t)i, source, c, true});
        i = end;
    }
}

/* Devices that every process may open. Others, such as /dev/tty of a job without a terminal, may not be. */
static bool is_device(const char *path)
{
    static const char *const devices[] = {"null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr"};
    bool found = false;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        found |= !strncmp(path, "/dev/", 5) && !strcmp(path + 5, devices[i]);
    return found;
}

/* A file that cannot be opened keeps a command from running. Where this machine has no such file or folder, nobody
 * knows whether the one has on which the script runs. */
static void may_fail(struct shell *s, const struct step *step, const struct redirect *redirect, const char *path,
                     struct streams *streams)
{
    bool device = !strncmp(path, "/dev/", 5), reads = redirect->kind == REDIRECT_FROM;
    struct stat info;
    if (!reads && *path && path[strlen(path) - 1] == '/')
        shell_refuse(s, step->source, redirect->word.from, "output to the folder %s, which bash refuses", path);
    if (is_device(path) || (!reads && path[0] != '/') ||
        (!device && stat(reads ? path : path_directory(path, s->arena), &info) == 0))
        return;
    streams->fails = shell_unknown(s, path, "a file that may not be opened", step->source, redirect->word.from);
    if (!streams->before)
        streams->before = shell_copy(s, s->state);
}

/* A redirection whose word is nothing keeps its command from running. */
static void check_word(struct shell *s, const struct step *step, const struct redirect *redirect,
                       const struct cells *word)
{
    if (shell_has_text(s, word) == 0)
        shell_refuse(s, step->source, redirect->word.from, "a redirection to nothing, which bash refuses");
}

static const struct cells *read_input(struct shell *s, const struct step *step, const struct redirect *redirect,
                                      struct streams *streams)
{
    struct cells *cells = arena_alloc(s->arena, sizeof *cells);
    bool there;
    const char *why;
    if (redirect->kind == REDIRECT_DOCUMENT) {
        expand_document(s, step->source, redirect, cells);
        return cells;
    }
    if (redirect->kind != REDIRECT_STRING && redirect->kind != REDIRECT_FROM)
        return NULL;
    shell_expand_value(s, step->source, redirect->word.from, redirect->word.to, cells);
    if (redirect->kind == REDIRECT_STRING) {
        shell_add_text(s, cells, "\n", step->source, redirect->word.from, true);
        return cells;
    }
    check_word(s, step, redirect, cells);
    const char *path = shell_resolve(s, cells);
    const struct cells *text = path ? shell_file(s, path, &there, &why) : NULL;
    if (!text) {
        uint32_t open;
        may_fail(s, step, redirect, path ? path : shell_text(s, cells, &open), streams);
    }
    return text;
}

static void write_output(struct shell *s, const struct step *step, const struct redirect *redirect,
                         struct streams *streams)
{
    struct cells word = {0};
    uint32_t open;
    shell_expand_value(s, step->source, redirect->word.from, redirect->word.to, &word);
    shell_text(s, &word, &open);
    check_word(s, step, redirect, &word);
    if (redirect->kind == REDIRECT_COPY) {
        const char *to = shell_text(s, &word, &open);
        if (!strcmp(to, "1"))
            return;
        streams->output = true;
        if (s->capture && strcmp(to, "2") != 0) /* which may be what it is a copy of */
            shell_add_open(s, s->capture,
                           shell_unknown(s, arena_print(s->arena, ">&%s", to), "output to what is not followed",
                                         step->source, redirect->word.from),
                           false);
        s->capture = NULL;
        return;
    }
    if (!open)
        may_fail(s, step, redirect, shell_text(s, &word, &open), streams);
    if (redirect->stream != 1 && redirect->stream != 3) {
        shell_write(s, shell_written_path(s, &word), NULL, false, false);
        return;
    }
    if (streams->file) /* of two files the last one has it all */
        shell_write(s, streams->path, NULL, false, false);
    streams->file = streams->output = true;
    streams->more = redirect->kind == REDIRECT_APPEND;
    streams->path = shell_written_path(s, &word);
    s->capture = &streams->written;
}

/* A copy of a stream is named by a number, which `-` may follow, or by `-` alone; another word keeps the command from
 * running. Of the output alone it may be a file. */
static void check_copy(struct shell *s, const struct step *step, const struct redirect *redirect)
{
    struct cells word = {0};
    uint32_t open;
    shell_expand_value(s, step->source, redirect->word.from, redirect->word.to, &word);
    const char *to = shell_text(s, &word, &open);
    size_t digits = strspn(to, "0123456789");
    if (!open && strcmp(to, "-") != 0 && (!digits || (to[digits] && strcmp(to + digits, "-") != 0)))
        shell_refuse(s, step->source, redirect->word.from, "a copy of a stream that is none, which bash refuses");
}

void shell_begin_redirects(struct shell *s, const struct step *step, struct streams *streams)
{
    *streams =
        (struct streams){.capture = s->capture, .input = s->input, .printed = s->capture ? s->capture->count : 0};
    for (const struct redirect *each = step->redirects; each; each = each->next) {
        if (each->kind == REDIRECT_COPY && each->stream != 1)
            check_copy(s, step, each);
        if (each->stream == 0)
            s->input = read_input(s, step, each, streams);
        else if (each->stream == 1 || each->stream == 3 || each->kind == REDIRECT_TO || each->kind == REDIRECT_APPEND)
            write_output(s, step, each, streams);
    }
}

enum flow shell_end_redirects(struct shell *s, const struct step *step, struct streams *streams, enum flow flow)
{
    if (streams->output)
        s->capture = streams->capture;
    if (shell_reads(step))
        s->input = streams->input;
    if (streams->before)
        flow = shell_may_skip(s, streams->before, flow, streams->printed, streams->fails);
    if (!streams->file)
        return flow;
    bool known = true;
    for (size_t i = 0; i < streams->written.count; i++)
        known &= streams->written.items[i].c != CELL_OPEN || streams->written.items[i].quoted;
    shell_write(s, streams->path, &streams->written, known, streams->more);
    return flow;
}

bool shell_reads(const struct step *step)
{
    for (const struct redirect *each = step->redirects; each; each = each->next)
        if (each->stream == 0)
            return true;
    return false;
}

void shell_keep_redirects(struct shell *s, const struct step *step, const struct streams *streams)
{
    if (streams->file)
        shell_write(s, streams->path, NULL, false, false);
    if (streams->output && streams->capture && s->maybe)
        shell_refuse(s, step->source, step->at, "'exec' may turn output of a substitution elsewhere");
    else if (streams->file && streams->capture)
        s->capture = arena_alloc(s->arena, sizeof *s->capture);
    else
        s->capture = streams->capture;
    if (!shell_reads(step))
        s->input = streams->input;
    s->state->status = 0;
}
