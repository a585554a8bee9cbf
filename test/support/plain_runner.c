/* SPDX-License-Identifier: Apache-2.0 */
/* Runs tests that are written for Criterion where Criterion cannot: its sandbox starts the program anew and meets it
 * half way, which no emulator of another processor's programs (qemu-user) lets it. Linked before Criterion, these take
 * the place of its main and of what tests call; each test runs in a child process, and results come out as TAP. The new
 * assertions of criterion/new/assert.h reach Criterion itself where they fail, and crash: the test fails all the same.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PASSED = 0, FAILED = 99, SKIPPED = 77 };

extern struct criterion_test *__start_cr_tst[], *__stop_cr_tst[];
extern struct criterion_suite *__start_cr_sts[] __attribute__((weak)), *__stop_cr_sts[] __attribute__((weak));

static const struct criterion_test *current;
static void *parameter;
static bool failed;

/* ---- what tests call ---- */

static const struct criterion_suite *suite_of(const struct criterion_test *test)
{
    for (struct criterion_suite **suite = __start_cr_sts; suite && suite < __stop_cr_sts; suite++)
        if (!strcmp((*suite)->name, test->category))
            return *suite;
    return NULL;
}

static void call(void (*function)(void))
{
    if (function)
        function();
}

void criterion_internal_test_setup(void)
{
    const struct criterion_suite *suite = suite_of(current);
    if (suite)
        call(suite->data->init);
    call(current->data->init);
}

void criterion_internal_test_main(void (*function)(void))
{
    if (parameter)
        ((void (*)(void *))function)(parameter);
    else
        function();
}

void criterion_internal_test_teardown(void)
{
    const struct criterion_suite *suite = suite_of(current);
    call(current->data->fini);
    if (suite)
        call(suite->data->fini);
}

void cri_asserts_passed_incr(void)
{
}

void criterion_send_assert(struct criterion_assert_stats *stats)
{
    failed |= !stats->passed;
    if (!stats->passed)
        fprintf(stderr, "%s:%u: %s\n", stats->file, stats->line, stats->message ? stats->message : "");
}

void criterion_abort_test(void)
{
    fflush(NULL);
    _exit(FAILED);
}

void criterion_continue_test(void)
{
}

void criterion_skip_test(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fflush(NULL);
    _exit(SKIPPED);
}

/* ---- running them ---- */

static int run_once(const struct criterion_test *test, void *with)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        current = test;
        parameter = with;
        test->test();
        exit(failed ? FAILED : PASSED);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return FAILED;
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == test->data->signal ? PASSED : FAILED;
    int code = WEXITSTATUS(status);
    return code == SKIPPED || (code == FAILED && test->data->exit_code != FAILED) ? code
           : code == test->data->exit_code                                        ? PASSED
                                                                                  : FAILED;
}

static int run(const struct criterion_test *test)
{
    if (test->data->disabled)
        return SKIPPED;
    if (test->data->kind_ != CR_TEST_PARAMETERIZED)
        return run_once(test, NULL);
    struct criterion_test_params all = test->data->param_();
    int worst = PASSED;
    for (size_t i = 0; i < all.length; i++) {
        int code = run_once(test, (char *)all.params + i * all.size);
        worst = code == FAILED ? FAILED : worst;
    }
    return worst;
}

int main(void)
{
    size_t count = (size_t)(__stop_cr_tst - __start_cr_tst), wrong = 0, number = 0;
    printf("1..%zu\n", count);
    for (struct criterion_test **test = __start_cr_tst; test < __stop_cr_tst; test++) {
        int code = run(*test);
        wrong += code == FAILED;
        printf("%sok %zu - %s::%s%s\n", code == FAILED ? "not " : "", ++number, (*test)->category, (*test)->name,
               code == SKIPPED ? " # SKIP" : "");
    }
    return wrong > 0;
}
