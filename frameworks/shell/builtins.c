/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of bash itself. What they may change is known here, or is unknown after them. */
#include "base/arena.h"
#include "base/paths.h"
#include "frameworks/shell/parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A builtin with its words. */
struct call {
    struct shell *s;
    const struct step *step;
    struct cells *words;
    size_t count;
    enum flow flow;
};

static const char *text_of(const struct call *c, size_t i)
{
    uint32_t open;
    const char *text = i < c->count ? shell_text(c->s, &c->words[i], &open) : "";
    return text;
}

static bool is_open(const struct call *c, size_t i)
{
    uint32_t open = 0;
    if (i < c->count)
        shell_text(c->s, &c->words[i], &open);
    return open;
}

static void lose(const struct call *c, const char *why)
{
    shell_lose(c->s, why, c->step->source, c->step->at);
}

/* The first count behind the name, or `other`; -1: not known. */
static long number_of(const struct call *c, long other)
{
    char *end;
    if (c->count < 2)
        return other;
    long number = strtol(text_of(c, 1), &end, 10);
    return is_open(c, 1) || *end ? -1 : number;
}

/* What it prints is not known. */
static void print_unknown(const struct call *c)
{
    if (c->s->capture)
        shell_add_open(c->s, c->s->capture,
                       shell_unknown(c->s, arena_print(c->s->arena, "(%s)", text_of(c, 0)), "the output of a command",
                                     c->step->source, c->step->at),
                       false);
}

/* ---- the way through the script ---- */

static void run_exit(struct call *c)
{
    long status = number_of(c, c->s->state->status);
    c->s->state->status = (int)(status < 0 ? -1 : status & 255);
    c->flow = FLOW_EXIT;
}

static void run_return(struct call *c)
{
    long status = number_of(c, c->s->state->status);
    bool returns = c->s->functions || c->s->files; /* elsewhere bash refuses it, and goes on */
    c->s->state->status = returns ? (int)(status < 0 ? -1 : status & 255) : 2;
    c->flow = returns ? FLOW_RETURN : FLOW_NEXT;
}

static void leave_loops(struct call *c, enum flow flow)
{
    long levels = number_of(c, 1);
    if (!c->s->loop) {
        c->s->state->status = 0;
        return;
    }
    if (levels < 1) {
        shell_refuse(c->s, c->step->source, c->step->at, "how many loops are left is not known");
        return;
    }
    unsigned depth = 0;
    for (const struct waiting *loop = c->s->loop; loop; loop = loop->outer)
        depth++;
    c->s->levels = (unsigned)(levels < (long)depth ? levels : (long)depth);
    c->s->state->status = 0;
    c->flow = flow;
}

static void run_break(struct call *c)
{
    leave_loops(c, FLOW_BREAK);
}

static void run_continue(struct call *c)
{
    leave_loops(c, FLOW_CONTINUE);
}

static void run_shift(struct call *c)
{
    struct state *state = c->s->state;
    long number = number_of(c, 1);
    state->status = -1;
    if (state->arguments_unknown)
        return;
    if (number < 0) {
        state->arguments_unknown = shell_unknown(c->s, "@", "arguments that are shifted", c->step->source, c->step->at);
        return;
    }
    state->status = (size_t)number > state->argument_count;
    if ((size_t)number <= state->argument_count) {
        state->arguments += number;
        state->argument_count -= (size_t)number;
    }
}

/* ---- settings ---- */

static void run_set(struct call *c)
{
    if (shell_set_options(c->s, c->step, c->words, c->count))
        print_unknown(c);
}

static void run_shopt(struct call *c)
{
    static const char *const harmless[] = {"-s",         "-u",         "-q",           "extglob",
                                           "globstar",   "dotglob",    "checkwinsize", "inherit_errexit",
                                           "histappend", "nocaseglob", "failglob",     NULL};
    c->s->state->status = -1;
    for (size_t i = 1; i < c->count; i++) {
        const char *const *each = harmless;
        while (*each && strcmp(*each, text_of(c, i)) != 0)
            each++;
        if (!strcmp(text_of(c, i), "inherit_errexit"))
            c->s->state->inherits = strcmp(text_of(c, 1), "-u") != 0;
        if (!*each)
            shell_refuse(c->s, c->step->source, c->step->at,
                         "'shopt %s' changes what a script means, and is not followed", text_of(c, i));
    }
}

static void run_trap(struct call *c)
{
    if (c->count < 3)
        print_unknown(c);
    shell_trap(c->s, c->words, c->count, c->step->source, c->step->at);
}

/* ---- variables ---- */

/* 0, or 1 where bash takes the name for none. */
static int unset_one(struct call *c, size_t i, bool functions)
{
    struct shell *s = c->s;
    const char *name = text_of(c, i);
    size_t length = shell_name_length(name);
    if (is_open(c, i)) {
        lose(c, "a variable whose name is not known is unset");
        return 0;
    }
    if (functions)
        shell_define_function(s, name, NULL);
    else if (length && name[length] == '[')
        shell_set_unknown(s, arena_copy_part(s->arena, name, length),
                          shell_unknown(s, name, "an element is unset", c->step->source, c->step->at));
    else if (length && !name[length])
        shell_unset(s, name, c->step->source, c->step->at);
    else
        return 1;
    return 0;
}

