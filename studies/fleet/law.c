/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/fleet/law.h"

#include "base/rounded/rounded.h"

#include <stdlib.h>
#include <string.h>

static const struct fleet_law laws[] = {
    {"hoffmann", "Hoffmann et al. 2022, arXiv 2203.15556", 1.6934, 406.4, 0.3392, 410.7, 0.2849},
    {"besiroglu", "Besiroglu et al. 2024, arXiv 2404.10102", 1.8172, 482.01, 0.3478, 2085.43, 0.3658},
};

bool fleet_law_read(const struct stagesim_texts *texts, struct fleet_law *law)
{
    enum { NUMBERS = 5 };
    double numbers[NUMBERS];
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++)
        if (texts->count == 1 && !strcmp(texts->texts[0], laws[i].name)) {
            *law = laws[i];
            return true;
        }
    if (texts->count != NUMBERS)
        return false;
    for (size_t i = 0; i < NUMBERS; i++) {
        char *end;
        numbers[i] = strtod(texts->texts[i], &end);
        if (*end || end == texts->texts[i] || !(numbers[i] > 0 && numbers[i] < 1e12))
            return false;
    }
    *law = (struct fleet_law){"own", "the scenario", numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
    return true;
}

double fleet_law_loss(const struct fleet_law *law, double parameters, double tokens)
{
    return law->e + law->a / rounded_pow(parameters, law->alpha) + law->b / rounded_pow(tokens, law->beta);
}

/* With N D = C / 6, the derivative by N is 0 where alpha A / N^alpha = beta B / D^beta. */
struct fleet_optimum fleet_law_optimum(const struct fleet_law *law, double flop)
{
    double sum = law->alpha + law->beta, product = flop / 6;
    double scale = rounded_pow(law->alpha * law->a / (law->beta * law->b), 1 / sum);
    double parameters = scale * rounded_pow(product, law->beta / sum), tokens = product / parameters;
    return (struct fleet_optimum){parameters, tokens, fleet_law_loss(law, parameters, tokens)};
}
