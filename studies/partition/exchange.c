/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/partition/exchange.h"

double partition_exchange_elements(const struct partition_exchange *exchange, double share)
{
    return exchange->whole + share * (1 - share) * exchange->product + (1 - share) * exchange->other;
}

void partition_exchange_add(struct partition_exchange *sum, const struct partition_exchange *more)
{
    sum->whole += more->whole;
    sum->product += more->product;
    sum->other += more->other;
}

struct partition_exchange partition_exchange_inside(enum partition_type type, double weights, double inputs,
                                                    double outputs)
{
    return (struct partition_exchange){.whole = type == PARTITION_SAMPLES  ? weights
                                                : type == PARTITION_INPUTS ? outputs
                                                                           : inputs};
}

enum partition_layout partition_layout_in(enum partition_type type)
{
    return type == PARTITION_SAMPLES ? PARTITION_ROWS : type == PARTITION_INPUTS ? PARTITION_COLUMNS : PARTITION_WHOLE;
}

enum partition_layout partition_layout_out(enum partition_type type)
{
    return type == PARTITION_SAMPLES ? PARTITION_ROWS : type == PARTITION_INPUTS ? PARTITION_WHOLE : PARTITION_COLUMNS;
}

/* Where a tensor lies otherwise than it is needed: of a group's rows of it (a), the columns of the other (1 - a) are
 * missing; of the whole, what the other one has. */
static void add_way(struct partition_exchange *sum, enum partition_layout from, enum partition_layout to,
                    double elements)
{
    if (from == to || from == PARTITION_WHOLE)
        return;
    if (to == PARTITION_WHOLE)
        sum->other += elements;
    else
        sum->product += elements;
}

struct partition_exchange partition_exchange_between(enum partition_layout from, enum partition_layout to,
                                                     double elements)
{
    struct partition_exchange sum = {0};
    add_way(&sum, from, to, elements);
    add_way(&sum, to, from, elements);
    return sum;
}
