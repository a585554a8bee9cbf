/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/operator_shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { INPUTS_MAX = 8, DIMENSIONS_MAX = 6, WORD_MAX = 32 };

struct input {
    double size[DIMENSIONS_MAX]; /* count of them */
    unsigned count;
    char type[WORD_MAX];
};

struct inputs {
    struct input list[INPUTS_MAX];
    unsigned count;
};

/* ---- reading ---- */

/* "[8192,4096]"; lists within it (of lists of tensors) are passed over. */
static const char *read_dimensions(const char *at, struct input *input)
{
    unsigned depth = 0;
    for (; *at; at++) {
        depth += *at == '[';
        if (*at == ']' && !--depth)
            return at + 1;
        if (*at < '0' || *at > '9')
            continue;
        char *end;
        double value = strtod(at, &end);
        if (depth == 1 && input->count < DIMENSIONS_MAX)
            input->size[input->count++] = value;
        at = end - 1;
    }
    return at;
}

static const char *read_all_dimensions(const char *at, struct inputs *inputs)
{
    at += *at == '[';
    while (*at && *at != ']') {
        struct input spare = {.count = 0};
        if (*at == '[')
            at = read_dimensions(at, inputs->count < INPUTS_MAX ? &inputs->list[inputs->count++] : &spare);
        else
            at++;
    }
    return *at ? at + 1 : at;
}

/* "[c10::BFloat16,float,Scalar]" */
static void read_types(const char *at, struct inputs *inputs)
{
    at += strspn(at, " [");
    for (unsigned i = 0; *at && *at != ']' && i < inputs->count; i++) {
        size_t size = strcspn(at, ",]");
        snprintf(inputs->list[i].type, WORD_MAX, "%.*s", (int)(size < WORD_MAX ? size : WORD_MAX - 1), at);
        at += size + (at[size] == ',');
    }
}

static bool read_inputs(const char *shape, struct inputs *inputs)
{
    *inputs = (struct inputs){.count = 0};
    read_types(read_all_dimensions(shape, inputs), inputs);
    return inputs->count > 0;
}

/* ---- types ---- */

static bool is_half(const struct input *input)
{
    return strcasestr(input->type, "bfloat16") || strcasestr(input->type, "half");
}

static bool is_fp8(const struct input *input)
{
    return strcasestr(input->type, "float8");
}

/* Bytes of an element. */
static double width_of(const struct input *input)
{
    if (is_half(input))
        return 2;
    if (is_fp8(input) || strcasestr(input->type, "bool") || strcasestr(input->type, "char"))
        return 1;
    return strcasestr(input->type, "double") || strcasestr(input->type, "long") ? 8 : 4;
}

static double elements_of(const struct input *input)
{
    double product = input->count ? 1 : 0;
    for (unsigned i = 0; i < input->count; i++)
        product *= input->size[i];
    return product;
}

/* ---- products ---- */

/* What the operands of a product are, among the inputs: addmm has the bias first. */
static const struct product {
    const char *name;
    unsigned left, dimensions;
    bool transposed; /* the second operand is n x k */
} products[] = {{"aten::mm", 0, 2, false},
                {"aten::addmm", 1, 2, false},
                {"aten::bmm", 0, 3, false},
                {"aten::baddbmm", 1, 3, false},
                {"aten::linear", 0, 0, true},
                {"aten::_scaled_mm", 0, 2, false},
                {"aten::_addmm_activation", 1, 2, false}};

static bool as_product(const struct product *product, const struct inputs *inputs, struct kernel_shape *kernel,
                       char *what)
{
    if (inputs->count < product->left + 2)
        return false;
    const struct input *a = &inputs->list[product->left], *b = a + 1;
    unsigned columns = b->count - 1;
    if (a->count < 2 || b->count < 2 ||
        (product->dimensions && (a->count != product->dimensions || b->count != a->count)))
        return false;
    bool fp8 = is_fp8(a) && is_fp8(b);
    if (!fp8 && !(is_half(a) && is_half(b)))
        return false;
    double groups = product->dimensions == 3 ? a->size[0] : 1, k = a->size[a->count - 1];
    double m = elements_of(a) / (groups * k), n = product->transposed ? b->size[0] : b->size[columns];
    if (!(m > 0) || !(n > 0) || !(k > 0) || b->size[product->transposed ? columns : columns - 1] < k ||
        b->size[product->transposed ? columns : columns - 1] > k)
        return false;
    *kernel = (struct kernel_shape){
        groups > 1 ? KERNEL_GROUPED : KERNEL_MATMUL, fp8 ? KERNEL_FP8 : KERNEL_BF16, KERNEL_FORWARD, groups, m, n, k};
    if (groups > 1)
        snprintf(what, OPERATOR_WHAT_MAX, "%.0f products %.0f x %.0f x %.0f", groups, m, n, k);
    else
        snprintf(what, OPERATOR_WHAT_MAX, "matmul %.0f x %.0f x %.0f", m, n, k);
    return true;
}

