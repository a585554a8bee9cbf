/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that run other commands: bash -c, srun, sbatch, ssh, and scripts that lie beside this one. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <string.h>

/* A command of another program. */
struct program {
    struct shell *s;
    const struct cells *words;
    size_t count;
    uint16_t source;
    size_t at;
    const char *letters; /* options of a shell; NULL: none */
};

static const char *text_of(const struct program *p, size_t i)
{
    uint32_t open;
    return i < p->count ? shell_text(p->s, &p->words[i], &open) : "";
}

static const char *base_of(const char *text)
{
    const char *slash = strrchr(text, '/');
    return slash ? slash + 1 : text;
}

static bool is(const char *text, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(text, *list))
            return true;
    return false;
}

static const char *const shells[] = {"bash", "sh", "zsh", "dash", NULL};
static const char *const launchers[] = {"srun",    "mpirun",  "mpiexec", "nohup",       "env",       "time",
                                        "numactl", "taskset", "sudo",    "timeout",     "nice",      "setsid",
                                        "stdbuf",  "salloc",  "docker",  "singularity", "apptainer", "jsrun",
                                        "aprun",   "flux",    "kubectl", NULL};
/* Others that launch scripts run. */
static const char *const programs[] = {
    "torchrun", "python", "python3", "accelerate", "deepspeed", "colossalai", "launch", "ray",    "huggingface-cli",
    "wandb",    "pip",    "pip3",    "git",        "make",      "cmake",      "ninja",  "rm",     "cp",
    "mv",       "ln",     "touch",   "tee",        "cat",       "sed",        "awk",    "sort",   "uniq",
    "find",     "xargs",  "tar",     "gzip",       "unzip",     "wget",       "curl",   "rsync",  "scp",
    "echo",     "printf", "seq",     "nvidia-smi", "rocm-smi",  "ip",         "nc",     "ps",     "pkill",
    "id",       "env",    "free",    "lscpu",      "nproc",     "numactl",    "aws",    "gsutil", "ibstat",
    "clear",    "reset",  "tput",    "stty",       "mkdir",     "rmdir",      "chmod",  "chown",  "mktemp",
    "ls",       "stat",   "df",      "du",         "head",      "tail",       "cut",    "tr",     "wc",
    "scontrol", "squeue", "sinfo",   "sacct",      "scancel",   "hostname",   "whoami", "date",   "uname",
    "sleep",    "sync",   "md5sum",  "sha256sum",  "jq",        "which",      "nvcc",   "gcc",    "g++",
    NULL};
static const char *const distant[] = {"ssh", "pdsh", "clush", "parallel-ssh", NULL};

bool shell_is_program(struct shell *s, const struct cells *words, size_t count)
{
    uint32_t open;
    const char *name = shell_text(s, &words[0], &open);
    bool launch = false;
    for (size_t i = 1; i < count && !launch; i++)
        launch = s->request->is_option(shell_text(s, &words[i], &open));
    return launch || strchr(name, '/') || is(name, programs) || is(name, launchers) || is(name, distant) ||
           is(name, shells) || !strcmp(name, "sbatch") || shell_only_reads(s, words, count);
}

void shell_end_program(struct shell *s, const char *name)
{
    static const char *const answers[] = {"expr", "grep", "egrep", "fgrep", "zgrep",      "diff",
                                          "cmp",  "comm", "pgrep", "which", "mountpoint", NULL};
    s->state->status = name[0] == '-' ? 127 : -1; /* no program has such a name: a line before it was cut off */
    s->assumed = !is(base_of(name), answers);
}

static void run_string(const struct program *p, const struct cells *string, bool variables, size_t first)
{
    const struct child child = {p->words + first, first < p->count ? p->count - first : 0, p->letters, !variables};
    uint16_t made = shell_source_of(p->s, string);
    shell_read_sbatch(p->s, made);
    shell_run_child(p->s, made, &child);
}

/* Commands of standard input, which a command among them may read away, unless they are copied first. */
static void run_input(const struct program *p, bool copied)
{
    const struct cells *input = p->s->input;
    p->s->input = NULL;
    p->s->itself += !copied;
    run_string(p, input, true, p->count);
    p->s->itself -= !copied;
    p->s->input = input;
}

/* A script that is there, or was written; false: it is none. */
static bool run_file(const struct program *p, size_t i)
{
    struct shell *s = p->s;
    bool there;
    const char *why, *path = shell_resolve(s, &p->words[i]);
    const struct cells *text = path ? shell_file(s, path, &there, &why) : NULL;
    uint32_t open;
    if (!text || s->broken)
        return false;
    const char *start = shell_text(s, text, &open);
    size_t line = strcspn(start, "\n");
    const char *shell = strstr(start, "sh");
    if (!strncmp(start, "#!", 2) && (!shell || (size_t)(shell - start) > line))
        return false;
    uint16_t made = shell_source_of(s, text);
    s->sources[made].file = path;
    shell_read_sbatch(s, made);
    const char *letters = p->letters ? p->letters : shell_first_line_letters(s, start);
    shell_run_child(s, made, &(struct child){p->words + i, p->count - i, letters, false});
    return true;
}

static bool is_script_name(const char *text)
{
    static const char *const endings[] = {".sh", ".bash", ".slurm", ".sbatch", NULL};
    size_t length = strlen(text);
    for (const char *const *ending = endings; *ending; ending++)
        if (length > strlen(*ending) && !strcmp(text + length - strlen(*ending), *ending))
            return true;
    return false;
}

static void lost(const struct program *p, size_t i, const char *why)
{
    shell_lost_command(p->s, p->count, arena_print(p->s->arena, "'%s' runs here, %s", text_of(p, i), why), p->source,
                       p->at);
}

