/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/table.h"
#include "commands/plan/plan_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct fleet_question *plan_question(const struct fleet *fleet, const struct fleet_way *way)
{
    return &fleet->questions.list[way->question];
}

const struct fleet_found *plan_found(const struct fleet *fleet, const struct fleet_way *way)
{
    return &fleet->found[way->question];
}

const struct plan_offer *plan_offer_of(const struct fleet *fleet, const struct fleet_way *way)
{
    return plan_question(fleet, way)->offers[way->offer];
}

const struct fleet_course *plan_course(const struct fleet *fleet, const struct fleet_way *way)
{
    return &plan_found(fleet, way)->courses[way->offer];
}

const char *plan_sum_text(char text[PLAN_MONEY_MAX], double money)
{
    static const double million = 1e6, thousand = 1e3;
    if (money >= million)
        snprintf(text, PLAN_MONEY_MAX, "%.4g million", money / million);
    else
        snprintf(text, PLAN_MONEY_MAX, "%.4g%s", money >= 10 * thousand ? money / thousand : money,
                 money >= 10 * thousand ? " thousand" : "");
    return text;
}

const char *plan_money_text(char text[PLAN_MONEY_MAX], const struct fleet *fleet, double money)
{
    const char *currency = fleet->scenario->plan.currency;
    plan_sum_text(text, money);
    size_t length = strlen(text);
    snprintf(text + length, PLAN_MONEY_MAX - length, "%s%.20s", currency ? " " : "", currency ? currency : "");
    return text;
}

/* ---- the first sentence ---- */

/* "512 GPUs of dgx-h100 (on demand)". */
static void put_way(FILE *out, const struct fleet *fleet, const struct fleet_way *way)
{
    const struct fleet_question *question = plan_question(fleet, way);
    fprintf(out, "%u GPUs (%s, %s)", question->gpus, question->text, plan_offer_of(fleet, way)->name);
}

static void put_figures(FILE *out, const struct fleet *fleet, const struct fleet_way *way)
{
    char text[PLAN_MONEY_MAX];
    fprintf(out, "%.4g days for %s", way->seconds / PLAN_DAY, plan_money_text(text, fleet, way->money));
    if (way->kilograms >= 0 && fleet->scenario->plan.carbon > 0)
        fprintf(out, " and %.4g t of carbon dioxide", way->kilograms / 1000);
}

/* "within 90 days and below 20 million USD"; nothing where there is no limit. */
static void put_limits(FILE *out, const struct fleet *fleet)
{
    const struct plan_settings *settings = &fleet->scenario->plan;
    const char *separator = "";
    char text[PLAN_MONEY_MAX];
    if (settings->by > 0) {
        fprintf(out, "within %.4g days", settings->by / PLAN_DAY);
        separator = " and ";
    }
    if (settings->below > 0) {
        fprintf(out, "%sbelow %s", separator, plan_money_text(text, fleet, settings->below));
        separator = " and ";
    }
    if (settings->carbon > 0)
        fprintf(out, "%sbelow %.4g t of carbon dioxide", separator, settings->carbon / 1000);
}

static bool has_limits(const struct fleet *fleet)
{
    const struct plan_settings *settings = &fleet->scenario->plan;
    return settings->by > 0 || settings->below > 0 || settings->carbon > 0;
}

static const char *goal_words(const struct fleet *fleet)
{
    const struct plan_settings *settings = &fleet->scenario->plan;
    return settings->by > 0      ? "the cheapest is "
           : settings->below > 0 ? "the soonest done is "
                                 : "the least product of days and money has ";
}

static void put_choice(FILE *out, const struct fleet *fleet)
{
    const struct fleet_way *best = fleet->best;
    const struct fleet_found *found = plan_found(fleet, best);
    if (has_limits(fleet)) {
        fputs("of what is done ", out);
        put_limits(out, fleet);
        fputs(", ", out);
    }
    fputs(goal_words(fleet), out);
    put_way(out, fleet, best);
    fputs(": ", out);
    put_figures(out, fleet, best);
    if (*found->name)
        fprintf(out, ", with the layout %s%s%s", found->name, *found->schedule ? ", " : "", found->schedule);
    if (fleet->member_count)
        fprintf(out, " for %zu jobs one after the other", fleet->member_count);
    if (found->band.rows)
        fprintf(out, ", and in 8 of 10 cases %.4g to %.4g days", best->seconds * found->band.low / PLAN_DAY,
                best->seconds * found->band.high / PLAN_DAY);
}

