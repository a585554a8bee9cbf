/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of the two ways of a condition that is not known: one that ends a round, a call or a process early waits
 * there, and what was printed on one of them only is not known. */
#include "frameworks/shell/parts.h"

#include <string.h>

void shell_wait_in(struct shell *s, struct state **where, struct state *state, uint32_t why)
{
    if (*where)
        shell_merge(s, *where, state, why);
    else
        *where = state;
}

/* A way that ends here goes on at the end of its loop or call. */
void shell_set_aside(struct shell *s, struct state *state, enum flow flow, uint32_t why)
{
    struct waiting *loop = s->loop;
    if (flow == FLOW_EXIT && !s->apart)
        shell_doubt(s, s->source, s->at);
    for (unsigned i = 1; loop && i < s->levels; i++)
        loop = loop->outer;
    struct span *span = flow == FLOW_EXIT     ? s->process
                        : flow == FLOW_RETURN ? s->call ? &s->call->span : NULL
                        : loop                ? &loop->span
                                              : NULL;
    if (span)
        span->left = span->left ? span->left : why;
    if (flow == FLOW_RETURN && s->call)
        shell_wait_in(s, &s->call->ended, state, why);
    else if (flow == FLOW_BREAK && loop)
        shell_wait_in(s, &loop->ended, state, why);
    else if (flow == FLOW_CONTINUE && loop)
        shell_wait_in(s, &loop->again, state, why);
}

/* After two ways, `other` and that of the state now. */
enum flow shell_join(struct shell *s, struct state *other, enum flow first, enum flow second, uint32_t why)
{
    if (first == FLOW_NEXT && second == FLOW_NEXT) {
        shell_merge(s, s->state, other, why);
        return FLOW_NEXT;
    }
    if (first == FLOW_NEXT) {
        shell_set_aside(s, s->state, second, why);
        s->state = other;
        return FLOW_NEXT;
    }
    shell_set_aside(s, other, first, why);
    return second;
}

/* What was printed in either way is not known, nor what was read. */
void shell_settle_output(struct shell *s, size_t before, const struct cells *input, uint32_t why)
{
    if (s->input != input)
        s->input = NULL;
    if (!s->capture || s->capture->count <= before)
        return;
    s->capture->count = before;
    shell_add_open(s, s->capture, shell_unknown_as(s, "(...)", why), false);
}

void shell_begin_span(struct shell *s, struct span *span)
{
    *span = (struct span){0, s->capture ? s->capture->count : 0, s->capture, s->input, s->span};
    s->span = span;
}

void shell_end_span(struct shell *s, struct span *span)
{
    s->span = span->outer;
    if (span->left && span->capture == s->capture)
        shell_settle_output(s, span->printed, span->input, span->left);
}

enum flow shell_may_skip(struct shell *s, struct state *before, enum flow flow, size_t printed, uint32_t why)
{
    if (s->capture && s->capture->count > printed) {
        s->capture->count = printed;
        shell_add_open(s, s->capture, shell_unknown_as(s, "(...)", why), false);
    }
    before->status = 1;
    if (s->state->errexit && !s->tolerant) { /* the script ends there */
        shell_set_aside(s, before, FLOW_EXIT, why);
        return flow;
    }
    return shell_join(s, before, FLOW_NEXT, flow, why);
}