/* bash [-x] -c STRING, bash FILE, or commands of standard input. */
static bool run_shell(struct program *p, size_t i)
{
    bool string = false;
    p->letters = "";
    for (i++; i < p->count && text_of(p, i)[0] == '-'; i++) {
        uint32_t open = 0;
        struct cells own = shell_without_free(p->s, &p->words[i]);
        const char *text = shell_text(p->s, &own, &open);
        if (open || !text[1]) { /* '-' alone ends the options */
            lost(p, i, "with options of a shell that are not followed");
            return true;
        }
        if (text[1] == '-')
            continue;
        string |= strchr(text, 'c') != NULL;
        p->letters = arena_print(p->s->arena, "%s%s", p->letters, text + 1);
        if (strchr(text, 'o')) {
            lost(p, i, "with options of a shell that are not followed");
            return true;
        }
    }
    if (i >= p->count && p->s->input) {
        run_input(p, false);
        return true;
    }
    if (i >= p->count)
        return false;
    if (string) {
        run_string(p, &p->words[i], true, i + 1);
        return true;
    }
    if (!run_file(p, i))
        lost(p, i, "and it is not there to be read");
    return true;
}

/* sbatch [options] FILE, --wrap=COMMAND, or a script of standard input. */
static bool run_batch(const struct program *p)
{
    for (size_t i = 1; i < p->count; i++) {
        const char *text = text_of(p, i);
        struct cells command = {0};
        if (!strncmp(text, "--wrap=", 7)) {
            for (size_t k = 7; k < p->words[i].count; k++)
                shell_add(p->s, &command, p->words[i].items[k]);
            run_string(p, &command, true, p->count);
            return true;
        }
        if (!strcmp(text, "--wrap") && i + 1 < p->count) {
            run_string(p, &p->words[i + 1], true, p->count);
            return true;
        }
        if (text[0] == '-')
            continue;
        if (run_file(p, i))
            return true;
        if (is_script_name(text) || text_of(p, i - 1)[0] != '-') {
            lost(p, i, "and it is not there to be read");
            return true;
        }
    }
    if (!p->s->input)
        return false;
    run_input(p, true);
    return true;
}

static bool run_distant(const struct program *p)
{
    const char *last = text_of(p, p->count - 1);
    if (p->s->input)
        run_string(p, p->s->input, false, p->count);
    else if (strpbrk(last, " \n"))
        run_string(p, &p->words[p->count - 1], false, p->count);
    else
        return false;
    return true;
}

/* Words of standard input that xargs puts behind its command; NULL: not known. */
static const struct cells *input_words(const struct program *p, size_t *count)
{
    const struct cells *input = p->s->input;
    struct cells *words = NULL, plain = {0};
    for (size_t i = 0; input && i < input->count; i++) {
        struct cell cell = input->items[i];
        if (cell.c == CELL_OPEN || strchr("'\"\\", cell.c))
            return NULL;
        cell.quoted = false;
        shell_add(p->s, &plain, cell);
    }
    if (input)
        shell_split(p->s, &plain, &words, count);
    return *count ? words : NULL;
}

/* xargs COMMAND: the words behind it are of standard input. */
static void run_appended(const struct program *p)
{
    struct shell *s = p->s;
    struct cells *all = NULL, unknown = {0};
    size_t count = 0, more = 0;
    const struct cells *words = input_words(p, &more);
    if (p->count > 1 && text_of(p, 1)[0] == '-')
        words = NULL;
    shell_add_open(s, &unknown, shell_unknown(s, "(xargs)", "words of standard input", p->source, p->at), false);
    for (size_t i = 1; i < p->count; i++)
        shell_append(s, &p->words[i], &all, &count);
    for (size_t i = 0; i < more && words; i++)
        shell_append(s, &words[i], &all, &count);
    if (!words)
        shell_append(s, &unknown, &all, &count);
    s->input = NULL;
    shell_program(s, all, count, p->source, p->at);
}

static bool run_nested(struct program *p)
{
    const char *name = base_of(text_of(p, 0));
    if (!strcmp(name, "xargs")) {
        run_appended(p);
        return true;
    }
    if (!strcmp(name, "parallel") || !strcmp(name, "find")) { /* words of a command that they run are other ones */
        for (size_t i = 1; i < p->count; i++)
            if (p->s->request->is_option(text_of(p, i)) && text_of(p, i)[1] == '-') {
                lost(p, 0, "and runs commands with words that are not known");
                return true;
            }
    }
    if (!strcmp(name, "sbatch"))
        return run_batch(p);
    if (is(name, distant))
        return run_distant(p);
    bool launcher = is(name, launchers);
    for (size_t i = 0; i < p->count && (i == 0 || launcher); i++) {
        const char *text = text_of(p, i);
        if (is(base_of(text), shells))
            return run_shell(p, i);
        bool named = i == 0 ? strchr(text, '/') != NULL : is_script_name(text);
        if (named && run_file(p, i))
            return true;
        if (named && is_script_name(text))
            lost(p, i, "and it is not there to be read");
    }
    return false;
}

void shell_program(struct shell *s, const struct cells *words, size_t count, uint16_t source, size_t at)
{
    struct program program = {s, words, count, source, at, NULL};
    size_t printed = s->capture ? s->capture->count : 0;
    uint32_t open;
    if (!count)
        return;
    if (!run_nested(&program))
        shell_offer(s, words, count, source, at);
    shell_touch(s, words, count);
    if (!s->capture)
        return;
    s->capture->count = printed;
    shell_add_open(s, s->capture,
                   shell_unknown(s, arena_print(s->arena, "(%s)", shell_text(s, &words[0], &open)),
                                 "the output of a command", source, at),
                   false);
}
