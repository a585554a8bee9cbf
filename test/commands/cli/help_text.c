/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/help_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void expect(const char *text, size_t width, const char *expected)
{
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    help_text_print(out, text, width);
    fclose(out);
    cr_assert_str_eq(printed, expected);
    free(printed);
}

Test(help_text, is_folded_under_its_own_beginning)
{
    expect("one two three\n\n  --option NAME  what it does and why\n", 0,
           "one two three\n\n  --option NAME  what it does and why\n");
    expect("one two three\n", 8, "one two\nthree\n");
    expect("  --opt N  what it does and why\n", 24, "  --opt N  what it does\n           and why\n");
    expect("  plain text that is indented\n", 16, "  plain text\n  that is\n  indented\n");
    expect("--a|--very-long-word-that-cannot-be-cut x\n", 10, "--a|--very-long-word-that-cannot-be-cut\nx\n");
    expect("  stagesim run scenarios/demo.yaml -o out\n", 20, "  stagesim run scenarios/demo.yaml -o out\n");
}