/* What keeps every way from the limits. */
static void put_refusal(FILE *out, const struct fleet *fleet)
{
    const struct plan_settings *settings = &fleet->scenario->plan;
    fputs("nothing is done ", out);
    put_limits(out, fleet);
    fputs(": the soonest is ", out);
    put_way(out, fleet, fleet->soonest);
    fputs(", ", out);
    put_figures(out, fleet, fleet->soonest);
    fputs("; the cheapest is ", out);
    put_way(out, fleet, fleet->cheapest);
    fputs(", ", out);
    put_figures(out, fleet, fleet->cheapest);
    if (settings->by > 0 && fleet->soonest->seconds > settings->by)
        fprintf(out,
                "; the deadline wants at least %.2f times the soonest one's speed, so more GPUs, faster ones or "
                "fewer tokens",
                fleet->soonest->seconds / settings->by);
    else if (settings->below > 0 && fleet->cheapest->money > settings->below)
        fprintf(out, "; the money is enough for %.3g %% of the tokens on the cheapest",
                100 * settings->below / fleet->cheapest->money);
}

/* ---- the second sentence ---- */

/* Two neighbours of the front: what a day less costs. */
static void put_front(FILE *out, const struct fleet *fleet)
{
    char less[PLAN_MONEY_MAX], more[PLAN_MONEY_MAX];
    const struct fleet_way *soonest = fleet->soonest, *cheapest = NULL;
    for (size_t i = 0; i < fleet->way_count; i++)
        cheapest = fleet->ways[i].front ? &fleet->ways[i] : cheapest;
    if (fleet->front_count < 2) {
        fputs("nothing else is sooner or cheaper", out);
        return;
    }
    fprintf(out, "the front has %zu of them, from %.4g days for %s (", fleet->front_count, soonest->seconds / PLAN_DAY,
            plan_money_text(more, fleet, soonest->money));
    put_way(out, fleet, soonest);
    fprintf(out, ") to %.4g days for %s (", cheapest->seconds / PLAN_DAY,
            plan_money_text(less, fleet, cheapest->money));
    put_way(out, fleet, cheapest);
    fprintf(out, "): a day less costs %s on average",
            plan_money_text(less, fleet,
                            (soonest->money - cheapest->money) / ((cheapest->seconds - soonest->seconds) / PLAN_DAY)));
}

/* ---- the third sentence ---- */

static void put_counts(FILE *out, const struct fleet *fleet)
{
    fprintf(out, "of %zu clusters %zu were searched to their fastest layout", fleet->questions.count,
            fleet->counts[FLEET_FOUND]);
    if (fleet->counts[FLEET_CUT])
        fprintf(out, ", %zu need no search to their end, for another is sooner and cheaper than their bounds",
                fleet->counts[FLEET_CUT]);
    if (fleet->counts[FLEET_DOES_NOT_FIT])
        fprintf(out, ", on %zu no layout fits in memory", fleet->counts[FLEET_DOES_NOT_FIT]);
    if (fleet->counts[FLEET_ILLEGAL])
        fprintf(out, ", on %zu none is legal", fleet->counts[FLEET_ILLEGAL]);
    if (fleet->counts[FLEET_UNASKED])
        fprintf(out, ", %zu were not asked for want of time", fleet->counts[FLEET_UNASKED]);
}

/* A sentence begins with a capital and ends with a full stop. */
static void put_sentence(FILE *out, const struct fleet *fleet, void (*put)(FILE *out, const struct fleet *fleet),
                         const char *behind)
{
    char *text = NULL;
    size_t size = 0;
    FILE *sentence = table_remarks_begin(&text, &size);
    put(sentence, fleet);
    fclose(sentence);
    if (text && *text)
        fprintf(out, "%c%s.%s", *text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, text + 1, behind);
    free(text);
}

