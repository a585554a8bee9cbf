/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/fleet/questions.h"

#include "base/arena.h"
#include "base/document.h"
#include "platforms/device.h"
#include "platforms/presets/presets.h"
#include "studies/search/gpus.h"
#include "workloads/transformer/transformer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *fleet_platform_value(const struct fleet_question *question, struct arena *arena)
{
    const char *text = arena_print(arena, "platform={preset: '%s', nodes: %u", question->product, question->nodes);
    if (question->per_node)
        text = arena_print(arena, "%s, gpus_per_node: %u", text, question->per_node);
    if (question->nic)
        text = arena_print(arena, "%s, nic: %s", text, question->nic);
    if (question->taper > 0)
        text = arena_print(arena, "%s, oversubscription: %.17g", text, question->taper);
    return arena_print(arena, "%s}", text);
}

struct making {
    const struct scenario *scenario;
    struct fleet_questions *questions;
    const struct plan_offer *offers; /* offer_count of them */
    size_t offer_count;
    bool *used;   /* [offer] */
    bool crowded; /* a cluster has more offers than a question has room for, and this was said */
    struct arena *arena;
    struct diag *diag;
    unsigned errors; /* that were there before */
    size_t room, left_out_room;
};

/* ---- platforms ---- */

/* A product that is asked about. */
struct product {
    const char *name;  /* as the user wrote it */
    const char *found; /* for the generator: the same, or its file's path */
    const struct preset *preset;
    uint32_t nodes; /* 0: as the sizes say */
    struct place at;
};

/* "NAME" or "NAME:NODES". NULL preset after a mistake was reported. */
static struct product read_product(struct making *making, const char *text, struct place at)
{
    struct product product = {.at = at};
    struct arena *arena = making->arena;
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    unsigned long nodes = colon ? strtoul(colon + 1, &end, 10) : 0;
    bool sized = colon && end != colon + 1 && !*end && nodes > 0 && nodes <= DESIGN_NODES_MAX;
    product.name = sized ? arena_copy_part(arena, text, (size_t)(colon - text)) : text;
    product.nodes = sized ? (uint32_t)nodes : 0;
    product.found = platform_source_product(product.name, making->scenario->directory, at.line == 0, arena);
    struct fault fault = {""};
    if (!platform_source_knows(product.found, &fault))
        diag_error(making->diag, at, "platforms: expected products, by name (`stagesim list presets`) or as files; %s",
                   fault.text);
    else
        product.preset = preset_read(product.found, at, making->diag);
    return product;
}

/* Money for an hour of a GPU at the least, without electricity. */
static double hourly(const struct plan_offer *offer, uint32_t devices)
{
    static const double year = 365.25 * 24;
    return offer->gpu_hour > 0    ? offer->gpu_hour
           : offer->node_hour > 0 ? offer->node_hour / devices
                                  : offer->purchase / devices / (offer->years * year);
}

static double merit_of(const struct preset *preset, const struct fleet_question *question)
{
    const struct device_model *device = device_find(preset->device);
    double peak = device ? fmax(device->peak[PRECISION_BF16], device->peak[PRECISION_FP16]) : 0, least = INFINITY;
    for (size_t i = 0; i < question->offer_count; i++)
        least = fmin(least, hourly(question->offers[i], preset->devices));
    return peak > 0 ? least / peak : INFINITY;
}

/* ---- offers ---- */

static void report_crowd(struct making *making, const struct product *product, size_t offer)
{
    if (!making->crowded)
        diag_error(making->diag, node_entry_place(making->scenario->root, "prices.offers", offer),
                   "offers: this one is the %dth of %s for one size; expected at most %d", FLEET_OFFERS_MAX + 1,
                   product->name, FLEET_OFFERS_MAX);
    making->crowded = true;
}

/* Those of the platform that have so many GPUs; false: it has none whatever the size. */
static bool take_offers(struct making *making, struct fleet_question *question, const struct product *product)
{
    bool any = false;
    for (size_t i = 0; i < making->offer_count; i++) {
        const struct plan_offer *offer = &making->offers[i];
        if (offer->platform && strcmp(offer->platform, product->name) != 0)
            continue;
        any = true;
        making->used[i] = true;
        if (offer->most && offer->most < question->gpus)
            continue;
        if (question->offer_count == FLEET_OFFERS_MAX)
            report_crowd(making, product, i);
        else
            question->offers[question->offer_count++] = offer;
    }
    return any;
}

