/* SPDX-License-Identifier: Apache-2.0 */
/* The table of Megatron-LM's options: no name stands twice, every key is one of the scenario, words go both ways. */
#include "frameworks/megatron_options.h"

#include "job/scenario/scenario.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Test(megatron_options, names_are_found_and_stand_once)
{
    for (const struct megatron_option *each = megatron_options; each->name; each++)
        cr_expect(megatron_option_find(each->name) == each, "%s stands twice", each->name);
    cr_expect(megatron_option_find("nproc_per_node") == megatron_option_find("nproc-per-node"));
    cr_expect(megatron_option_find("lr-decay-style")->role == OPTION_IGNORED);
    cr_expect(megatron_option_find("num_layers"));
    cr_expect_null(megatron_option_find("num-layer"));
    cr_expect_null(megatron_option_find("num-layersx"));
    cr_expect_str_eq(megatron_option_find_nemo("encoder_seq_length")->key, "model.sequence");
}

Test(megatron_options, keys_are_the_scenario_s)
{
    char *text = NULL, key[96];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    scenario_print_keys(out);
    fclose(out);
    for (const struct megatron_option *each = megatron_options; each->name; each++) {
        snprintf(key, sizeof key, "`%s`", each->key ? each->key : "");
        bool other = !each->key || !strcmp(each->key, "order") || !strncmp(each->key, "schedule.", 9);
        cr_expect(other || strstr(text, key), "%s: %s is no key", each->name, each->key);
        cr_expect(!each->key || megatron_option_of_key(each->key), "%s", each->name);
        cr_expect(each->role != OPTION_PARTIAL || each->text, "%s says not what is missed", each->name);
    }
    free(text);
}

Test(megatron_options, words_go_both_ways)
{
    char text[32];
    const struct megatron_option *norm = megatron_option_find("normalization");
    cr_expect_str_eq(megatron_option_word(norm, "RMSNorm", 0, text, sizeof text), "rms");
    cr_expect_str_eq(megatron_option_word(norm, "rms", 1, text, sizeof text), "RMSNorm");
    cr_expect_str_eq(megatron_option_word(norm, "layer", 1, text, sizeof text), "LayerNorm");
    cr_expect_null(megatron_option_word(norm, "RMS", 0, text, sizeof text));
}
