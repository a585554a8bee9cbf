/* SPDX-License-Identifier: Apache-2.0 */
/* What the analytic engine says of the rows, each in a process of its own, two or more at a time. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/interruption.h"
#include "studies/calibrate/calibrate_parts.h"
#include "studies/evaluate.h"
#include "studies/simulation.h"
#include "workloads/transformer/transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GPU_MAX = 64, SETS_MAX = TUNING_PARAMETERS + 2, AT_ONCE_MAX = 16 };

/* What comes back of a row. */
struct answer {
    struct tuning_response response;
    double samples, tokens, bytes, extra;
    char gpu[GPU_MAX];
};

struct asking {
    const struct scenario *scenario;
    const struct tuning_values *values; /* NULL: the grid */
    unsigned possible;
};

/* Seconds with the values of a set; negative after the mistakes were reported. */
static double time_with(const struct scenario *scenario, struct platform *platform, const struct tuning_values *values,
                        struct diag *diag, struct answer *answer)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[SETS_MAX] = {{.text = "engine=analytic"}};
    size_t count = 1;
    for (int p = 0; p < TUNING_PARAMETERS; p++)
        if (values->fitted & 1u << p)
            sets[count++].text = arena_print(arena, "%s=%s", calibration_keys[p].key,
                                             calibration_value_text(p, values->value[p], arena));
    struct evaluation_request request = {
        .scenario = scenario->request, .changes = sets, .change_count = count, .operations_max = 0, .fits = !answer};
    struct evaluation evaluation;
    double seconds = -1;
    if (evaluate(&request, platform, arena, diag, &evaluation)) {
        const struct report *report = evaluation.report;
        seconds = report->iteration;
        if (answer) {
            answer->samples = report->samples_per_s * seconds;
            answer->tokens = report->tokens_per_s * seconds;
            answer->bytes = report->peak_bytes;
            const struct transformer_parameters *p = evaluation.job->scenario->parameters;
            answer->extra = p->extra_memory;
        }
    }
    arena_destroy(arena);
    return seconds;
}

static bool fill_grid(const struct asking *asking, struct platform *platform, struct diag *diag, struct answer *answer)
{
    struct tuning_response *r = &answer->response;
    bool clock = asking->possible & 1u << TUNING_CLOCK, dispatch = asking->possible & 1u << TUNING_DISPATCH;
    for (int c = 0; c <= (clock ? TUNING_CLOCKS : 0); c++)
        for (int d = 0; d <= (dispatch ? TUNING_DISPATCHES : 0); d++) {
            struct tuning_values values = {(c ? 1u << TUNING_CLOCK : 0) | (d ? 1u << TUNING_DISPATCH : 0), {0}};
            values.value[TUNING_CLOCK] = c ? tuning_clocks[c - 1] : 1;
            values.value[TUNING_DISPATCH] = d ? tuning_dispatches[d - 1] : 0;
            r->seconds[c][d] = time_with(asking->scenario, platform, &values, diag, c || d ? NULL : answer);
            if (!(r->seconds[c][d] > 0))
                return false;
        }
    struct tuning_values none = {1u << TUNING_STEP, {0}};
    double without = asking->possible & 1u << TUNING_STEP ? time_with(asking->scenario, platform, &none, diag, NULL)
                                                          : r->seconds[0][0];
    r->own_step = r->seconds[0][0] - without;
    r->bent = 1;
    return without > 0;
}

static int respond(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    const struct asking *asking = user;
    struct answer answer = {.gpu = ""};
    if (platform->host_count && platform->hosts[0].model)
        snprintf(answer.gpu, sizeof answer.gpu, "%s", platform->hosts[0].model);
    if (asking->values)
        answer.response.seconds[0][0] = time_with(asking->scenario, platform, asking->values, diag, NULL);
    else if (!fill_grid(asking, platform, diag, &answer))
        return EXIT_BAD_INPUT;
    if (!(answer.response.seconds[0][0] > 0))
        return EXIT_BAD_INPUT;
    return fwrite(&answer, sizeof answer, 1, results) == 1 ? EXIT_DONE : EXIT_FAILED;
}

/* ---- several at a time ---- */

static int collect(const struct simulation_visit *visit, struct isolation *isolation, struct answer *answer)
{
    FILE *results = NULL;
    int code = simulation_visit_wait(visit, isolation, &results);
    if (code == EXIT_DONE && (!results || fread(answer, sizeof *answer, 1, results) != 1)) {
        fputs("stagesim: what a process found could not be read back\n", stderr);
        code = EXIT_FAILED;
    }
    if (results)
        fclose(results);
    return code;
}

static int ask_all(const struct calibration *c, const struct tuning_values *values, struct answer *answers,
                   struct arena *arena)
{
    struct simulation_visit *visits = arena_array(arena, c->count, sizeof *visits);
    struct asking *askings = arena_array(arena, c->count, sizeof *askings);
    struct isolation **running = arena_array(arena, c->count, sizeof(struct isolation *));
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t at_once = processors < 1 ? 1 : processors > AT_ONCE_MAX ? AT_ONCE_MAX : (size_t)processors, started = 0;
    int code = EXIT_DONE;
    for (size_t done = 0; done < c->count && (code == EXIT_DONE || done < started); done++) {
        while (started < c->count && started < done + at_once && code == EXIT_DONE) {
            struct fault fault = {""};
            askings[started] = (struct asking){c->rows[started].scenario, values, c->possible};
            visits[started] = (struct simulation_visit){c->rows[started].scenario, respond, &askings[started]};
            running[started] = simulation_visit_start(&visits[started], &fault);
            if (!running[started]) {
                fprintf(stderr, "stagesim: %s\n", fault.text);
                code = EXIT_FAILED;
                break;
            }
            started++;
        }
        if (done < started) {
            int ended = collect(&visits[done], running[done], &answers[done]);
            code = code == EXIT_DONE ? ended : code;
        }
    }
    return code;
}

int calibration_respond(struct calibration *c, struct tuning_response *responses, const char **gpu, struct arena *arena)
{
    struct answer *answers = arena_array(arena, c->count, sizeof *answers);
    int code = ask_all(c, NULL, answers, arena);
    for (size_t i = 0; i < c->count && code == EXIT_DONE; i++) {
        struct calibration_row *row = &c->rows[i];
        responses[i] = answers[i].response;
        gpu[i] = *answers[i].gpu ? answers[i].gpu : NULL;
        row->before = responses[i].seconds[0][0];
        row->samples = answers[i].samples;
        row->tokens = answers[i].tokens;
        row->predicted_bytes = answers[i].bytes;
        row->extra_bytes = answers[i].extra;
    }
    return code;
}

int calibration_time(struct calibration *c, const struct tuning_values *values, double *seconds, struct arena *arena)
{
    struct answer *answers = arena_array(arena, c->count, sizeof *answers);
    int code = ask_all(c, values, answers, arena);
    for (size_t i = 0; i < c->count && code == EXIT_DONE; i++)
        seconds[i] = answers[i].response.seconds[0][0];
    return code;
}