/* Whether the plan names a platform in these very words. */
static bool is_planned(const struct making *making, const char *name)
{
    const struct stagesim_texts *platforms = &making->scenario->plan.platforms;
    for (size_t i = 0; i < platforms->count; i++)
        if (!strcmp(platforms->texts[i], name))
            return true;
    return false;
}

static void report_priceless(struct making *making, const struct product *product)
{
    const char **names = arena_array(making->arena, making->offer_count + 1, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < making->offer_count; i++)
        if (!is_planned(making, making->offers[i].platform))
            names[count++] = making->offers[i].platform;
    const char *near = diag_nearest(product->name, names, count);
    diag_error(making->diag, product->at,
               "platforms: there is no price of '%.60s'; expected a row of it in "
               "prices.offers%s%s%s",
               product->name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* ---- questions ---- */

static void leave_out(struct making *making, const char *text)
{
    struct fleet_questions *questions = making->questions;
    if (questions->left_out_count < making->left_out_room)
        questions->left_out[questions->left_out_count++] = text;
}

/* Whether the product comes in that shape. */
static bool is_built(struct making *making, const struct product *product, const struct fleet_question *question)
{
    struct fault fault = {""};
    struct platform_source source = {.text = question->text,
                                     .request = {.preset = product->found,
                                                 .nodes = question->nodes,
                                                 .per_node = question->per_node,
                                                 .nic = question->nic,
                                                 .oversubscription = question->taper}};
    if (platform_source_check(&source, &fault))
        return true;
    leave_out(making, arena_print(making->arena, "%s: %s", question->text, fault.text));
    return false;
}

/* GPUs of each node that a cluster of so many uses: all, or of nodes that come with fewer the largest number of which
 * there are whole nodes, at least half of all in more than one (64 of 72). 0: it has no such size. */
static uint32_t used_devices(const struct preset *preset, uint32_t gpus)
{
    if (gpus % preset->devices == 0)
        return preset->devices;
    if (!preset->any_devices)
        return 0;
    if (gpus < preset->devices)
        return gpus;
    for (uint32_t devices = preset->devices; 2 * devices >= preset->devices; devices--)
        if (gpus % devices == 0)
            return devices;
    return 0;
}

static void add_question(struct making *making, const struct product *product, uint32_t gpus, const char *nic,
                         double taper)
{
    struct fleet_questions *questions = making->questions;
    struct arena *arena = making->arena;
    uint32_t devices = used_devices(product->preset, gpus);
    struct fleet_question question = {.platform = product->name,
                                      .product = product->found,
                                      .nic = nic,
                                      .taper = taper,
                                      .gpus = gpus,
                                      .nodes = devices ? gpus / devices : 0,
                                      .per_node = devices == product->preset->devices ? 0 : devices};
    question.text = arena_print(arena, "%s:%u%s%s", product->name, question.nodes, nic ? ", " : "", nic ? nic : "");
    if (question.per_node)
        question.text = arena_print(arena, "%s, %u of %u", question.text, devices, product->preset->devices);
    if (taper > 0)
        question.text = arena_print(arena, "%s, taper %.4g", question.text, taper);
    if (!take_offers(making, &question, product)) {
        report_priceless(making, product);
        return;
    }
    if (!devices) {
        leave_out(making, arena_print(arena, "%s: %u GPUs are no whole nodes of %u", product->name, gpus,
                                      product->preset->devices));
        return;
    }
    if (!question.offer_count)
        leave_out(making, arena_print(arena, "%s: nobody offers %u GPUs", product->name, gpus));
    else if (questions->count == making->room)
        diag_error(making->diag, product->at, "there are more than %u clusters; allow fewer", FLEET_QUESTIONS_MAX);
    else if (is_built(making, product, &question)) {
        question.changes[question.change_count++] = fleet_platform_value(&question, arena);
        question.changes[question.change_count++] = arena_print(arena, "search.gpus=%u", gpus);
        question.changes[question.change_count++] = "search.objective=time";
        question.merit = merit_of(product->preset, &question);
        questions->list[questions->count++] = question;
    }
}

static void add_networks(struct making *making, const struct product *product, uint32_t gpus)
{
    const struct plan_settings *settings = &making->scenario->plan;
    size_t nics = settings->nics.count ? settings->nics.count : 1,
           tapers = settings->tapers.count ? settings->tapers.count : 1;
    for (size_t i = 0; i < nics && making->diag->errors == making->errors; i++)
        for (size_t k = 0; k < tapers && making->diag->errors == making->errors; k++)
            add_question(making, product, gpus, settings->nics.count ? settings->nics.texts[i] : NULL,
                         settings->tapers.count ? settings->tapers.values[k] : 0);
}

static void add_sizes(struct making *making, const struct product *product)
{
    const struct scenario *scenario = making->scenario;
    uint32_t own = scenario->platform.request.nodes * product->preset->devices;
    if (product->nodes) {
        add_networks(making, product, product->nodes * product->preset->devices);
        return;
    }
    if (!scenario->search.gpus.count && !own) {
        diag_error(making->diag, product->at,
                   "nothing says how many GPUs; expected search.gpus such as [64, 128], "
                   "or %s:8",
                   product->name);
        return;
    }
    struct stagesim_list sizes = search_gpus(scenario, own, making->arena);
    for (size_t i = 0; i < sizes.count && making->diag->errors == making->errors; i++)
        add_networks(making, product, (uint32_t)sizes.values[i]);
}

static void add_platforms(struct making *making)
{
    const struct scenario *scenario = making->scenario;
    const struct stagesim_texts *platforms = &scenario->plan.platforms;
    struct place own = scenario_place(scenario, "platform");
    if (!platforms->count && scenario->platform.file) {
        diag_error(making->diag, own,
                   "the platform is a file, whose size is fixed; expected products in "
                   "plan.platforms, such as [dgx-h100, dgx-b200]");
        return;
    }
    for (size_t i = 0; i < (platforms->count ? platforms->count : 1); i++) {
        struct product product =
            read_product(making, platforms->count ? platforms->texts[i] : scenario->platform.request.preset,
                         platforms->count ? node_entry_place(scenario->root, "plan.platforms", i) : own);
        if (product.preset)
            add_sizes(making, &product);
    }
}

/* What the job's own price for a GPU is, where there are no offers. */
static void find_offers(struct making *making)
{
    const struct plan_settings *settings = &making->scenario->plan;
    const struct transformer_parameters *transformer = making->scenario->parameters;
    bool priced = making->scenario->workload == &transformer_workload && transformer->price > 0;
    making->offers = settings->offers.rows;
    making->offer_count = settings->offers.count;
    if (making->offer_count || !priced)
        return;
    struct plan_offer *offer = arena_alloc(making->arena, sizeof *offer);
    *offer =
        (struct plan_offer){.name = "transformer.price", .gpu_hour = transformer->price, .cooling = 1, .carbon = -1};
    making->offers = offer;
    making->offer_count = 1;
}

static void check_offers(struct making *making)
{
    for (size_t i = 0; i < making->offer_count; i++)
        if (!making->used[i] && making->offers[i].platform)
            diag_note(making->diag, node_entry_place(making->scenario->root, "prices.offers", i),
                      "the offer '%s' of %s is of no platform of the plan", making->offers[i].name,
                      making->offers[i].platform);
}

static int by_merit(const void *left, const void *right)
{
    const struct fleet_question *a = left, *b = right;
    int platform = strcmp(a->platform, b->platform);
    if (a->merit < b->merit || b->merit < a->merit)
        return a->merit < b->merit ? -1 : 1;
    if (platform)
        return platform;
    return a->gpus != b->gpus ? (a->gpus > b->gpus) - (a->gpus < b->gpus) : strcmp(a->text, b->text);
}

bool fleet_questions_create(struct fleet_questions *questions, const struct scenario *scenario, struct arena *arena,
                            struct diag *diag)
{
    unsigned errors = diag->errors;
    struct making making = {.scenario = scenario,
                            .questions = questions,
                            .arena = arena,
                            .diag = diag,
                            .errors = errors,
                            .room = FLEET_QUESTIONS_MAX,
                            .left_out_room = FLEET_QUESTIONS_MAX};
    *questions = (struct fleet_questions){.list = arena_array(arena, making.room, sizeof *questions->list),
                                          .left_out = arena_array(arena, making.left_out_room, sizeof(char *))};
    find_offers(&making);
    making.used = arena_array(arena, making.offer_count + 1, sizeof *making.used);
    if (!making.offer_count)
        diag_error(diag, scenario_place(scenario, "prices"),
                   "there are no prices; expected the section prices (a file of them: prices=prices.yaml), or "
                   "transformer.price for all GPUs alike");
    else
        add_platforms(&making);
    if (diag->errors != errors)
        return false;
    check_offers(&making);
    if (!questions->count)
        diag_error(diag, scenario_place(scenario, "plan"), "no platform can be had in any of the sizes: %s",
                   questions->left_out_count ? questions->left_out[0] : "there are none");
    else
        qsort(questions->list, questions->count, sizeof *questions->list, by_merit);
    return diag->errors == errors;
}
