/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim kernel: how long one kernel takes on a GPU, by its shape, from measured ones. */
#include "base/arena.h"
#include "base/paths.h"
#include "base/quantity.h"
#include "base/text/names.h"
#include "commands/cli/command.h"
#include "commands/cli/option_next.h"
#include "commands/cli/result.h"
#include "commands/cli/words.h"
#include "commands/kernel/kernel_output.h"

#include <getopt.h>
#include <math.h>
#include <string.h>

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_LATEX, FORMAT_MARKDOWN, FORMATS };

static const char *const format_names[FORMATS] = {"table", "json", "csv", "latex", "markdown"};

/* By enum format. */
static const enum table_format table_formats[FORMATS] = {TABLE_TEXT, TABLE_JSON, TABLE_CSV, TABLE_LATEX,
                                                         TABLE_MARKDOWN};

/* Of the numbers that options give; which kind takes which is in `accepted`. */
enum number { GROUPS, ROWS, COLUMNS, INNER, BATCH, HEADS, KV_HEADS, SEQUENCE, HEAD_SIZE, VALUE_SIZE, BYTES, NUMBERS };

static const char *const number_names[NUMBERS] = {"--groups",    "-m",           "-n",         "-k",
                                                  "--batch",     "--heads",      "--kv-heads", "--sequence",
                                                  "--head-size", "--value-size", "--bytes"};

struct arguments {
    const char *gpu, *type, *stage, *source, *output;
    unsigned format;         /* enum format; FORMATS: not given */
    double numbers[NUMBERS]; /* 0: not given */
    struct kernel_answer answer;
    struct arena *arena;
};

/* ---- the command line ---- */

static const struct option long_options[] = {
    {"gpu", required_argument, NULL, 'g'},
    {"type", required_argument, NULL, 't'},
    {"stage", required_argument, NULL, 's'},
    {"source", required_argument, NULL, 'r'},
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"groups", required_argument, NULL, 256 + GROUPS},
    {"batch", required_argument, NULL, 256 + BATCH},
    {"heads", required_argument, NULL, 256 + HEADS},
    {"kv-heads", required_argument, NULL, 256 + KV_HEADS},
    {"sequence", required_argument, NULL, 256 + SEQUENCE},
    {"head-size", required_argument, NULL, 256 + HEAD_SIZE},
    {"value-size", required_argument, NULL, 256 + VALUE_SIZE},
    {"bytes", required_argument, NULL, 256 + BYTES},
    {NULL, 0, NULL, 0},
};

/* A count, or with a unit bytes. */
static int read_number(const struct command *command, const char *text, enum number which, double *number)
{
    static const double most = 1e12;
    uint64_t count;
    struct quantity_reason reason;
    bool good = quantity_count(text, &count, &reason);
    if (good)
        *number = (double)count;
    else
        good = which == BYTES && quantity_parse(QUANTITY_BYTES, text, number, &reason);
    if (good && *number >= 1 && *number <= most)
        return 0;
    return command_usage(command, "%s '%s' is no size; expected %s", number_names[which], text,
                         which == BYTES ? "1 to 1e12 bytes such as 64MiB" : "a whole number from 1 to 1e12");
}

static int read_option(const struct command *command, int option, struct arguments *a)
{
    switch (option) {
    case 'g':
        a->gpu = optarg;
        return 0;
    case 't':
        a->type = optarg;
        return 0;
    case 's':
        a->stage = optarg;
        return 0;
    case 'r':
        a->source = optarg;
        return 0;
    case 'o':
        a->output = optarg;
        return 0;
    case 'f':
        return format_read(command, optarg, format_names, FORMATS, &a->format);
    case 'm':
        return read_number(command, optarg, ROWS, &a->numbers[ROWS]);
    case 'n':
        return read_number(command, optarg, COLUMNS, &a->numbers[COLUMNS]);
    case 'k':
        return read_number(command, optarg, INNER, &a->numbers[INNER]);
    default: /* the long names of sizes */
        return read_number(command, optarg, (enum number)(option - 256), &a->numbers[option - 256]);
    }
}

static int read_word(const struct command *command, const char *what, const char *word, const char *const *words,
                     unsigned *index)
{
    size_t count = 0;
    while (words[count])
        count++;
    return words_find(words, count, word, index) ? 0 : words_unknown(command, what, word, words, count);
}

