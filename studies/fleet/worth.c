/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/fleet/worth.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/document.h"
#include "base/exit_code.h"
#include "base/isolate.h"
#include "base/process/interruption.h"
#include "base/quantity.h"
#include "base/rounded/rounded.h"
#include "platforms/device.h"
#include "platforms/presets/presets.h"
#include "platforms/what_if.h"
#include "studies/simulation.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A change, taken apart. */
struct change {
    const char *property;
    double factor;
    bool device; /* of the GPUs' data, which a product's file says; otherwise as what_if has it */
};

static bool read_change(const char *text, struct change *change, struct arena *arena)
{
    static const char *const of_devices[] = {"products", "memory", "memory_bandwidth"};
    const char *equals = strrchr(text, '=');
    char *end;
    if (!equals)
        return false;
    *change = (struct change){arena_copy_part(arena, text, (size_t)(equals - text)), strtod(equals + 1, &end), false};
    for (size_t i = 0; i < sizeof of_devices / sizeof *of_devices; i++)
        change->device |= !strcmp(change->property, of_devices[i]);
    return end != equals + 1 && !*end && change->factor > 0 && change->factor <= 1000;
}

/* ---- a product whose GPU is another one ---- */

/* The GPU keeps its name, by which its measured efficiencies are found. */
static bool write_product(FILE *out, const char *product, const struct device_model *device,
                          const struct change *change)
{
    struct quantity_reason reason;
    double bytes, factor = change->factor;
    const char *between = "";
    fprintf(out, "from: '%s'\nsummary: what if\ndevice:\n  name: '%s'\n  from: '%s'\n  source: what if\n", product,
            device->name, device->name);
    if (!strcmp(change->property, "memory")) {
        if (!quantity_parse(QUANTITY_BYTES, device->memory, &bytes, &reason))
            return false;
        fprintf(out, "  memory: %.0fB\n", floor(bytes * factor));
    } else if (!strcmp(change->property, "memory_bandwidth")) {
        fprintf(out, "  memory_bandwidth: %.17gGBps\n", device->memory_bandwidth * factor);
    } else {
        fputs("  peak: {", out);
        for (int i = 0; i < PRECISIONS; i++)
            if (device->peak[i] > 0) {
                fprintf(out, "%s%s: %.17gTf", between, precision_name((enum precision)i), device->peak[i] * factor);
                between = ", ";
            }
        fputs("}\n", out);
    }
    return !ferror(out);
}

/* The path of such a file, which the caller removes; NULL with the reason. */
static const char *make_product(const struct fleet_question *question, const struct change *change, const char **reason,
                                struct arena *arena)
{
    const struct preset *preset = preset_find(question->product);
    const struct device_model *device = preset ? device_find(preset->device) : NULL;
    const char *folder = getenv("TMPDIR");
    char *path = arena_print(arena, "%s/stagesim-XXXXXX.yaml", folder && *folder ? folder : "/tmp");
    *reason = "the GPU of the platform is not among those known by name";
    if (!device)
        return NULL;
    int file = mkostemps(path, 5, O_CLOEXEC);
    FILE *out = file >= 0 ? fdopen(file, "w") : NULL;
    *reason = arena_print(arena, "%s: %s", path, strerror(errno));
    if (!out)
        return NULL;
    char *product = realpath(question->product, NULL);
    bool written = write_product(out, product ? product : question->product, device, change);
    free(product);
    written &= fclose(out) == 0;
    if (written)
        return path;
    unlink(path);
    return NULL;
}

/* ---- a question with the change ---- */

/* With what the scenario changes of the platform anyway. */
static const char *what_if_value(const struct scenario *scenario, const struct change *change, struct arena *arena)
{
    const char *text = "what_if=[";
    for (size_t i = 0; i < scenario->what_if_count; i++)
        text = arena_print(arena, "%s'%s', ", text, scenario->what_if[i].text);
    return arena_print(arena, "%s'%s=%.17g']", text, change->property, change->factor);
}

/* `file`: a product in place of the question's own; NULL: there is none. */
static struct fleet_question changed(const struct fleet *fleet, const struct fleet_question *question,
                                     const struct change *change, const char *file, struct arena *arena)
{
    struct fleet_question other = *question;
    if (file) {
        other.product = file;
        other.changes[0] = fleet_platform_value(&other, arena);
    } else {
        other.changes[other.change_count++] = what_if_value(fleet->scenario, change, arena);
    }
    return other;
}

/* Of the layout that is known on the changed cluster; 0 after a mistake was reported. */
static double time_of_layout(const struct fleet *fleet, const struct fleet_question *question, struct arena *arena)
{
    struct scenario_set sets[FLEET_LAYOUT_SETS_MAX + 1] = {{0}};
    size_t count = fleet_layout_sets(question, &fleet->found[fleet->best->question], sets, arena);
    double iteration = 0;
    sets[count++].text = fleet->scenario->engine == ENGINE_ANALYTIC ? "engine=analytic" : "engine=simgrid";
    return simulate_iteration(fleet->scenario, sets, count, &iteration) == EXIT_DONE ? iteration : 0;
}

