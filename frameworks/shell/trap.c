/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that run at errors, at the end, or between all others. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <string.h>

static const char *text_of(struct shell *s, const struct cells *word)
{
    uint32_t open;
    return shell_text(s, word, &open);
}

/* What runs at the end is not followed, where it holds a launch: its variables have other values then. */
static void check_end(struct shell *s, const struct cells *action, uint16_t source, size_t at)
{
    const struct candidate *before = s->candidates;
    struct state *outer = s->state;
    struct cells *capture = s->capture, printed = {0};
    s->state = shell_copy(s, outer);
    s->capture = &printed;
    shell_run_text(s, shell_source_of(s, action));
    s->capture = capture;
    if (capture && printed.count) /* it comes last, or where the trap is taken back never */
        shell_add_open(s, capture, shell_unknown(s, "(trap)", "the output of a command at the end", source, at), false);
    shell_end_process(s, outer, NULL, false);
    if (s->candidates != before)
        shell_refuse(s, source, at, "'trap' runs a launch at the end of the script, which is not followed");
}

/* Whether an action may end the script: it does more than print. */
static bool may_exit(const char *action, uint32_t open)
{
    bool prints = !strncmp(action, "echo ", 5) || !strncmp(action, "printf ", 7) || !*action || !strcmp(action, "-");
    return open || !prints || strpbrk(action, ";&|\n");
}

void shell_trap(struct shell *s, const struct cells *words, size_t count, uint16_t source, size_t at)
{
    const char *action = count > 1 ? text_of(s, &words[1]) : "";
    uint32_t open = 0;
    s->state->status = 0;
    if (count > 1)
        shell_text(s, &words[1], &open);
    for (size_t i = 2; i < count; i++) {
        const char *signal = text_of(s, &words[i]);
        if (!strcmp(signal, "ERR"))
            s->state->trapped = may_exit(action, open);
        bool always = !strcmp(signal, "DEBUG") || !strcmp(signal, "RETURN");
        if (!strcmp(signal, "EXIT") && !open && strcmp(action, "-") != 0)
            check_end(s, &words[1], source, at);
        if ((always && *action && strcmp(action, "-") != 0) || (!strcmp(signal, "ERR") && strchr(action, '=')))
            shell_refuse(s, source, at, "'trap ... %s' runs commands between all others, which is not followed",
                         signal);
    }
}