static void run_unset(struct call *c)
{
    bool functions = false;
    int status = 0;
    size_t i = 1;
    for (; i < c->count && text_of(c, i)[0] == '-' && !is_open(c, i); i++) {
        const char *option = text_of(c, i);
        functions |= !strcmp(option, "-f");
        if (!strcmp(option, "-n") && c->count == 3 && !is_open(c, 2)) {
            shell_unset_reference(c->s, text_of(c, 2));
            c->s->state->status = 0;
            return;
        }
        if (option[strspn(option, "-fvn")]) { /* it has no such option */
            c->s->state->status = 2;
            return;
        }
    }
    for (; i < c->count; i++) {
        const char *text = text_of(c, i);
        bool variable = shell_find(c->s, text) != NULL, function = shell_function(c->s, text);
        status |= unset_one(c, i, functions || (!variable && (function || shell_doubted_function(c->s, text))));
    }
    c->s->state->status = status;
}

static void run_let(struct call *c)
{
    enum arithmetic state = ARITHMETIC_WRONG;
    int64_t value = 0;
    for (size_t i = 1; i < c->count; i++) {
        uint32_t open;
        state = is_open(c, i) ? ARITHMETIC_UNKNOWN
                              : shell_arithmetic(c->s, text_of(c, i), &value, &open, c->step->source, c->step->at);
        if (state == ARITHMETIC_UNKNOWN && (is_open(c, i) || i + 1 < c->count))
            lose(c, "arithmetic with what is not known");
        if (state != ARITHMETIC_KNOWN) /* what follows is not evaluated */
            break;
    }
    c->s->state->status = state == ARITHMETIC_KNOWN ? value == 0 : state == ARITHMETIC_WRONG ? 1 : -1;
}

static void run_printf(struct call *c)
{
    struct cells out = {0};
    const char *name = text_of(c, 2);
    size_t length = shell_name_length(name);
    c->s->state->status = 0;
    if (is_open(c, 2) || !length)
        lose(c, "a variable whose name is not known is printed to");
    else if (c->count < 4) /* no format */
        c->s->state->status = 2;
    else if (name[length] || !shell_format(c->s, c->words + 3, c->count - 3, &out)) {
        uint32_t why = shell_unknown(c->s, name, "a format that is not followed", c->step->source, c->step->at);
        const char *own = arena_copy_part(c->s->arena, name, length);
        if (name[length]) /* an element: more of them stay whatever the first becomes */
            shell_set(c->s, own, (struct value){.unknown = shell_unknown_as(c->s, own, why), .array = true});
        else
            shell_set_unknown(c->s, own, why);
    } else
        shell_set_word(c->s, name, &out);
}

/* ---- commands as texts ---- */

static void run_eval(struct call *c)
{
    struct cells all = {0};
    for (size_t i = 1; i < c->count; i++) {
        if (i > 1)
            shell_add(c->s, &all, (struct cell){c->step->at, c->step->source, ' ', false});
        shell_add_cells(c->s, &all, &c->words[i]);
    }
    c->s->state->status = 0;
    c->flow = shell_run_text(c->s, shell_source_of(c->s, &all));
}

static void run_source(struct call *c)
{
    c->flow = shell_source_file(c->s, c->words, c->count, c->step->source, c->step->at);
}

static void run_exec(struct call *c)
{
    if (c->count < 2)
        return;
    shell_program(c->s, c->words + 1, c->count - 1, c->step->source, c->step->at);
    c->flow = FLOW_EXIT;
}

static bool run_test(struct call *c)
{
    bool bracket = text_of(c, 0)[0] == '[';
    if (bracket && strcmp(text_of(c, c->count - 1), "]") != 0)
        c->s->state->status = 2;
    else
        c->s->state->status = shell_test(c->s, c->words + 1, c->count - 1 - bracket);
    return true;
}

/* ---- folders ---- */

static void run_cd(struct call *c)
{
    size_t i = 1;
    struct stat info;
    if (!strcmp(text_of(c, c->count - 1), "-"))
        print_unknown(c);
    while (i < c->count &&
           (!strcmp(text_of(c, i), "--") || !strcmp(text_of(c, i), "-P") || !strcmp(text_of(c, i), "-L")))
        i++;
    const char *path = i + 1 == c->count && strcmp(text_of(c, i), "-") != 0 ? shell_resolve(c->s, &c->words[i]) : NULL;
    bool there = path && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    c->s->state->status = there ? 0 : -1;
    c->s->state->folder = there ? path : NULL;
    c->s->assumed = !path || there || shell_may_have_made(c->s, path); /* elsewhere it may well be there */
}

static void run_popd(struct call *c)
{
    c->s->state->folder = NULL;
    c->s->state->status = -1;
}