/* What a kind takes and needs, as bits of enum number. */
static const struct {
    unsigned needed, accepted;
} sizes_of[] = {
    [KERNEL_MATMUL] = {1 << ROWS | 1 << COLUMNS | 1 << INNER, 0},
    [KERNEL_GROUPED] = {1 << GROUPS | 1 << ROWS | 1 << COLUMNS | 1 << INNER, 0},
    [KERNEL_EXPERTS] = {1 << GROUPS | 1 << ROWS | 1 << COLUMNS | 1 << INNER, 0},
    [KERNEL_ATTENTION] = {1 << HEADS | 1 << SEQUENCE | 1 << HEAD_SIZE, 1 << BATCH | 1 << VALUE_SIZE},
    [KERNEL_MEMORY] = {1 << BYTES, 0},
    [KERNEL_MAMBA] = {1 << HEADS | 1 << SEQUENCE | 1 << HEAD_SIZE | 1 << VALUE_SIZE, 1 << BATCH},
    [KERNEL_GATED_DELTA] = {1 << HEADS | 1 << SEQUENCE | 1 << HEAD_SIZE, 1 << BATCH | 1 << VALUE_SIZE},
    [KERNEL_KIMI_DELTA] = {1 << HEADS | 1 << SEQUENCE | 1 << HEAD_SIZE, 1 << BATCH | 1 << VALUE_SIZE},
    [KERNEL_LIGHTNING] = {1 << HEADS | 1 << SEQUENCE | 1 << HEAD_SIZE, 1 << BATCH | 1 << VALUE_SIZE},
    [KERNEL_DECODE] = {1 << HEADS | 1 << SEQUENCE | 1 << HEAD_SIZE, 1 << BATCH | 1 << KV_HEADS},
};

static int check_numbers(const struct command *command, const struct arguments *a)
{
    enum kernel_kind kind = a->answer.shape.kind;
    unsigned needed = sizes_of[kind].needed, accepted = needed | sizes_of[kind].accepted;
    for (unsigned i = 0; i < NUMBERS; i++) {
        if (a->numbers[i] > 0 && !(accepted & 1U << i))
            return command_usage(command, "%s does not have %s", kernel_kind_names[kind], number_names[i]);
        if (a->numbers[i] <= 0 && needed & 1U << i)
            return command_usage(command, "%s is missing", number_names[i]);
    }
    if (a->numbers[KV_HEADS] > 0 && fmod(a->numbers[HEADS], a->numbers[KV_HEADS]) > 0)
        return command_usage(command, "--heads %.0f are no multiple of --kv-heads %.0f", a->numbers[HEADS],
                             a->numbers[KV_HEADS]);
    return 0;
}

/* Of one new token a sequence: heads of queries share those of keys. */
static void set_cached(struct arguments *a)
{
    struct kernel_shape *shape = &a->answer.shape;
    double batch = a->numbers[BATCH] > 0 ? a->numbers[BATCH] : 1, heads = a->numbers[HEADS];
    double keys = a->numbers[KV_HEADS] > 0 ? a->numbers[KV_HEADS] : heads;
    shape->groups = batch * keys;
    shape->k = heads / keys;
}

static void set_sizes(struct arguments *a)
{
    struct kernel_shape *shape = &a->answer.shape;
    const double *n = a->numbers;
    shape->groups = n[GROUPS] > 0 ? n[GROUPS] : 1;
    shape->m = n[ROWS];
    shape->n = n[COLUMNS];
    shape->k = n[INNER];
    if (shape->kind == KERNEL_MEMORY) {
        shape->m = n[BYTES];
        shape->n = shape->k = 1;
    }
    if (sizes_of[shape->kind].needed & 1U << HEADS) {
        shape->groups = n[HEADS] * (n[BATCH] > 0 ? n[BATCH] : 1);
        shape->m = n[SEQUENCE];
        shape->n = n[HEAD_SIZE];
        shape->k = n[VALUE_SIZE] > 0 ? n[VALUE_SIZE] : n[HEAD_SIZE];
    }
    if (shape->kind == KERNEL_DECODE)
        set_cached(a);
}

static int read_words(const struct command *command, const char *kind_text, struct arguments *a)
{
    unsigned kind = 0, type = KERNEL_BF16, stage = KERNEL_FORWARD;
    int code = read_word(command, "kernel", kind_text, kernel_kind_names, &kind);
    if (!code && a->type)
        code = read_word(command, "type", a->type, kernel_type_names, &type);
    if (!code && a->stage)
        code = read_word(command, "stage", a->stage, kernel_stage_names, &stage);
    a->answer.shape.kind = (enum kernel_kind)kind;
    a->answer.shape.type = (enum kernel_type)type;
    a->answer.shape.stage = (enum kernel_stage)(kind == KERNEL_MEMORY && !a->stage ? KERNEL_ADD : stage);
    return code;
}

static int read_arguments(const struct command *command, int argc, char **argv, struct arguments *a)
{
    int code = 0;
    for (int option; !code && (option = option_next(command, argc, argv, "m:n:k:o:", long_options, &code)) != -1;)
        code = read_option(command, option, a);
    if (code)
        return code;
    if (optind + 1 != argc)
        return command_usage(command, optind == argc ? "which kernel?" : "one kernel at a time");
    if (!a->gpu)
        return command_usage(command, "--gpu is missing");
    if ((code = read_words(command, argv[optind], a)) || (code = check_numbers(command, a)))
        return code;
    set_sizes(a);
    return a->format != FORMATS ? 0 : format_of_file(command, a->output, format_names, FORMATS, &a->format);
}

/* ---- the GPU ---- */

static const char doc_page[] = "doc/kernel.md";
static const char rows_ending[] = ".kernels.csv", models_ending[] = ".kernel-models.csv";

