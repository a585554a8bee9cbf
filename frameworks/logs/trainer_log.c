/* SPDX-License-Identifier: Apache-2.0 */
/* Hugging Face's Trainer: tqdm's progress bar, else the figures of the whole training (speed_metrics of
 * src/transformers/trainer_utils.py), and what _inner_training_loop of trainer.py says of the job. */
#include "frameworks/logs/log_parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT_DIGITS = 15 };

static void read_job(struct log_cursor *cursor)
{
    log_fact_behind(cursor, LOG_MICRO_BATCH, "Instantaneous batch size per device =");
    log_fact_behind(cursor, LOG_GLOBAL_BATCH, "(w. parallel, distributed & accumulation) =");
    if (log_behind(cursor, "Saving model checkpoint to"))
        cursor->event = LOG_CHECKPOINT;
    else if (log_behind(cursor, "***** Running Evaluation *****") || log_behind(cursor, "'eval_runtime':"))
        cursor->event = LOG_EVALUATION;
}

/* ---- which bars are the training's ---- */

/* Bars before what announces a training are of weights and data that are loaded. */
static void announce(struct log_bars *bars, uint64_t total, struct log_cursor *cursor)
{
    if (bars->known != BARS_ANNOUNCED)
        log_forget_steps(cursor);
    *bars = (struct log_bars){.known = BARS_ANNOUNCED, .total = total};
}

static void read_announcement(struct log_cursor *cursor)
{
    struct log_bars *bars = &cursor->bars;
    const char *total = log_behind(cursor, "Total optimization steps =");
    double value;
    if (log_behind(cursor, "***** Running training *****"))
        announce(bars, 0, cursor);
    else if (total && log_count(cursor, total, true, &value))
        announce(bars, (uint64_t)value, cursor);
    else if (log_behind(cursor, "***** Running Evaluation *****") ||
             log_behind(cursor, "***** Running Prediction *****"))
        bars->evaluation = EVALUATION_BEGUN;
    else if (log_behind(cursor, "'eval_runtime':"))
        bars->evaluation = EVALUATION_NONE;
    read_job(cursor);
}

struct bar {
    uint64_t done, total;
    bool named, training; /* a text stands before it; which says that it is of a training */
};

/* What launchers put before a line, "[rank0]: " and "(pid=12) ", is no name. */
static void read_name(const char *line, const char *percent, struct bar *bar)
{
    static const char *const words[] = {"rain", "tep", "poch"};
    const char *name = line;
    for (const char *at = line; at < percent; at++)
        name = *at == ']' || *at == ')' ? at + 1 : name;
    for (const char *at = name; at < percent; at++) {
        bar->named |= isalpha((unsigned char)*at) != 0;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            bar->training |= !strncmp(at, words[i], strlen(words[i]));
    }
}

/* "NAME 10%|#    | 100/1000 [": other counts, as 45.2k/1.20M, are of bytes and samples. */
static bool read_counts(const char *line, const char *percent, const char *bracket, struct bar *bar)
{
    static const char digits[] = "0123456789";
    const char *counts = bracket;
    while (counts[-1] != '|')
        counts--;
    counts += strspn(counts, " ");
    size_t done = strspn(counts, digits), total = counts[done] == '/' ? strspn(counts + done + 1, digits) : 0;
    if (!done || !total || done > COUNT_DIGITS || total > COUNT_DIGITS || counts[done + 1 + total] != ' ')
        return false;
    *bar = (struct bar){.done = strtoull(counts, NULL, 10), .total = strtoull(counts + done + 1, NULL, 10)};
    read_name(line, percent, bar);
    return true;
}

/* Behind the beginning of an evaluation, whose bars may have as many updates as the training: then they begin again
 * from few, and the training's come back with its own count, below where the evaluation ended. */
static bool is_evaluation(struct log_bars *bars, const struct bar *bar)
{
    if (bars->evaluation == EVALUATION_BEGUN) {
        bars->evaluation = bar->done <= bars->done ? EVALUATION_SAME : EVALUATION_NONE;
        bars->evaluated = bar->done;
    } else if (bars->evaluation == EVALUATION_SAME && bar->done < bars->evaluated)
        bars->evaluation = EVALUATION_NONE;
    else
        bars->evaluated = bar->done;
    return bars->evaluation == EVALUATION_SAME;
}

/* Without an announcement the first bar that has no name, or one that says it, is of the training. */
static bool is_training(struct log_bars *bars, const struct bar *bar)
{
    if (bars->known == BARS_OPEN && (!bar->named || bar->training))
        bars->known = bar->named ? BARS_NAMED : BARS_PLAIN;
    if (bars->known == BARS_OPEN || bar->named != (bars->known == BARS_NAMED))
        return false;
    if (bars->known == BARS_NAMED)
        return bar->training;
    if (!bars->total)
        bars->total = bar->total;
    if (bar->total != bars->total || is_evaluation(bars, bar))
        return false;
    bool again = bar->done == bars->done; /* drawn once more, behind a line that was printed */
    bars->done = bar->done;
    return !again;
}

/* " 10%|#    | 100/1000 [15:00<2:15:00,  9.00s/it]" has a number and one of the two units before the bracket. */
static void read_bar(struct log_cursor *cursor)
{
    double value;
    struct bar bar;
    const char *percent = strstr(cursor->line, "%|"), *bracket = percent ? strchr(percent, '[') : NULL;
    const char *rate = bracket ? strstr(bracket, ", ") : NULL;
    if (!rate) {
        read_announcement(cursor);
        return;
    }
    bool counts = read_counts(cursor->line, percent, bracket, &bar) && is_training(&cursor->bars, &bar);
    rate += strspn(rate, ", ");
    if (!counts || *rate == '?' || (!strstr(rate, "s/it") && !strstr(rate, "it/s")))
        return;
    if (log_number(cursor, rate, &value))
        log_step(cursor, strstr(rate, "s/it") ? value : value > 0 ? 1 / value : 0);
}

static void read_end(struct log_cursor *cursor)
{
    double value;
    const char *text = log_behind(cursor, "'train_steps_per_second':");
    if (!text) {
        read_job(cursor);
        return;
    }
    text += *text == '\'';
    if (log_number(cursor, text, &value))
        log_step(cursor, value > 0 ? 1 / value : 0);
}

const struct log_format log_trainer = {"Hugging Face Trainer", LOG_SECONDS, read_bar};
const struct log_format log_trainer_end = {"Hugging Face Trainer (whole training)", LOG_SECONDS, read_end};
