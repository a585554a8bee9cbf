/* SPDX-License-Identifier: Apache-2.0 */
/* Commands one after the other: lists, pipes, and plain commands with their words. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <string.h>

enum { COMMANDS_MAX = 50000, WORDS_MAX = 4096 };

/* ---- plain commands ---- */

/* A plain command while it runs. */
struct plain {
    const struct step *step;
    struct cells *words;
    size_t count, assignments; /* words; assignments before them */
    const char *name;
    uint32_t open; /* its name is not known */
};

static const char *declaration(struct shell *s, const struct plain *p)
{
    static const char *const names[] = {"export", "declare", "local", "readonly", "typeset", NULL};
    if (p->assignments >= p->step->count)
        return NULL;
    const struct raw *raw = &p->step->words[p->assignments];
    for (const char *const *name = names; *name; name++)
        if (raw->to - raw->from == strlen(*name) &&
            !strncmp(s->sources[p->step->source].text + raw->from, *name, strlen(*name)))
            return *name;
    return NULL;
}

static bool is_free_word(struct shell *s, const struct cells *word)
{
    if (word->count != 1 || word->items[0].c != CELL_OPEN || word->items[0].quoted)
        return false;
    const struct unknown *unknown = &s->unknowns[word->items[0].at];
    if (!unknown->why)
        shell_is_free(s, unknown->name);
    return !unknown->why;
}

static void expand_words(struct shell *s, struct plain *p)
{
    for (size_t i = p->assignments; i < p->step->count && !s->broken; i++) {
        const struct raw *raw = &p->step->words[i];
        shell_expand_word(s, p->step->source, raw->from, raw->to, &p->words, &p->count);
        if (p->count > WORDS_MAX)
            shell_refuse(s, p->step->source, p->step->at, "a command of more than %d words", WORDS_MAX);
    }
    while (p->count && is_free_word(s, &p->words[0])) {
        p->words++;
        p->count--;
    }
    p->name = p->count ? shell_text(s, &p->words[0], &p->open) : "";
    if (!p->open || strchr(p->name, '/'))
        return;
    struct cells plain = shell_without_free(s, &p->words[0]);
    const char *name = shell_text(s, &plain, &p->open);
    if (p->open)
        return;
    p->words[0] = plain;
    p->name = name;
}

/* NAME=VALUE before a command: a variable of that command. */
static void assign_before(struct shell *s, const struct plain *p)
{
    for (size_t i = 0; i < p->assignments; i++) {
        const struct raw *raw = &p->step->words[i];
        const char *name = arena_copy_part(s->arena, s->sources[p->step->source].text + raw->from, raw->name);
        struct cells value = {0};
        if (raw->array || raw->more || raw->index_to > raw->index_from) {
            shell_lose(s, "an array before a command", p->step->source, raw->from);
            return;
        }
        shell_expand_value(s, p->step->source, raw->value, raw->to, &value);
        struct variable *variable = shell_declare(s, name, true);
        variable->exported = variable->temporary = true;
        if (variable->depth == s->state->depth && !variable->fixed) {
            variable->value = shell_single(s, &value);
            variable->set = true;
        }
    }
}

/* A command whose name is not known may do anything in this process, unless it is a path. */
static void run_unnamed(struct shell *s, const struct plain *p)
{
    bool path = strchr(p->name, '/') || s->unknowns[p->open].name[0] == '(' || s->unknowns[p->open].name[0] == '{';
    shell_program(s, p->words, p->count, p->step->source, p->step->at);
    if (!path)
        shell_lose(s, arena_print(s->arena, "the command $%s, which is not known", s->unknowns[p->open].name),
                   p->step->source, p->step->at);
    s->state->status = -1;
    s->assumed = true;
}

/* A function that may be another one, or a program: what it does is not known, but its launches are seen. */
static void run_doubted(struct shell *s, const struct plain *p, const struct function *function,
                        const struct cells *words, size_t count)
{
    size_t printed = s->capture ? s->capture->count : 0;
    const char *why = arena_print(s->arena, "'%s' runs here, a function that may be another one", p->name);
    uint32_t maybe = s->maybe, unknown = shell_unknown(s, p->name, why, p->step->source, p->step->at);
    s->maybe = unknown;
    if (function->body)
        shell_call(s, function->body, words + 1, count - 1);
    else
        shell_lost_command(s, count, why, p->step->source, p->step->at);
    s->maybe = maybe;
    shell_lose(s, why, p->step->source, p->step->at);
    s->input = NULL;
    if (s->capture) {
        s->capture->count = printed;
        shell_add_open(s, s->capture, unknown, false);
    }
}

