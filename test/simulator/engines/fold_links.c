/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of links, added in any order and more than once, are each there once, by link and then by the other. */
#include "simulator/engines/fold_links.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { LINKS = 7, OTHERS = 9, ADDED = 400 };

Test(fold_links, pairs_are_there_once)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct fold_pairs pairs = {0};
        bool known[LINKS][OTHERS] = {{false}};
        uint64_t state = seed;
        for (unsigned i = 0; i < ADDED / seed; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            uint32_t link = (uint32_t)(state >> 33) % LINKS, other = (uint32_t)(state >> 45) % OTHERS;
            known[link][other] = true;
            fold_pairs_add(&pairs, link, other);
        }
        fold_pairs_finish(&pairs);
        size_t at = 0;
        for (uint32_t link = 0; link < LINKS; link++) {
            cr_assert_eq(fold_pairs_find(&pairs, link), at, "seed %u: link %u", seed, link);
            for (uint32_t other = 0; other < OTHERS; other++)
                if (known[link][other]) {
                    cr_assert(at < pairs.count && pairs.items[at].link == link && pairs.items[at].other == other);
                    at++;
                }
        }
        cr_assert_eq(pairs.count, at, "seed %u: %zu pairs, %zu different", seed, pairs.count, at);
        free(pairs.items);
    }
}
