/* SPDX-License-Identifier: Apache-2.0 */
/* The sections `plan` and `prices`: doc/plan.md. */
#include "base/arena.h"
#include "base/path_near.h"
#include "base/paths.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"

#include <stdlib.h>
#include <string.h>

#define MONEY_MOST 1e15
#define SECONDS_MOST 1e10

#define VALUE(name) offsetof(struct plan_settings, name)

#define COLUMN(name) offsetof(struct plan_job, name)

static const struct plan_job job_defaults = {.weight = 1};
static const struct stagesim_field job_fields[] = {
    {"job", STAGESIM_FIELD_TEXT, COLUMN(job), .required = true, .doc = "the scenario of the job, a file"},
    {"name", STAGESIM_FIELD_TEXT, COLUMN(name), .doc = "what it is called; default: its file's name without .yaml"},
    {"weight", STAGESIM_FIELD_RATIO, COLUMN(weight), .least = 1e-6, .most = 1e6,
     .doc = "how many trainings of it there are; default 1"},
    {0},
};
static const struct stagesim_row_type job_type = {"a job", job_fields, sizeof(struct plan_job), &job_defaults};

#undef COLUMN

static const struct stagesim_field plan_fields[] = {
    {"platforms", STAGESIM_FIELD_TEXTS, VALUE(platforms),
     .doc = "products to choose from, by name or as files of one's own, such as [dgx-h100, dgx-b200, mine.yaml]; with "
            "nodes, dgx-h100:16, that size alone; default: the scenario's platform. Sizes are those of search.gpus"},
    {"nics", STAGESIM_FIELD_TEXTS, VALUE(nics), .doc = "network interfaces that each is tried with; default: its own"},
    {"tapers", STAGESIM_FIELD_RATIOS, VALUE(tapers), .least = 1, .most = 1000,
     .doc = "oversubscriptions that each is tried with; default: its own"},
    {"jobs", STAGESIM_FIELD_ROWS, VALUE(jobs), .rows = &job_type,
     .doc = "other jobs that share the cluster with the scenario's own, one after the other"},
    {"weight", STAGESIM_FIELD_RATIO, VALUE(weight), .least = 1e-6, .most = 1e6,
     .doc = "how many trainings of the scenario's own job there are; default 1; needs plan.jobs"},
    {"what_if", STAGESIM_FIELD_TEXTS, VALUE(what_if),
     .doc = "changes whose worth for the recommended cluster is found: products, memory or memory_bandwidth of its "
            "GPUs, or a target of what-if.md, with a factor: [memory=1.2, nic=2]; default: none"},
    {"law", STAGESIM_FIELD_TEXTS, VALUE(law),
     .doc = "scaling law by which the money is weighed: hoffmann, besiroglu, or [E, A, alpha, B, beta] of a loss of "
            "E + A / N^alpha + B / D^beta; default: none"},
    {"by", STAGESIM_FIELD_TIME, VALUE(by), .least = 1, .most = SECONDS_MOST,
     .doc = "how long the training may take, such as 90d; default: any time"},
    {"below", STAGESIM_FIELD_TEXT, VALUE(below_text), .doc = "how much it may cost, such as 20e6USD; default: any sum"},
    {"carbon", STAGESIM_FIELD_TEXT, VALUE(carbon_text),
     .doc = "carbon dioxide that it may stand for, such as 500t or 800kg; default: any amount"},
    {0},
};

#define COLUMN(name) offsetof(struct plan_offer, name)