static enum flow run_words(struct shell *s, const struct plain *p)
{
    const struct function *function = p->open ? NULL : shell_function(s, p->name);
    enum flow flow = FLOW_NEXT;
    struct cells *words = NULL;
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        if (!is_free_word(s, &p->words[i]))
            shell_append(s, &p->words[i], &words, &count);
    const struct function *doubted = p->open ? NULL : shell_doubted_function(s, p->name);
    if (p->open)
        run_unnamed(s, p);
    else if (doubted)
        run_doubted(s, p, doubted, words, count);
    else if (function)
        flow = shell_call(s, function->body, words + 1, count - 1);
    else if (shell_builtin(s, p->step, p->name, words, count, &flow))
        return flow;
    else if (shell_print(s, p->name, words, count, p->step->source, p->step->at))
        return flow;
    else if (p->name[0] == '%') /* a job, of which scripts have none */
        s->state->status = 1;
    else {
        shell_program(s, p->words, p->count, p->step->source, p->step->at);
        if (s->state->strange &&
            !shell_is_program(s, p->words, p->count)) /* it may be a function of what was not followed */
            shell_lose(s, arena_print(s->arena, "'%s' runs here, which may be a function", p->name), p->step->source,
                       p->step->at);
        shell_end_program(s, p->name);
    }
    return flow;
}

/* Variables before a command, and those of a function, end with it. */
static enum flow run_scoped(struct shell *s, const struct plain *p)
{
    bool inner = p->assignments || (!p->open && (shell_function(s, p->name) || shell_doubted_function(s, p->name)));
    uint32_t splitting = s->state->splitting;
    bool cuts = false;
    for (size_t i = 0; i < p->assignments; i++)
        cuts |= p->step->words[i].name == 3 &&
                !strncmp(s->sources[p->step->source].text + p->step->words[i].from, "IFS", 3);
    if (!inner)
        return run_words(s, p);
    s->state->depth++;
    assign_before(s, p);
    enum flow flow = run_words(s, p);
    if (p->assignments && (!strcmp(p->name, "eval") || !strcmp(p->name, ".") || !strcmp(p->name, "source")))
        shell_lose(s, "variables before eval or source", p->step->source, p->step->at);
    shell_leave(s);
    if (cuts)
        s->state->splitting = splitting;
    return flow;
}

static enum flow run_plain(struct shell *s, const struct step *step)
{
    struct plain p = {.step = step};
    struct streams streams;
    enum flow flow = FLOW_NEXT;
    while (p.assignments < step->count && step->words[p.assignments].name)
        p.assignments++;
    const char *declared = declaration(s, &p);
    size_t substitutions = s->substitutions;
    if (!declared)
        expand_words(s, &p);
    shell_begin_redirects(s, step, &streams);
    if (declared && p.assignments)
        shell_lose(s, "variables before a declaration", step->source, step->at);
    if (declared)
        shell_run_declaration(s, step, p.assignments + 1, declared);
    else if (p.count)
        flow = run_scoped(s, &p);
    if (p.count == 1 && !streams.fails && !strcmp(p.name, "exec") && step->redirects) {
        shell_keep_redirects(s, step, &streams);
        return flow;
    }
    if (!declared && !p.count) {
        for (size_t i = 0; i < p.assignments && !s->broken; i++)
            shell_assign(s, step->source, &step->words[i]);
        if (s->substitutions == substitutions)
            s->state->status = 0;
        if (step->count == 0 && shell_reads(step) && step->redirects->kind != REDIRECT_FROM)
            s->state->status = 0;                                                 /* a document that nothing prints */
        else if (step->count == 0 && s->capture && s->input && shell_reads(step)) /* $(< file) */
            shell_add_cells(s, s->capture, s->input);
        else if (step->count == 0 && s->capture && shell_reads(step))
            shell_add_open(s, s->capture, shell_unknown(s, "(<)", "a file that is not known", step->source, step->at),
                           false);
    }
    return shell_end_redirects(s, step, &streams, flow);
}

/* ---- everything else ---- */

static enum flow run_pipe(struct shell *s, const struct step *step)
{
    struct cells *outer = s->capture, *pipe = arena_alloc(s->arena, sizeof *pipe);
    const struct cells *input = s->input;
    s->capture = pipe;
    shell_subshell(s, step->first, false);
    int first = s->state->status;
    s->capture = outer;
    s->input = pipe;
    shell_subshell(s, step->second, false);
    s->input = input;
    if (s->state->may_pipe && s->state->status == 0 && first)
        s->state->status = -1;
    else if (s->state->pipefail && s->state->status == 0) /* of the last one that failed */
        s->state->status = first;
    return FLOW_NEXT;
}

static enum flow run_chain(struct shell *s, const struct step *step)
{
    s->tolerant++;
    enum flow flow = s->run(s, step->first);
    s->tolerant--;
    if (flow != FLOW_NEXT || s->broken)
        return flow;
    int status = s->state->status;
    if (status < 0)
        return shell_fork(s, step->second, NULL, step->kind == STEP_AND ? -1 : 0,
                          shell_unknown(s, step->kind == STEP_AND ? "&&" : "||", "a condition that is not known",
                                        step->source, step->at));
    return (status == 0) == (step->kind == STEP_AND) ? s->run(s, step->second) : FLOW_NEXT;
}