/* ---- attention ---- */

/* Inputs of flash attention: queries are samples x heads x tokens x columns, or samples x tokens x heads x columns. */
static const struct attention {
    const char *name;
    unsigned query; /* input; keys and values follow it */
    bool heads_first, backward;
} attentions[] = {{"aten::_scaled_dot_product_flash_attention", 0, true, false},
                  {"aten::_scaled_dot_product_flash_attention_backward", 1, true, true},
                  {"aten::_scaled_dot_product_cudnn_attention", 0, true, false},
                  {"aten::_scaled_dot_product_cudnn_attention_backward", 1, true, true},
                  {"aten::_flash_attention_forward", 0, false, false},
                  {"aten::_flash_attention_backward", 1, false, true},
                  {"flash_attn::_flash_attn_forward", 0, false, false},
                  {"flash_attn::_flash_attn_backward", 1, false, true}};

static bool as_attention(const struct attention *attention, const struct inputs *inputs, struct kernel_shape *kernel,
                         char *what)
{
    enum { AXES_OF_QUERY = 4 };
    if (inputs->count < attention->query + 3)
        return false;
    const struct input *query = &inputs->list[attention->query], *value = query + 2;
    if (query->count != AXES_OF_QUERY || value->count != AXES_OF_QUERY || !is_half(query))
        return false;
    double heads = query->size[attention->heads_first ? 1 : 2], tokens = query->size[attention->heads_first ? 2 : 1];
    *kernel = (struct kernel_shape){
        KERNEL_ATTENTION,       KERNEL_BF16, attention->backward ? KERNEL_BACKWARD : KERNEL_FORWARD,
        query->size[0] * heads, tokens,      query->size[3],
        value->size[3]};
    snprintf(what, OPERATOR_WHAT_MAX, "causal attention%s, %.0f heads of %.0f, %.0f tokens",
             attention->backward ? ", backward" : "", query->size[0] * heads, query->size[3], tokens);
    return elements_of(query) > 0;
}

/* ---- what only moves bytes ---- */

enum moves {
    MOVES_NEW /* all inputs, and a result like the largest */,
    MOVES_FIRST /* and the first again */,
    MOVES_ONCE /* the inputs */
};

static const struct mover {
    const char *name;
    enum moves moves;
    enum kernel_stage stage;
} movers[] = {{"aten::add", MOVES_NEW, KERNEL_ADD},
              {"aten::add_", MOVES_FIRST, KERNEL_ADD},
              {"aten::mul", MOVES_NEW, KERNEL_ADD},
              {"aten::mul_", MOVES_FIRST, KERNEL_ADD},
              {"aten::div", MOVES_NEW, KERNEL_ADD},
              {"aten::sub", MOVES_NEW, KERNEL_ADD},
              {"aten::copy_", MOVES_ONCE, KERNEL_ADD},
              {"aten::gelu", MOVES_NEW, KERNEL_SILU},
              {"aten::silu", MOVES_NEW, KERNEL_SILU},
              {"aten::native_layer_norm", MOVES_NEW, KERNEL_NORM},
              {"aten::_fused_rms_norm", MOVES_NEW, KERNEL_NORM},
              {"aten::rms_norm", MOVES_NEW, KERNEL_NORM}};

static bool as_mover(const struct mover *mover, const struct inputs *inputs, struct kernel_shape *kernel, char *what)
{
    double bytes = 0, largest = 0;
    for (unsigned i = 0; i < inputs->count; i++) {
        double own = elements_of(&inputs->list[i]) * width_of(&inputs->list[i]);
        bytes += own;
        largest = fmax(largest, own);
    }
    if (mover->moves == MOVES_NEW)
        bytes += largest;
    else if (mover->moves == MOVES_FIRST)
        bytes += elements_of(&inputs->list[0]) * width_of(&inputs->list[0]);
    *kernel = (struct kernel_shape){KERNEL_MEMORY, KERNEL_BF16, mover->stage, 1, bytes, 1, 1};
    snprintf(what, OPERATOR_WHAT_MAX, "%s of %.4g MB", kernel_stage_names[mover->stage], bytes * 1e-6);
    return bytes > 0;
}

bool operator_shape(const char *name, const char *shape, struct kernel_shape *kernel, char what[OPERATOR_WHAT_MAX])
{
    struct inputs inputs;
    if (!read_inputs(shape, &inputs))
        return false;
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (!strcmp(products[i].name, name))
            return as_product(&products[i], &inputs, kernel, what);
    for (size_t i = 0; i < sizeof attentions / sizeof *attentions; i++)
        if (!strcmp(attentions[i].name, name))
            return as_attention(&attentions[i], &inputs, kernel, what);
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++)
        if (!strcmp(movers[i].name, name))
            return as_mover(&movers[i], &inputs, kernel, what);
    return false;
}
