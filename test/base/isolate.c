/* SPDX-License-Identifier: Apache-2.0 */
/* What comes back from a process of its own, however it ends. */
#include "base/isolate.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int answer(void *user, struct isolated *self)
{
    *self->stage = 7;
    fprintf(self->results, "%d", 2 * *(const int *)user);
    *(int *)user = 0; /* the parent does not see it */
    return 2;
}

static int give_up(void *user, struct isolated *self)
{
    *self->stage = 3;
    fprintf(stderr, "%s", (const char *)user);
    exit(200);
}

static int leave(void *user, struct isolated *self)
{
    (void)self;
    exit(*(const int *)user);
}

static int fault_segment(void *user, struct isolated *self)
{
    (void)user, (void)self;
    fputs("Segmentation fault.\n", stderr); /* as SimGrid's handler says it */
    exit(139);
}

static int crash(void *user, struct isolated *self)
{
    (void)user, (void)self;
    raise(SIGKILL);
    return 0;
}

static int wait_for_byte(void *user, struct isolated *self)
{
    char byte;
    bool good = read(((int *)user)[0], &byte, 1) == 1;
    fputc(good ? byte : '?', self->results);
    return good ? 0 : 3;
}

/* Half of a value, all of it, all of it with another code. */
static int write_value(void *user, struct isolated *self)
{
    static const double value = 42;
    int how = *(const int *)user;
    fwrite(&value, how == 0 ? sizeof value / 2 : sizeof value, 1, self->results);
    return how == 2 ? 2 : 0;
}

static int run(int (*body)(void *, struct isolated *), void *user, char *text, int *stage, struct fault *fault)
{
    FILE *results;
    int code = isolate(body, user, &results, stage, fault);
    size_t length = fread(text, 1, 99, results);
    text[length] = '\0';
    fclose(results);
    return code;
}

Test(isolate, gives_back_code_results_and_stage)
{
    char text[100];
    int number = 21, stage = 0;
    struct fault fault = {""};
    cr_assert_eq(run(answer, &number, text, &stage, &fault), 2);
    cr_assert_str_eq(text, "42");
    cr_assert(stage == 7 && number == 21 && !*fault.text);
}

Test(isolate, a_value_or_none)
{
    struct fault fault = {""};
    double value = 1;
    cr_assert(isolate_value(write_value, &(int){1}, &value, sizeof value, &fault));
    cr_assert_float_eq(value, 42, 0);
    value = 1;
    cr_assert_not(isolate_value(write_value, &(int){0}, &value, sizeof value, &fault));
    cr_assert_not(isolate_value(write_value, &(int){2}, &value, sizeof value, &fault));
    cr_assert(!*fault.text);
    cr_assert_not(isolate_value(crash, NULL, &value, sizeof value, &fault));
    cr_assert(*fault.text);
    cr_assert_float_eq(value, 1, 0);
}

Test(isolate, last_words_of_a_process_that_gives_up)
{
    char text[100];
    int stage = 0;
    struct fault fault = {""};
    cr_assert_eq(run(give_up, "no host 'node-7'\n", text, &stage, &fault), -1);
    cr_assert(stage == 3 && strstr(fault.text, "no host 'node-7'"), "%s", fault.text);
    fault = (struct fault){""};
    cr_assert_eq(run(give_up, "", text, &stage, &fault), -1);
    cr_assert(strstr(fault.text, "code 200"), "%s", fault.text);
}

/* However long the names of the callers are: optimisation and sanitizers change which of them there are. */
Test(isolate, words_in_front_of_a_backtrace_of_any_length)
{
    for (int callers = 0; callers < 2000; callers = 3 * callers + 1) {
        char text[100], *words = malloc(100 * ((size_t)callers + 2));
        int stage = 0;
        struct fault fault = {""};
        int length = sprintf(words, "[0.000000] a.cpp:9: [kernel/CRITICAL] no radicals left\nBacktrace (displayed):\n");
        for (int i = 0; i < callers; i++)
            length += sprintf(words + length, "  ->  #%d simgrid::kernel::routing::a_caller_with_a_long_name\n", i);
        cr_assert_eq(run(give_up, words, text, &stage, &fault), -1);
        cr_assert_str_eq(fault.text, "no radicals left", "%d callers: %s", callers, fault.text);
        free(words);
    }
}

Test(isolate, names_the_signal_that_ended_it)
{
    char text[100];
    int stage = 0;
    struct fault fault = {""};
    cr_assert_eq(run(crash, NULL, text, &stage, &fault), -1);
    cr_assert(strstr(fault.text, "signal 9"), "%s", fault.text);
    cr_assert_str_empty(text);
}

/* A body that does not return has done nothing, whatever code it leaves with. */
Test(isolate, exit_is_no_return)
{
    char text[100];
    int stage = 0;
    for (int code = 0; code < 4; code++) {
        struct fault fault = {""};
        cr_assert_eq(run(leave, &code, text, &stage, &fault), -1);
        cr_assert(strstr(fault.text, "called exit"), "%s", fault.text);
    }
}

Test(isolate, a_segmentation_fault_is_called_one)
{
    char text[100];
    int stage = 0;
    struct fault fault = {""};
    cr_assert_eq(run(fault_segment, NULL, text, &stage, &fault), -1);
    cr_assert(strstr(fault.text, "crashed (segmentation fault)"), "%s", fault.text);
}

Test(isolate, several_at_a_time)
{
    enum { PROCESSES = 3 };
    int pipes[PROCESSES][2], stage;
    struct isolation *processes[PROCESSES];
    struct fault fault = {""};
    for (int i = 0; i < PROCESSES; i++) {
        cr_assert_eq(pipe(pipes[i]), 0);
        processes[i] = isolate_start(wait_for_byte, pipes[i], &fault);
        cr_assert_not_null(processes[i], "%s", fault.text);
    }
    for (int i = PROCESSES - 1; i >= 0; i--) {
        FILE *results;
        cr_assert(isolate_runs(processes[i]));
        cr_assert_eq(write(pipes[i][1], &(char){(char)('a' + i)}, 1), 1);
        cr_assert_eq(isolate_wait(processes[i], &results, &stage, &fault), 0);
        cr_assert_eq(fgetc(results), 'a' + i);
        fclose(results);
    }
}

enum { BONDED = 7 };

/* How a new process ends whose parent ended before it could ask, or did not. */
static int end_of(bool orphan)
{
    int status = -1;
    pid_t parent = orphan ? getpid() + 1 : getpid(), pid = fork();
    if (pid == 0) {
        isolate_bond(parent);
        _exit(BONDED);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(isolate, bond_of_a_parent_that_ended_before)
{
    cr_assert_eq(end_of(true), 1);
    cr_assert_eq(end_of(false), BONDED);
}

/* The pipe of a process that sleeps closes when its parent is killed. */
Test(isolate, bond_of_a_parent_that_is_killed)
{
    int ends[2];
    char byte;
    cr_assert_eq(pipe(ends), 0);
    pid_t middle = fork();
    if (middle == 0) {
        pid_t parent = getpid();
        if (fork() == 0) {
            isolate_bond(parent);
            if (write(ends[1], "x", 1) != 1)
                _exit(1);
        }
        for (;;)
            pause();
    }
    close(ends[1]);
    cr_assert_eq(read(ends[0], &byte, 1), 1);
    kill(middle, SIGKILL);
    cr_assert_eq(read(ends[0], &byte, 1), 0);
    cr_assert_eq(waitpid(middle, NULL, 0), middle);
}