static enum flow run_sum(struct shell *s, const struct step *step)
{
    struct cells cells = {0};
    uint32_t open;
    int64_t value;
    shell_expand(s, step->source, step->words[0].from, step->words[0].to, true, &cells);
    cells = shell_without_free(s, &cells);
    const char *text = shell_text(s, &cells, &open);
    if (open) {
        if (strchr(text, '=') || strstr(text, "++") || strstr(text, "--"))
            shell_lose(s, "arithmetic with what is not known", step->source, step->at);
        s->state->status = -1;
        return FLOW_NEXT;
    }
    enum arithmetic state = shell_arithmetic(s, text, &value, &open, step->source, step->at);
    s->state->status = state == ARITHMETIC_KNOWN ? value == 0 : state == ARITHMETIC_WRONG ? 1 : -1;
    return FLOW_NEXT;
}

static enum flow run_function(struct shell *s, const struct step *step)
{
    shell_define_function(s, step->name, step->first);
    s->state->status = 0;
    return FLOW_NEXT;
}

static enum flow run_compound(struct shell *s, const struct step *step)
{
    switch (step->kind) {
    case STEP_IF:
        return shell_if(s, step);
    case STEP_CASE:
        return shell_case(s, step);
    case STEP_FOR:
        return shell_for(s, step);
    case STEP_EACH:
        return shell_each(s, step);
    case STEP_WHILE:
    case STEP_UNTIL:
        return shell_while(s, step);
    case STEP_FUNCTION:
        return run_function(s, step);
    case STEP_TEST:
        s->state->status = shell_long_test(s, step);
        return FLOW_NEXT;
    case STEP_ARITHMETIC:
        return run_sum(s, step);
    case STEP_SUBSHELL:
        shell_subshell(s, step->first, false);
        return FLOW_NEXT;
    case STEP_GROUP:
        return s->run(s, step->first);
    default:
        shell_refuse(s, step->source, step->at, "'select' asks a user; expected a script that runs by itself");
        return FLOW_EXIT;
    }
}

static enum flow run_redirected(struct shell *s, const struct step *step)
{
    struct streams streams;
    shell_begin_redirects(s, step, &streams);
    enum flow flow = run_compound(s, step);
    return shell_end_redirects(s, step, &streams, flow);
}

static enum flow run_list(struct shell *s, const struct step *step)
{
    enum flow flow = FLOW_NEXT;
    for (const struct step *each = step->first; each && flow == FLOW_NEXT && !s->broken; each = each->next)
        flow = s->run(s, each);
    return flow;
}

static bool may_end(enum step_kind kind)
{
    return kind == STEP_PLAIN || kind == STEP_PIPE || kind == STEP_SUBSHELL || kind == STEP_TEST ||
           kind == STEP_ARITHMETIC;
}

/* Under `set -e` a command may have failed, which ends this process. */
static void process_may_end(struct shell *s, const struct step *step)
{
    uint32_t why = shell_unknown(s, "exit", "the script may end here", step->source, step->at);
    if (!s->apart)
        shell_doubt(s, step->source, step->at);
    else if (s->process && !s->process->left)
        s->process->left = why;
}

enum flow shell_run(struct shell *s, const struct step *step)
{
    enum flow flow = FLOW_NEXT;
    if (!s->broken && ++s->commands > COMMANDS_MAX)
        shell_refuse(s, step->source, step->at, "the script takes more than %d commands to follow", COMMANDS_MAX);
    s->source = step->source;
    s->at = step->at;
    shell_spend(s, CELL_WORK);
    if (s->broken)
        return FLOW_EXIT;
    if (may_end(step->kind))
        s->assumed = false;
    if (step->kind == STEP_LIST)
        flow = run_list(s, step);
    else if (step->kind == STEP_PLAIN)
        flow = run_plain(s, step);
    else if (step->kind == STEP_PIPE)
        flow = run_pipe(s, step);
    else if (step->kind == STEP_AND || step->kind == STEP_OR)
        flow = run_chain(s, step);
    else if (step->kind == STEP_NOT) {
        bool tolerant = s->state->errexit; /* as it is before: one that its command sets ends the script */
        s->tolerant += tolerant;
        flow = s->run(s, step->first);
        s->tolerant -= tolerant;
        s->state->status = s->state->status < 0 ? -1 : !s->state->status;
    } else if (step->kind == STEP_BEHIND) {
        shell_subshell(s, step->first, true);
        s->state->behind = true;
        s->state->status = 0;
    } else
        flow = run_redirected(s, step);
    bool fails = may_end(step->kind) && !s->tolerant && s->state->status > 0;
    if (flow == FLOW_NEXT && fails && (s->state->may_exit || s->state->trapped) && !s->state->errexit)
        process_may_end(s, step);
    bool may_fail = may_end(step->kind) && !s->tolerant && s->state->status < 0 && !s->assumed;
    if (flow == FLOW_NEXT && may_fail && (s->state->errexit || s->state->may_exit || s->state->trapped))
        process_may_end(s, step);
    return flow == FLOW_NEXT && fails && s->state->errexit ? FLOW_EXIT : flow;
}
