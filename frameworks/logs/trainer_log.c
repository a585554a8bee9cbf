/* SPDX-License-Identifier: Apache-2.0 */
/* Hugging Face's Trainer: tqdm's progress bar, else the figures of the whole training (speed_metrics of
 * src/transformers/trainer_utils.py), and what _inner_training_loop of trainer.py says of the job. */
#include "frameworks/logs/log_parts.h"

#include <ctype.h>
#include <string.h>

static void read_job(struct log_cursor *cursor)
{
    log_fact_behind(cursor, LOG_MICRO_BATCH, "Instantaneous batch size per device =");
    log_fact_behind(cursor, LOG_GLOBAL_BATCH, "(w. parallel, distributed & accumulation) =");
    if (log_behind(cursor, "Saving model checkpoint to"))
        cursor->event = LOG_CHECKPOINT;
    else if (log_behind(cursor, "***** Running Evaluation *****") || log_behind(cursor, "'eval_runtime':"))
        cursor->event = LOG_EVALUATION;
}

/* " 10%|#    | 100/1000 [15:00<2:15:00,  9.00s/it]" has a number and one of the two units before the bracket. */
static void read_bar(struct log_cursor *cursor)
{
    double value;
    const char *bar = strstr(cursor->line, "%|"), *bracket = bar ? strchr(bar, '[') : NULL;
    const char *rate = bracket ? strstr(bracket, ", ") : NULL;
    if (!rate || strstr(rate, "?it/s") || (!strstr(rate, "s/it") && !strstr(rate, "it/s"))) {
        read_job(cursor);
        return;
    }
    rate += strspn(rate, ", ");
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
