/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions, loops, calls and subshells. Where a condition is not known, both ways are gone and what they leave is put
 * together: what differs is unknown from there on. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <string.h>

enum { CALLS_MAX = 40, ROUNDS_MAX = 12 };

/* ---- both ways ---- */

/* Whether the last command succeeds, or is a program that is taken to. */
static bool succeeds(const struct shell *s)
{
    return s->state->status == 0 || (s->state->status < 0 && s->assumed);
}

enum flow shell_fork(struct shell *s, const struct step *first, const struct step *second, int skipped, uint32_t why)
{
    uint32_t maybe = s->maybe;
    size_t printed = s->capture ? s->capture->count : 0;
    const struct cells *input = s->input;
    struct state *copy = shell_copy(s, s->state);
    s->maybe = why;
    s->assumed = false;
    enum flow yes = s->run(s, first);
    bool good = succeeds(s);
    struct state *after = s->state;
    const struct cells *rest = s->input;
    s->state = copy;
    s->input = input;
    s->assumed = false;
    s->state->status = second ? s->state->status : skipped;
    enum flow no = second ? s->run(s, second) : FLOW_NEXT;
    s->assumed = good && succeeds(s);
    s->maybe = maybe;
    if (rest != s->input)
        s->input = rest != input ? rest : s->input;
    shell_settle_output(s, printed, input, why);
    return shell_join(s, after, yes, no, why);
}

static uint32_t condition(struct shell *s, const struct step *step, const char *what)
{
    return shell_unknown(s, what, "a condition that is not known", step->source, step->at);
}

/* A condition does not end a script by an error. */
static enum flow run_tolerant(struct shell *s, const struct step *step)
{
    s->tolerant++;
    enum flow flow = s->run(s, step);
    s->tolerant--;
    return flow;
}

enum flow shell_if(struct shell *s, const struct step *step)
{
    enum flow flow = run_tolerant(s, step->first);
    if (flow != FLOW_NEXT || s->broken)
        return flow;
    if (s->state->status < 0)
        return shell_fork(s, step->second, step->third, 0, condition(s, step->first, "if"));
    const struct step *taken = s->state->status == 0 ? step->second : step->third;
    if (!taken)
        s->state->status = 0;
    return taken ? s->run(s, taken) : FLOW_NEXT;
}

/* ---- case ---- */

/* 1, 0, or -1 where it is not known whether one of an item's patterns matches. */
static int item_matches(struct shell *s, const struct step *item, const struct cells *subject)
{
    uint32_t open;
    const char *text = shell_text(s, subject, &open);
    int state = 0;
    for (size_t i = 0; i < item->count && state != 1; i++) {
        struct cells pattern = {0};
        shell_expand(s, item->source, item->words[i].from, item->words[i].to, false, &pattern);
        pattern = shell_without_free(s, &pattern);
        const char *how = shell_pattern(s, &pattern);
        bool all = how && !strcmp(how, "*");
        int match = open && !all ? -1 : shell_matches(s, how, text);
        state = match == 1 ? 1 : match < 0 ? -1 : state;
    }
    return state;
}

/* `ran`: an item did, whose status stays where no other matches. */
static enum flow run_items(struct shell *s, const struct step *item, const struct cells *subject, bool ran);

/* The commands of an item and, as its ending says, of those behind it. */
static enum flow run_item(struct shell *s, const struct step *item, const struct cells *subject)
{
    if (!item->first->first)
        s->state->status = 0;
    enum flow flow = s->run(s, item->first);
    while (flow == FLOW_NEXT && item->ending == '&' && item->next && !s->broken) {
        item = item->next;
        flow = s->run(s, item->first);
    }
    if (flow == FLOW_NEXT && item->ending == '*')
        return run_items(s, item->next, subject, true);
    return flow;
}

