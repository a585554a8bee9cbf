/* SPDX-License-Identifier: Apache-2.0 */
/* What a scaling law says of the money. */
#include "base/json_writer.h"
#include "commands/plan/plan_view.h"
#include "studies/fleet/law.h"

#include <math.h>

/* The training on the recommended cluster: flop as the model counts them, and the law's parameters, flop / 6 / tokens.
 */
struct spending {
    struct fleet_law law;
    double flop, tokens, parameters, loss; /* of this training */
    double money, affordable;              /* the sum that is weighed, and the flop that it buys there */
    struct fleet_optimum optimum;
};

/* False where no law is asked for, or nothing is recommended. A limit of money is spent whole; else what this training
 * costs. */
static bool spend(const struct fleet *fleet, struct spending *spending)
{
    const struct plan_settings *settings = &fleet->scenario->plan;
    if (!fleet->best || !fleet_law_read(&settings->law, &spending->law))
        return false;
    const struct fleet_found *found = plan_found(fleet, fleet->best);
    spending->flop = found->job.flop * found->steps;
    spending->tokens = found->job.per_step * found->steps;
    if (!(spending->flop > 0) || !(spending->tokens > 0))
        return false;
    spending->parameters = spending->flop / 6 / spending->tokens;
    spending->loss = fleet_law_loss(&spending->law, spending->parameters, spending->tokens);
    spending->money = settings->below > 0 ? settings->below : fleet->best->money;
    spending->affordable = spending->flop * (spending->money / fleet->best->money);
    spending->optimum = fleet_law_optimum(&spending->law, spending->affordable);
    return true;
}

void plan_law(FILE *out, const struct fleet *fleet)
{
    struct spending s;
    char money[PLAN_MONEY_MAX];
    if (!spend(fleet, &s))
        return;
    fprintf(out,
            "By the law of %s, %s buy %.4g flop there, best spent on %.4g billion parameters and %.4g trillion tokens, "
            "with a loss of %.4f; this training spends %.4g on %.4g billion and %.4g trillion, with %.4f.\n",
            s.law.source, plan_money_text(money, fleet, s.money), s.affordable, s.optimum.parameters / 1e9,
            s.optimum.tokens / 1e12, s.optimum.loss, s.flop, s.parameters / 1e9, s.tokens / 1e12, s.loss);
}

void plan_law_json(struct json_writer *json, const struct fleet *fleet)
{
    struct spending s;
    if (!spend(fleet, &s))
        return;
    json_object_begin(json, "law", false);
    json_text(json, "name", s.law.name);
    json_text(json, "source", s.law.source);
    json_number(json, "money", s.money);
    json_number(json, "flop", s.affordable);
    json_number(json, "parameters", s.optimum.parameters);
    json_number(json, "tokens", s.optimum.tokens);
    json_number(json, "loss", s.optimum.loss);
    json_number(json, "training_flop", s.flop);
    json_number(json, "training_parameters", s.parameters);
    json_number(json, "training_tokens", s.tokens);
    json_number(json, "training_loss", s.loss);
    json_object_end(json);
}
