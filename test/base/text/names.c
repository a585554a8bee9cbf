/* SPDX-License-Identifier: Apache-2.0 */
/* Names beside one that is not known: lists that a reader can take in. */
#include "base/text/names.h"

#include <criterion/criterion.h>

static const char *const words[] = {"gpipe", "1f1b",  "eager-1f1b", "chimera", "zb-h1",
                                    "zb-h2", "v-min", "dualpipe",   "hanayo",  "best"};

Test(names, distance_counts_letters)
{
    static const struct {
        const char *a, *b;
        unsigned edits;
    } cases[] = {{"", "", 0},           {"", "abc", 3},           {"gpipe", "gpipe", 0}, {"gpipe", "gpipee", 1},
                 {"gpipe", "gppie", 1}, {"kitten", "sitting", 3}, {"zb-h1", "zb-h2", 1}, {"abc", "xyz", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(names_distance(cases[i].a, cases[i].b), cases[i].edits, "%s, %s", cases[i].a, cases[i].b);
        cr_expect_eq(names_distance(cases[i].b, cases[i].a), cases[i].edits, "%s, %s", cases[i].b, cases[i].a);
    }
}

Test(names, distance_compares_the_first_forty_letters)
{
    char a[100], b[100];
    for (int i = 0; i < 99; i++) {
        a[i] = 'a';
        b[i] = i < 38 ? 'a' : 'b';
    }
    a[99] = b[99] = '\0';
    cr_expect_eq(names_distance(a, b), 2);
}

Test(names, short_lists_are_whole)
{
    struct names_text list;
    cr_expect_str_eq(names_list(&list, "x", words, 0, NULL), "none");
    cr_expect_str_eq(names_list(&list, "x", words, 1, "a page"), "gpipe");
    cr_expect_str_eq(names_list(&list, "x", words, 2, "a page"), "gpipe or 1f1b");
    cr_expect_str_eq(names_list(&list, "x", words, 8, "a page"),
                     "gpipe, 1f1b, eager-1f1b, chimera, zb-h1, zb-h2, v-min or dualpipe");
}

Test(names, long_lists_show_the_nearest)
{
    struct names_text list;
    cr_expect_str_eq(names_list(&list, "zb-h3", words, 10, "`stagesim list schedules`"),
                     "zb-h1, zb-h2, best or one of 7 more (`stagesim list schedules`)");
    static const char *const axes[] = {"x", "y", "z", "tensor", "context", "expert", "pipeline", "data", "order"};
    cr_expect_str_eq(names_list(&list, "pipe", axes, 9, "a page"), "pipeline, expert, order or one of 6 more (a page)");
    cr_expect_str_eq(names_list(&list, NULL, words, 9, NULL), "gpipe, 1f1b, eager-1f1b or one of 6 more");
}