/* Both ways from an item of which it is not known whether it matches. */
static enum flow fork_item(struct shell *s, const struct step *item, const struct cells *subject, bool ran)
{
    uint32_t why = condition(s, item, "case"), maybe = s->maybe;
    size_t printed = s->capture ? s->capture->count : 0;
    const struct cells *input = s->input;
    struct state *copy = shell_copy(s, s->state);
    s->maybe = why;
    s->assumed = false;
    enum flow yes = run_item(s, item, subject);
    bool good = succeeds(s);
    struct state *after = s->state;
    const struct cells *rest = s->input;
    s->state = copy;
    s->input = input;
    s->assumed = false;
    enum flow no = run_items(s, item->next, subject, ran);
    s->assumed = good && succeeds(s);
    s->maybe = maybe;
    if (rest != s->input)
        s->input = rest != input ? rest : s->input;
    shell_settle_output(s, printed, input, why);
    return shell_join(s, after, yes, no, why);
}

static enum flow run_items(struct shell *s, const struct step *item, const struct cells *subject, bool ran)
{
    for (; item && !s->broken; item = item->next) {
        int match = item_matches(s, item, subject);
        if (match < 0 && ++s->steps > 5000)
            shell_refuse(s, item->source, item->at, "conditions that are not known branch too often to be followed");
        if (match < 0)
            return fork_item(s, item, subject, ran);
        if (match)
            return run_item(s, item, subject);
    }
    s->state->status = ran ? s->state->status : 0;
    return FLOW_NEXT;
}

enum flow shell_case(struct shell *s, const struct step *step)
{
    struct cells subject = {0}, plain;
    shell_expand_value(s, step->source, step->words[0].from, step->words[0].to, &subject);
    plain = shell_without_free(s, &subject);
    return run_items(s, step->first, &plain, false);
}

/* ---- loops ---- */

static void enter_loop(struct shell *s, struct waiting *loop)
{
    *loop = (struct waiting){.outer = s->loop};
    shell_begin_span(s, &loop->span);
}

/* One round of a body: true where another may follow. */
static bool run_round(struct shell *s, struct waiting *loop, const struct step *body, enum flow *flow, uint32_t why)
{
    s->loop = loop;
    enum flow how = s->run(s, body);
    s->loop = loop->outer;
    bool outer = (how == FLOW_BREAK || how == FLOW_CONTINUE) && s->levels > 1;
    if (outer) {
        s->levels--;
        *flow = how;
    } else if (how == FLOW_RETURN || how == FLOW_EXIT)
        *flow = how;
    if (how == FLOW_NEXT || (how == FLOW_CONTINUE && !outer)) {
        if (loop->again)
            shell_merge(s, s->state, loop->again, why);
        loop->again = NULL;
        return true;
    }
    if (loop->again) { /* only rounds that were left by `continue` go on */
        shell_set_aside(s, s->state, how, why);
        if (how == FLOW_BREAK && !outer)
            shell_wait_in(s, &loop->ended, s->state, why);
        *flow = FLOW_NEXT;
        s->state = loop->again;
        loop->again = NULL;
        return true;
    }
    return false;
}

/* Rounds that were left by `break` in one of two ways end here, too. */
static enum flow leave_loop(struct shell *s, struct waiting *loop, enum flow flow, uint32_t why)
{
    shell_end_span(s, &loop->span);
    if (!loop->ended)
        return flow;
    s->assumed = false;
    if (flow == FLOW_NEXT)
        shell_merge(s, s->state, loop->ended, why);
    else {
        shell_set_aside(s, s->state, flow, why);
        s->state = loop->ended;
    }
    return FLOW_NEXT;
}

static bool tire(struct shell *s, const struct step *step)
{
    if (++s->steps > 5000)
        shell_refuse(s, step->source, step->at,
                     "the script takes more than 5000 steps to follow; --define gives "
                     "variables that shorten it");
    return s->broken;
}