static const struct plan_offer offer_defaults = {.cooling = 1, .carbon = -1};
static const struct stagesim_field offer_fields[] = {
    {"platform", STAGESIM_FIELD_TEXT, COLUMN(platform), .required = true,
     .doc = "of which product, as plan.platforms names it"},
    {"name", STAGESIM_FIELD_TEXT, COLUMN(name),
     .doc = "what the offer is called, such as reserved; default: on demand, spot or owned"},
    {"gpu_hour", STAGESIM_FIELD_RATIO, COLUMN(gpu_hour), .least = 1e-9, .most = MONEY_MOST,
     .doc = "price of a GPU for an hour"},
    {"node_hour", STAGESIM_FIELD_RATIO, COLUMN(node_hour), .least = 1e-9, .most = MONEY_MOST,
     .doc = "in place of it, price of a node for an hour"},
    {"minimum", STAGESIM_FIELD_TIME, COLUMN(minimum), .least = 1, .most = SECONDS_MOST,
     .doc = "the shortest time that is paid, such as 30d"},
    {"commitment", STAGESIM_FIELD_TIME, COLUMN(commitment), .least = 1, .most = SECONDS_MOST,
     .doc = "the term in whole ones of which it is paid, such as 365d"},
    {"interrupted_every", STAGESIM_FIELD_TIME, COLUMN(interrupted_every), .least = 60, .most = 1e14,
     .doc = "of what is let until somebody pays more (spot): mean time until a node is taken away"},
    {"purchase", STAGESIM_FIELD_RATIO, COLUMN(purchase), .least = 1e-9, .most = MONEY_MOST,
     .doc = "in place of an hour's price, what a node costs that is bought, its share of the network included"},
    {"years", STAGESIM_FIELD_RATIO, COLUMN(years), .least = 0.01, .most = 100,
     .doc = "how many years it lasts; the training pays its share of them"},
    {"electricity", STAGESIM_FIELD_RATIO, COLUMN(electricity), .least = 0, .most = 1000,
     .doc = "price of a kilowatt hour for what is bought; default 0"},
    {"cooling", STAGESIM_FIELD_RATIO, COLUMN(cooling), .least = 1, .most = 10,
     .doc = "power of the data centre over that of its devices; default 1"},
    {"carbon", STAGESIM_FIELD_RATIO, COLUMN(carbon), .least = 0, .most = 1e6,
     .doc = "grams of carbon dioxide for a kilowatt hour where it stands; default: as power.carbon says"},
    {"most", STAGESIM_FIELD_COUNT, COLUMN(most), .least = 1, .most = 1e9,
     .doc = "how many GPUs can be had; default: any number"},
    {"date", STAGESIM_FIELD_TEXT, COLUMN(date), .required = true, .doc = "of which day the price is, as 2026-11-01"},
    {"source", STAGESIM_FIELD_TEXT, COLUMN(source), .required = true, .doc = "who says so"},
    {0},
};
static const struct stagesim_row_type offer_type = {"an offer", offer_fields, sizeof(struct plan_offer),
                                                    &offer_defaults};

static const struct stagesim_field prices_fields[] = {
    {"currency", STAGESIM_FIELD_TEXT, VALUE(currency), .doc = "what prices are in, such as USD"},
    {"offers", STAGESIM_FIELD_ROWS, VALUE(offers), .rows = &offer_type,
     .doc = "what can be rented or bought, a row for each way"},
    {0},
};

const struct fields_section plan_section = {"plan", true, plan_fields};
const struct fields_section prices_section = {"prices", true, prices_fields};

bool scenario_expand_plan(struct loader *loader, struct node *node, const char *section)
{
    struct arena *arena = loader->fields.arena;
    struct fault fault = {""};
    if (strcmp(section, plan_section.name) != 0 && strcmp(section, prices_section.name) != 0)
        return false;
    const char *directory = node->at.line ? path_directory(node->at.file, arena) : loader->scenario->directory;
    const char *path = path_of_file(directory, node->text, node->at.line == 0, arena);
    const struct node *content = NULL;
    if (path_check_readable(path, &fault))
        content = document_load(path, node->at, arena, loader->fields.diag);
    else
        diag_error(loader->fields.diag, node->at, "%s: %s; expected the section's keys, or the file that holds them",
                   section, fault.text);
    node->kind = content ? NODE_MAP : NODE_REFUSED;
    if (!content)
        return true;
    node->first = content->first;
    node->last = content->last;
    node->count = content->count;
    return true;
}

/* ---- offers ---- */