/* One question with the change by `factor`, asked of the layout alone, or with `worth` of all layouts. */
static double ask(const struct fleet *fleet, const struct fleet_request *request, struct change change,
                  struct fleet_worth *worth, const char **reason, struct arena *arena)
{
    const struct fleet_question *question = &fleet->questions.list[fleet->best->question];
    const char *file = change.device ? make_product(question, &change, reason, arena) : NULL;
    double iteration = 0;
    if (change.device && !file)
        return 0;
    struct fleet_question other = changed(fleet, question, &change, file, arena);
    *reason = "it cannot be simulated";
    if (!worth) {
        iteration = time_of_layout(fleet, &other, arena);
    } else if (fleet_ask(fleet, &other, 0, request, &worth->best) == EXIT_DONE && worth->best.status == FLEET_FOUND) {
        iteration = fleet_iteration(&worth->best);
        worth->seconds = worth->best.courses[fleet->best->offer].seconds;
        worth->money = fleet_course_money(question, fleet->best->offer, &worth->best.courses[fleet->best->offer]);
    }
    if (file)
        unlink(file);
    return iteration;
}

/* ---- in a process of its own ---- */

/* A product's file changes what this process knows of a GPU by its name, which the next change must not see. */
struct asking {
    const struct fleet *fleet;
    const struct fleet_request *request;
    struct change change;
    bool search;
};

struct answer {
    double iteration, seconds, money;
    struct fleet_found best;
    char reason[FLEET_REASON_MAX]; /* where there is no iteration */
};

/* The first mistake that was reported to `said`, in one line and without its place, which is a --set of ours; NULL:
 * there is none. */
static const char *first_mistake(FILE *said, struct arena *arena)
{
    static const char error[] = "error: ";
    char text[1024];
    rewind(said);
    text[fread(text, 1, sizeof text - 1, said)] = '\0';
    char *found = strstr(text, error), *to;
    if (!found)
        return NULL;
    found += sizeof error - 1;
    to = found;
    for (const char *from = found; *from && !(from[0] == '\n' && from[1] != ' '); from++)
        if (*from != '\n' && !(*from == ' ' && to > found && to[-1] == ' '))
            *to++ = *from;
    *to = '\0';
    return arena_copy(arena, found);
}

static int ask_apart(void *user, struct isolated *self)
{
    const struct asking *asking = user;
    struct arena *arena = arena_create();
    struct answer answer;
    struct fleet_worth worth = {.reason = NULL};
    const char *reason = "";
    FILE *said = tmpfile();
    memset(&answer, 0, sizeof answer);
    if (said)
        dup2(fileno(said), STDERR_FILENO);
    answer.iteration =
        ask(asking->fleet, asking->request, asking->change, asking->search ? &worth : NULL, &reason, arena);
    const char *mistake = said ? first_mistake(said, arena) : NULL;
    reason = mistake ? mistake : reason;
    answer.seconds = worth.seconds;
    answer.money = worth.money;
    answer.best = worth.best;
    snprintf(answer.reason, sizeof answer.reason, "%.200s", reason);
    arena_destroy(arena);
    return fwrite(&answer, sizeof answer, 1, self->results) == 1 ? EXIT_DONE : EXIT_FAILED;
}

/* Nothing where the process came to nothing. */
static struct answer ask_in_process(struct asking *asking)
{
    struct answer answer;
    struct fault fault = {""};
    memset(&answer, 0, sizeof answer);
    if (!isolate_value(ask_apart, asking, &answer, sizeof answer, &fault))
        snprintf(answer.reason, sizeof answer.reason, "%.200s", *fault.text ? fault.text : "its process ended early");
    return answer;
}

static void weigh(const struct fleet *fleet, const struct fleet_request *request, struct change change,
                  struct fleet_worth *worth, struct arena *arena)
{
    static const double little = 1.01;
    double own = fleet_iteration(&fleet->found[fleet->best->question]);
    struct change slight = change;
    slight.factor = change.factor < 1 ? 1 / little : little;
    struct asking asking = {fleet, request, slight, false};
    struct answer near = ask_in_process(&asking);
    asking.change = change;
    asking.search = true;
    struct answer answer = near.iteration > 0 ? ask_in_process(&asking) : near;
    if (!(answer.iteration > 0)) {
        worth->reason = arena_copy(arena, answer.reason);
        return;
    }
    worth->slope = rounded_log(near.iteration / own) / rounded_log(slight.factor);
    worth->seconds = answer.seconds;
    worth->money = answer.money;
    worth->best = answer.best;
}

bool fleet_worth_check(const struct scenario *scenario, struct arena *arena, struct diag *diag)
{
    const struct stagesim_texts *texts = &scenario->plan.what_if;
    unsigned errors = diag->errors;
    for (size_t i = 0; i < texts->count; i++) {
        struct change change;
        struct what_if other;
        struct fault fault = {""};
        if (!read_change(texts->texts[i], &change, arena) ||
            (!change.device && !what_if_parse(texts->texts[i], &other, arena, &fault)))
            diag_error(diag, node_entry_place(scenario->root, "plan.what_if", i),
                       "what_if: '%.60s' is no change; expected products, memory, memory_bandwidth or a target of "
                       "what-if.md with a factor, such as memory=1.2 or nic=2",
                       texts->texts[i]);
    }
    return diag->errors == errors;
}

struct fleet_worth *fleet_worth_find(const struct fleet *fleet, const struct fleet_request *request, size_t *count,
                                     struct arena *arena)
{
    const struct stagesim_texts *texts = &fleet->scenario->plan.what_if;
    struct fleet_worth *worths = arena_array(arena, texts->count + 1, sizeof *worths);
    *count = 0;
    for (size_t i = 0; i < texts->count && fleet->best && !interruption_noted(); i++) {
        struct change change;
        read_change(texts->texts[i], &change, arena);
        worths[*count].text = texts->texts[i];
        weigh(fleet, request, change, &worths[(*count)++], arena);
    }
    return *count ? worths : NULL;
}