/* A body that runs nobody knows how often: until what it leaves does not change any more. */
static enum flow run_unknown(struct shell *s, const struct step *head, const struct step *body, const char *name,
                             uint32_t why)
{
    uint32_t maybe = s->maybe;
    size_t printed = s->capture ? s->capture->count : 0;
    const struct cells *input = s->input;
    s->maybe = why;
    s->silent++;
    bool settled = false, last = false;
    for (unsigned round = 0; !last && !s->broken; round++) {
        struct waiting loop;
        enter_loop(s, &loop);
        struct state *before = shell_copy(s, s->state);
        enum flow flow = FLOW_NEXT;
        last = settled;
        s->silent -= last; /* launches of the last round count */
        if (name)
            shell_set_unknown(s, name, why);
        if (head)
            flow = run_tolerant(s, head);
        if (flow != FLOW_NEXT || (!run_round(s, &loop, body, &flow, why) && flow != FLOW_NEXT)) {
            shell_set_aside(s, s->state, flow, why);
            s->state = shell_copy(s, before);
        }
        shell_end_span(s, &loop.span);
        if (loop.ended)
            shell_merge(s, s->state, loop.ended, why);
        shell_merge(s, s->state, before, why);
        s->input = NULL;
        settled = shell_same(s, s->state, before);
        if (round > ROUNDS_MAX && !settled) {
            shell_lose(s, "a loop whose end is not known", body->source, body->at);
            settled = true;
        }
        tire(s, body);
    }
    s->maybe = maybe;
    shell_settle_output(s, printed, input, why);
    s->state->status = -1;
    return FLOW_NEXT;
}

static bool has_open(const struct cells *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < words[i].count; k++)
            if (words[i].items[k].c == CELL_OPEN && !words[i].items[k].quoted)
                return true;
    return false;
}

enum flow shell_for(struct shell *s, const struct step *step)
{
    struct cells *words = NULL;
    size_t count = 0;
    uint32_t why = shell_unknown(s, step->name, "a loop over what is not known", step->source, step->at);
    enum flow flow = FLOW_NEXT;
    for (size_t i = 0; i < step->count; i++)
        shell_expand_word(s, step->source, step->words[i].from, step->words[i].to, &words, &count);
    for (size_t i = 0; step->bare && i < s->state->argument_count; i++)
        shell_append(s, &s->state->arguments[i], &words, &count);
    for (size_t i = 0, kept = 0, all = count; i < all; i++) { /* names that nobody sets are no words */
        struct cells plain = shell_without_free(s, &words[i]);
        count = plain.count || !words[i].count ? count : count - 1;
        if (plain.count || !words[i].count)
            words[kept++] = plain;
    }
    if (has_open(words, count) || (step->bare && s->state->arguments_unknown))
        return run_unknown(s, NULL, step->first, step->name, why);
    struct waiting loop;
    enter_loop(s, &loop);
    const struct round *outer = s->round;
    struct round *round = arena_alloc(s->arena, sizeof *round);
    *round = (struct round){step->name, step->at, step->source, outer};
    s->round = round;
    if (!count)
        s->state->status = 0;
    for (size_t i = 0; i < count && !tire(s, step); i++) {
        shell_set_word(s, step->name, &words[i]);
        if (!run_round(s, &loop, step->first, &flow, why))
            break;
    }
    s->round = outer;
    return leave_loop(s, &loop, flow, why);
}

enum flow shell_while(struct shell *s, const struct step *step)
{
    uint32_t why = shell_unknown(s, "while", "a loop whose end is not known", step->source, step->at);
    struct waiting loop;
    enter_loop(s, &loop);
    enum flow flow = FLOW_NEXT;
    bool until = step->kind == STEP_UNTIL;
    int status = 0;
    while (!tire(s, step)) {
        flow = run_tolerant(s, step->first);
        if (flow != FLOW_NEXT)
            break;
        if (s->state->status < 0) {
            flow = run_unknown(s, step->first, step->second, NULL, why);
            break;
        }
        if ((s->state->status == 0) == until)
            break;
        bool more = run_round(s, &loop, step->second, &flow, why);
        status = s->state->status; /* of `break`, too */
        if (!more)
            break;
    }
    if (s->state->status >= 0 && flow == FLOW_NEXT)
        s->state->status = status;
    return leave_loop(s, &loop, flow, why);
}