/* Set up programs and their paths: names that the script does not set may be set now. */
static void run_environment(struct call *c)
{
    if (!c->s->state->lost)
        c->s->state->lost =
            shell_unknown(c->s, "all", arena_print(c->s->arena, "'%s' sets up the environment here", text_of(c, 0)),
                          c->step->source, c->step->at);
    c->s->state->status = -1;
}

static void run_true(struct call *c)
{
    c->s->state->status = 0;
}

static void run_false(struct call *c)
{
    c->s->state->status = 1;
}

static void run_nothing(struct call *c)
{
    c->s->state->status = -1;
}

static void run_refused(struct call *c)
{
    if (!strcmp(text_of(c, 0), "alias") && c->count < 2)
        return;
    if (!strcmp(text_of(c, 0), "alias")) /* scripts do not use them, unless shopt says so */
        c->s->state->status = 0;
    else
        lose(c, arena_print(c->s->arena, "'%s' changes what commands mean", text_of(c, 0)));
    if (!strcmp(text_of(c, 0), "coproc"))
        shell_lost_command(c->s, c->count, "'coproc' runs it, which is not followed", c->step->source, c->step->at);
}

static bool run_again(struct call *c, const char *name);

/* builtin NAME, command NAME */
static void run_inner(struct call *c)
{
    const char *name = text_of(c, 1);
    static const char *const declarations[] = {"export", "declare", "local", "readonly", "typeset", NULL};
    bool query = !strcmp(text_of(c, 0), "command") && name[0] == '-';
    for (const char *const *each = declarations; *each; each++)
        if (!strcmp(*each, name)) {
            lose(c, "a declaration that is not followed");
            return;
        }
    if (query || c->count < 2) {
        c->s->state->status = -1;
        print_unknown(c);
        return;
    }
    struct call inner = {c->s, c->step, c->words + 1, c->count - 1, FLOW_NEXT};
    if (is_open(c, 1))
        lose(c, "a command that is not known");
    else if (!run_again(&inner, name) &&
             !shell_print(c->s, name, c->words + 1, c->count - 1, c->step->source, c->step->at)) {
        shell_program(c->s, c->words + 1, c->count - 1, c->step->source, c->step->at);
        shell_end_program(c->s, name);
    }
    c->flow = inner.flow;
}

static const struct {
    const char *name;
    void (*run)(struct call *call);
} builtins[] = {
    {":", run_true},
    {"true", run_true},
    {"false", run_false},
    {"exit", run_exit},
    {"return", run_return},
    {"break", run_break},
    {"continue", run_continue},
    {"shift", run_shift},
    {"set", run_set},
    {"shopt", run_shopt},
    {"trap", run_trap},
    {"unset", run_unset},
    {"let", run_let},
    {"eval", run_eval},
    {"source", run_source},
    {".", run_source},
    {"exec", run_exec},
    {"cd", run_cd},
    {"pushd", run_cd},
    {"popd", run_popd},
    {"module", run_environment},
    {"ml", run_environment},
    {"conda", run_environment},
    {"mamba", run_environment},
    {"micromamba", run_environment},
    {"spack", run_environment},
    {"deactivate", run_environment},
    {"pyenv", run_environment},
    {"builtin", run_inner},
    {"command", run_inner},
    {"wait", run_nothing},
    {"type", run_nothing},
    {"hash", run_nothing},
    {"ulimit", run_nothing},
    {"umask", run_nothing},
    {"kill", run_nothing},
    {"jobs", run_nothing},
    {"disown", run_nothing},
    {"times", run_nothing},
    {"alias", run_refused},
    {"unalias", run_nothing},
    {"enable", run_refused},
    {"bind", run_nothing},
    {"complete", run_nothing},
    {"history", run_nothing},
    {"caller", run_nothing},
    {"dirs", run_nothing},
    {"fg", run_nothing},
    {"bg", run_nothing},
    {"suspend", run_nothing},
    {"logout", run_exit},
    {"coproc", run_refused},
    {NULL, NULL},
};

static bool run_again(struct call *c, const char *name)
{
    if (!strcmp(name, "[") || !strcmp(name, "test"))
        return run_test(c);
    if (!strcmp(name, "printf") && c->count > 2 && !strcmp(text_of(c, 1), "-v")) {
        run_printf(c);
        return true;
    }
    if (shell_read_input(c->s, name, c->words, c->count, c->step->source, c->step->at))
        return true;
    for (size_t i = 0; builtins[i].name; i++)
        if (!strcmp(builtins[i].name, name)) {
            builtins[i].run(c);
            bool assumed = builtins[i].run == run_nothing || builtins[i].run == run_environment ||
                           builtins[i].run == run_popd || builtins[i].run == run_shopt;
            if (assumed || !strcmp(name, "pushd"))
                print_unknown(c);
            c->s->assumed |= assumed;
            return true;
        }
    return false;
}

bool shell_builtin(struct shell *s, const struct step *step, const char *name, struct cells *words, size_t count,
                   enum flow *flow)
{
    struct call call = {s, step, words, count, FLOW_NEXT};
    bool found = run_again(&call, name);
    *flow = call.flow;
    return found;
}