/* The GPU of that name, or the only one whose name begins so. NULL with the fault filled. */
static const char *find_gpu(const char *text, struct arena *arena, struct fault *fault)
{
    size_t count, fitting = 0;
    const char **names = path_list_installed(INSTALLED_EFFICIENCY, rows_ending, &count, arena, fault), *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], text) == 0)
            return names[i];
        bool fits = strncasecmp(names[i], text, strlen(text)) == 0;
        fitting += fits;
        found = fits ? names[i] : found;
    }
    struct names_text known;
    const char *list = names_list(&known, text, names, count, NULL);
    if (fitting == 1)
        return found;
    if (fitting)
        fault_set(fault, "--gpu: '%.60s' may be several of them; expected %s", text, list);
    else
        fault_set(fault, "--gpu: no kernels of '%.60s' are installed; expected %s", text, list);
    return NULL;
}

/* What there is instead of what was asked for. */
static bool refuse(const struct kernel_table *table, const struct arguments *a, struct fault *fault)
{
    const struct kernel_shape *shape = &a->answer.shape;
    struct names_text list;
    const char **others = arena_array(a->arena, table->model_count + 1, sizeof *others);
    size_t count = 0;
    for (unsigned i = 0; i < table->model_count; i++) {
        const struct kernel_model *model = &table->models[i];
        if (model->kind == shape->kind)
            others[count++] = arena_print(a->arena, "%s %s %s", kernel_type_names[model->type],
                                          kernel_stage_names[model->stage], model->source);
    }
    return fault_set(fault, "%s has no %s of %s %s%s%s; expected %s", a->answer.gpu, kernel_kind_names[shape->kind],
                     kernel_type_names[shape->type], kernel_stage_names[shape->stage], a->source ? " from " : "",
                     a->source ? a->source : "", names_list(&list, a->source, others, count, doc_page));
}

static bool write_result(FILE *out, void *user, struct fault *fault)
{
    struct arguments *a = user;
    struct kernel_answer *answer = &a->answer;
    struct kernel_table table;
    if (!(answer->gpu = find_gpu(a->gpu, a->arena, fault)))
        return false;
    answer->rows = path_find_installed(INSTALLED_EFFICIENCY, answer->gpu, rows_ending, a->arena);
    const char *models = path_find_installed(INSTALLED_EFFICIENCY, answer->gpu, models_ending, a->arena);
    if (!models)
        return fault_set(fault, "%s has no %s%s beside it", answer->rows, answer->gpu, models_ending);
    if (!kernel_table_read(models, answer->rows, &table, fault))
        return false;
    bool found = kernel_time(&table, &answer->shape, a->source, &answer->time) || refuse(&table, a, fault);
    const char *slash = strrchr(answer->rows, '/');
    answer->rows = slash ? slash + 1 : answer->rows;
    if (found && a->format == FORMAT_JSON)
        kernel_json_write(out, answer);
    else if (found)
        kernel_text_write(out, answer, table_formats[a->format]);
    kernel_table_finish(&table);
    return found;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct arguments *arguments = arena_alloc(arena, sizeof *arguments);
    arguments->arena = arena;
    arguments->format = FORMATS;
    int code = read_arguments(command, argc, argv, arguments);
    if (code == 0)
        code = result_write(command->name, arguments->output, write_result, arguments);
    arena_destroy(arena);
    return code;
}

const struct command command_kernel = {
    .name = "kernel",
    .arguments = "KIND --gpu GPU [SIZE]... [OPTION]...",
    .summary = "says how long a kernel of a given shape takes on a GPU, from the nearest measured ones",
    .help =
        "KIND is one of matmul, grouped, experts, attention, decode, memory. GPU is a name such as B200-180GB or its "
        "beginning.\n\n"
        "  -m M -n N -k K           matmul, grouped: m x k times k x n; experts: m rows of each, inner width n, "
        "k columns\n"
        "  --groups G               grouped, experts: number of groups or experts\n"
        "  --batch B --heads H      attention: samples (1), and heads of queries\n"
        "  --kv-heads K             decode (a new token over a cache): heads of keys (H)\n"
        "  --sequence S             tokens of a sample\n"
        "  --head-size D            columns of a head; --value-size V: columns of its values (D)\n"
        "  --bytes B                memory: bytes that are read and written\n"
        "  --type TYPE              bf16, fp8, fp8_block, nvfp4 (bf16)\n"
        "  --stage STAGE            forward, input, weight (gradients), backward, forward-full, backward-full "
        "(without a causal mask);\n"
        "                           of memory norm, add, silu, rope, embedding, cast, permute, loss\n"
        "                           (forward; add)\n"
        "  --source NAME            only measurements of this source\n"
        "  --format FORMAT          table, csv, json, latex or markdown (what FILE ends in; table)\n"
        "  -o, --output FILE        write there instead of to standard output\n\n"
        "examples:\n  stagesim kernel matmul --gpu B200 -m 8192 -n 8192 -k 8192\n"
        "  stagesim kernel attention --gpu H100 --heads 32 --sequence 8192 --head-size 128\n",
    .run = run,
};