/* The value of one part of for ((A; B; C)): 1 where it is not 0, 0, or -1 where that is not known. */
static int run_part(struct shell *s, const struct step *step, size_t part)
{
    const struct raw *raw = &step->words[part];
    const char *text = s->sources[step->source].text + raw->from;
    struct cells cells = {0};
    uint32_t open;
    int64_t value;
    if (strspn(text, " \t\n") >= raw->to - raw->from)
        return 1;
    shell_expand(s, step->source, raw->from, raw->to, true, &cells);
    text = shell_text(s, &cells, &open);
    if (open || shell_arithmetic(s, text, &value, &open, step->source, raw->from) != ARITHMETIC_KNOWN) {
        if (strchr(text, '=') || strstr(text, "++") || strstr(text, "--"))
            shell_lose(s, "arithmetic of a loop that is not known", step->source, raw->from);
        return -1;
    }
    return value != 0;
}

enum flow shell_each(struct shell *s, const struct step *step)
{
    uint32_t why = shell_unknown(s, "for", "a loop whose end is not known", step->source, step->at);
    struct waiting loop;
    enter_loop(s, &loop);
    enum flow flow = FLOW_NEXT;
    run_part(s, step, 0);
    for (bool first = true; !tire(s, step); first = false) {
        int holds = run_part(s, step, 1);
        if (!holds && first)
            s->state->status = 0;
        if (holds < 0) {
            shell_lose(s, "a loop whose end is not known", step->source, step->at);
            flow = run_unknown(s, NULL, step->first, NULL, why);
            break;
        }
        if (!holds || !run_round(s, &loop, step->first, &flow, why))
            break;
        run_part(s, step, 2);
    }
    return leave_loop(s, &loop, flow, why);
}

/* ---- subshells and calls ---- */

void shell_subshell(struct shell *s, const struct step *step, bool apart)
{
    struct state *before = s->state;
    struct waiting *loop = s->loop, *call = s->call, own = {0};
    struct span *process = s->process;
    s->state = shell_copy(s, before);
    s->loop = NULL;
    s->call = &own;
    s->process = &own.span;
    shell_begin_span(s, &own.span);
    s->apart++;
    s->run(s, step);
    s->apart--;
    int status = own.ended || s->broken || own.span.left ? -1 : s->state->status;
    shell_end_span(s, &own.span);
    s->process = process;
    s->loop = loop;
    s->call = call;
    shell_end_process(s, before, own.ended, apart);
    s->state->status = status;
}

enum flow shell_call(struct shell *s, const struct step *body, const struct cells *words, size_t count)
{
    struct state *state = s->state;
    struct waiting *outer = s->call, *loop = s->loop, own = {0};
    struct cells *arguments = state->arguments;
    size_t argument_count = state->argument_count;
    uint32_t unknown = state->arguments_unknown,
             why = shell_unknown(s, "()", "a function that may return early", body->source, body->at);
    if (state->depth >= CALLS_MAX) {
        shell_refuse(s, body->source, body->at, "functions that call one another deeper than %d", CALLS_MAX);
        return FLOW_EXIT;
    }
    state->arguments = shell_arguments_of(s, words, count, &state->argument_count, &state->arguments_unknown);
    s->call = &own;
    s->loop = NULL;
    shell_begin_span(s, &own.span);
    s->functions++;
    enum flow flow = s->run(s, body);
    s->functions--;
    shell_end_span(s, &own.span);
    s->assumed &= !own.ended;
    s->call = outer;
    s->loop = loop;
    if (own.ended && flow == FLOW_EXIT)
        s->state = own.ended;
    else if (own.ended)
        shell_merge(s, s->state, own.ended, why);
    s->state->arguments = arguments;
    s->state->argument_count = argument_count;
    s->state->arguments_unknown = s->state->arguments_unknown && s->state->lost ? s->state->arguments_unknown : unknown;
    return flow == FLOW_EXIT && !own.ended ? FLOW_EXIT : FLOW_NEXT;
}
