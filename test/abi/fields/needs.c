/* SPDX-License-Identifier: Apache-2.0 */
#include "abi/fields/needs.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <string.h>

/* "number" 3, "none" 0, "word" ring, "other" 4; all else is not known. */
static struct need_value find(void *user, const char *path)
{
    (void)user;
    if (!strcmp(path, "number"))
        return (struct need_value){true, 3, NULL};
    if (!strcmp(path, "none"))
        return (struct need_value){true, 0, NULL};
    if (!strcmp(path, "other"))
        return (struct need_value){true, 4, NULL};
    if (!strcmp(path, "word"))
        return (struct need_value){true, 1, "ring"};
    return (struct need_value){0};
}

static bool holds(const char *needs)
{
    return need_holds(needs, &(struct need_values){find, NULL});
}

Test(needs, every_operator)
{
    cr_assert(holds("number>2") && !holds("number>3") && !holds("none>0"));
    cr_assert(holds("other>@number") && !holds("number>@other") && !holds("number>@number"));
    cr_assert(holds("number=3") && holds("number=1,3") && !holds("number=1,2"));
    cr_assert(holds("word=tree,ring") && !holds("word=tree,rings"));
    cr_assert(holds("word!tree") && !holds("word!tree,ring") && holds("number!4"));
    cr_assert(holds("number?") && !holds("none?") && holds("none-") && !holds("number-"));
}

Test(needs, one_of_the_alternatives_is_enough)
{
    cr_assert(holds("number>9|word=ring") && holds("word=ring|number>9") && !holds("number>9|word=tree|none?"));
    cr_assert(holds("number=7,8|none-"));
}

Test(needs, what_is_not_known_holds)
{
    cr_assert(holds("else>1") && holds("else=a") && holds("else?") && holds("else-") && holds("number>@else"));
}

Test(needs, in_words)
{
    struct arena *arena = arena_create();
    cr_assert_str_eq(need_words("a.b>1|c=x,y", arena), "a.b above 1, or c: x or y");
    cr_assert_str_eq(need_words("a>@b.c", arena), "a above b.c");
    cr_assert_str_eq(need_words("a!x", arena), "another a than x");
    cr_assert_str_eq(need_words("a.b?|c-", arena), "a.b, or no c");
    arena_destroy(arena);
}

struct values {
    uint64_t count;
    bool flag;
    unsigned word;
    const char *text;
    struct stagesim_list list;
    double ratio;
};

Test(needs, fields)
{
    static const char *const words[] = {"no", "yes", NULL};
    static const struct stagesim_field fields[] = {
        {"count", STAGESIM_FIELD_COUNT, offsetof(struct values, count)},
        {"flag", STAGESIM_FIELD_FLAG, offsetof(struct values, flag)},
        {"word", STAGESIM_FIELD_NAME, offsetof(struct values, word), .names = words},
        {"text", STAGESIM_FIELD_TEXT, offsetof(struct values, text)},
        {"list", STAGESIM_FIELD_COUNTS, offsetof(struct values, list)},
        {"ratio", STAGESIM_FIELD_RATIO, offsetof(struct values, ratio)},
    };
    static const double numbers[] = {1, 2};
    const struct values defaults = {.ratio = 1.5, .count = 2};
    struct values values = {7, true, 1, "a", {2, numbers}, 2.5};
    static const double expected[] = {7, 1, 1, 1, 1, 2.5};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct need_value value = need_field_value(&fields[i], &values);
        cr_assert(value.known && !(value.number > expected[i]) && !(value.number < expected[i]), "%s", fields[i].key);
        cr_assert(need_field_differs(&fields[i], &values, &defaults), "%s", fields[i].key);
        cr_assert(!need_field_differs(&fields[i], &defaults, &defaults), "%s", fields[i].key);
    }
    cr_assert_str_eq(need_field_value(&fields[1], &values).word, "true");
    cr_assert_str_eq(need_field_value(&fields[2], &values).word, "yes");
    cr_assert(need_field_differs(&fields[0], &defaults, NULL) && !need_field_differs(&fields[1], &defaults, NULL));
}