void plan_verdict(FILE *out, const struct fleet *fleet)
{
    if (fleet->way_count) {
        put_sentence(out, fleet, fleet->best ? put_choice : put_refusal, "\n");
        put_sentence(out, fleet, put_front, "\n");
    } else {
        fputs("No cluster was found on which the job runs.\n", out);
    }
    put_sentence(out, fleet, put_counts, "\n");
}

/* ---- what is missing ---- */

static void put_unfit(FILE *out, const struct fleet *fleet)
{
    char need[READABLE_MAX], has[READABLE_MAX];
    struct arena *arena = arena_create();
    for (size_t i = 0; i < fleet->questions.count; i++) {
        const struct fleet_found *found = &fleet->found[i];
        const char *text = fleet->questions.list[i].text;
        if (fleet->member_count && *found->name)
            text = arena_print(arena, "%s on %s", found->name, text);
        if (found->status == FLEET_DOES_NOT_FIT && found->least_bytes > 0)
            fprintf(out,
                    "%s: no layout fits: the one that needs least takes %s of a GPU, which has %s; %.1f times as "
                    "many GPUs would divide it further, or GPUs with more memory hold it\n",
                    text, readable_binary_bytes(need, found->least_bytes),
                    readable_binary_bytes(has, found->capacity_bytes), found->least_bytes / found->capacity_bytes);
        else if (found->status == FLEET_DOES_NOT_FIT)
            fprintf(out, "%s: no layout fits in memory\n", text);
        else if (found->status == FLEET_ILLEGAL)
            fprintf(out, "%s: no layout is legal: %s\n", text, found->reason);
    }
    arena_destroy(arena);
}

/* Adds a name to a list without repetition. */
static const char *with_name(const char *names, const char *name, struct arena *arena)
{
    const char *at = strstr(names, name);
    size_t length = strlen(name);
    if (at && (at == names || at[-1] == ' ') && (!at[length] || at[length] == ','))
        return names;
    return arena_print(arena, "%s%s%s", names, *names ? ", " : "", name);
}

static void put_unknown(FILE *out, const struct fleet *fleet)
{
    struct arena *arena = arena_create();
    const char *wattless = "", *bandless = "", *carbonless = "", *endless = "";
    for (size_t i = 0; i < fleet->questions.count; i++) {
        const struct fleet_found *found = &fleet->found[i];
        const struct fleet_question *question = &fleet->questions.list[i];
        if (found->status != FLEET_FOUND)
            continue;
        wattless = found->joules > 0 ? wattless : with_name(wattless, question->platform, arena);
        bandless = found->band.rows || fleet->member_count ? bandless : with_name(bandless, question->platform, arena);
        for (size_t k = 0; k < question->offer_count; k++)
            endless = found->courses[k].stuck ? with_name(endless, question->text, arena) : endless;
    }
    for (size_t i = 0; i < fleet->way_count; i++)
        if (fleet->ways[i].kilograms < 0)
            carbonless = with_name(carbonless, plan_question(fleet, &fleet->ways[i])->platform, arena);
    if (*wattless)
        fprintf(out, "energy is not known of %s: there are no watts; owned ones cost more by their electricity\n",
                wattless);
    if (*carbonless)
        fprintf(out, "carbon is not known of %s: it needs watts, and carbon of the offer or power.carbon\n",
                carbonless);
    if (*bandless)
        fprintf(out, "no band of %s: no published jobs are like this one\n", bandless);
    if (*endless)
        fprintf(out,
                "with an offer of %s the training would never end: its interruptions come faster than it gets "
                "on\n",
                endless);
    if (!fleet->scenario->training.given)
        fputs(
            "goodput is not known: nothing is said of failures (--set failures=llama3); days are those of computing\n",
            out);
    arena_destroy(arena);
}

void plan_missing(FILE *out, const struct fleet *fleet)
{
    put_unknown(out, fleet);
    put_unfit(out, fleet);
    for (size_t i = 0; i < fleet->questions.left_out_count; i++)
        fprintf(out, "left out: %s\n", fleet->questions.left_out[i]);
}