static bool is_date(const char *text)
{
    static const char form[] = "dddd-dd-dd";
    size_t i = 0;
    for (; form[i]; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    int month = (text[5] - '0') * 10 + text[6] - '0', day = (text[8] - '0') * 10 + text[9] - '0';
    return !text[i] && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* What is wrong with it; NULL: nothing. */
static const char *mistake_of(const struct plan_offer *offer)
{
    int ways = (offer->gpu_hour > 0) + (offer->node_hour > 0) + (offer->purchase > 0);
    bool bought = offer->purchase > 0;
    if (!ways)
        return "has no price; expected gpu_hour, node_hour or purchase";
    if (ways > 1)
        return "has several prices; expected one of gpu_hour, node_hour and purchase";
    if (bought && !(offer->years > 0))
        return "is bought, but does not say for how long; expected years such as 4";
    if (bought && (offer->minimum > 0 || offer->commitment > 0 || offer->interrupted_every > 0))
        return "is bought; minimum, commitment and interrupted_every are of what is rented";
    if (!bought && (offer->years > 0 || offer->electricity > 0 || offer->cooling > 1))
        return "is rented; years, electricity and cooling are of what is bought";
    if (!is_date(offer->date))
        return "has a date that is none; expected one as 2026-11-01";
    return NULL;
}

static const char *usual_name(const struct plan_offer *offer)
{
    return offer->purchase > 0            ? "owned"
           : offer->interrupted_every > 0 ? "spot"
           : offer->commitment > 0        ? "committed"
                                          : "on demand";
}

static void check_offers(struct loader *loader, const struct plan_settings *settings)
{
    struct plan_offer *offers = settings->offers.rows;
    for (size_t i = 0; i < settings->offers.count; i++) {
        const char *mistake = mistake_of(&offers[i]);
        struct place at = node_entry_place(loader->root, "prices.offers", i);
        if (!offers[i].name)
            offers[i].name = usual_name(&offers[i]);
        if (mistake)
            diag_error(loader->fields.diag, at, "the offer of %s %s", offers[i].platform, mistake);
        for (size_t k = 0; k < i; k++)
            if (!strcmp(offers[k].platform, offers[i].platform) && !strcmp(offers[k].name, offers[i].name)) {
                diag_error(loader->fields.diag, at, "there are two offers '%s' of %s; expected a name for one of them",
                           offers[i].name, offers[i].platform);
                break;
            }
    }
}

/* ---- limits ---- */

static void take_below(struct loader *loader, struct plan_settings *settings)
{
    char *end;
    struct place at = node_place(loader->root, "plan.below");
    if (!settings->below_text)
        return;
    settings->below = strtod(settings->below_text, &end);
    end += strspn(end, " ");
    if (end == settings->below_text || !(settings->below > 0 && settings->below <= MONEY_MOST) ||
        strspn(settings->below_text, "0123456789.eE+") == 0)
        diag_error(loader->fields.diag, at, "below is '%.60s'; expected a sum of money such as 20e6%s",
                   settings->below_text, settings->currency ? settings->currency : "USD");
    else if (*end && settings->currency && strcmp(end, settings->currency) != 0)
        diag_error(loader->fields.diag, at, "below is in %.20s, and prices are in %.20s; expected the same currency",
                   end, settings->currency);
    else if (*end && !settings->currency && settings->offers.count)
        diag_error(loader->fields.diag, at,
                   "below is in %.20s, and prices do not say in what they are; expected "
                   "prices.currency",
                   end);
}

static void take_carbon(struct loader *loader, struct plan_settings *settings)
{
    char *end;
    if (!settings->carbon_text)
        return;
    settings->carbon = strtod(settings->carbon_text, &end);
    bool tonnes = !strcmp(end, "t");
    if (tonnes)
        settings->carbon *= 1000;
    if (end == settings->carbon_text || (!tonnes && strcmp(end, "kg") != 0) ||
        !(settings->carbon > 0 && settings->carbon < 1e15))
        diag_error(loader->fields.diag, node_place(loader->root, "plan.carbon"),
                   "carbon is '%.60s'; expected an amount of carbon dioxide such as 500t or 800kg",
                   settings->carbon_text);
}

void scenario_read_plan(struct loader *loader)
{
    static const struct fields_section *const sections[] = {&plan_section, &prices_section};
    struct plan_settings *settings = &loader->scenario->plan;
    unsigned errors = loader->fields.diag->errors;
    settings->weight = 1;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        struct node *node = node_get(loader->root, sections[i]->name);
        if (node && node->kind == NODE_SCALAR && !node_is_empty(node))
            scenario_expand_plan(loader, node, sections[i]->name);
        settings->given |= i == 0 && node && !node_is_empty(node);
        fields_check_keys(&loader->fields, sections[i], NULL, node);
        fields_read(&loader->fields, sections[i], node, loader->root->at, settings);
    }
    if (loader->fields.diag->errors != errors)
        return;
    check_offers(loader, settings);
    if (!settings->jobs.count && node_find(loader->root, "plan.weight"))
        diag_error(loader->fields.diag, node_place(loader->root, "plan.weight"),
                   "weight: there is one job only; expected others in plan.jobs");
    take_below(loader, settings);
    take_carbon(loader, settings);
}
