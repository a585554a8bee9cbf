/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diagnostics.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What reports look like for a file of the given bytes. The caller frees the text. */
static char *report(const char *bytes, size_t size, unsigned line, unsigned column, const char *message)
{
    char name[] = "/tmp/stagesim-diagnostics-XXXXXX";
    int descriptor = mkstemp(name);
    cr_assert(descriptor >= 0);
    cr_assert_eq(write(descriptor, bytes, size), (ssize_t)size);
    close(descriptor);
    char *text = NULL;
    size_t length = 0;
    struct diag diag = {.out = open_memstream(&text, &length)};
    diag_error(&diag, (struct place){name, line, column}, "%s", message);
    fclose(diag.out);
    unlink(name);
    cr_assert_eq(diag.errors, 1);
    memmove(text, text + sizeof name - 1, length - sizeof name + 2); /* without the name */
    return text;
}

static void expect(const char *bytes, unsigned line, unsigned column, const char *expected)
{
    char *text = report(bytes, strlen(bytes), line, column, "wrong");
    cr_assert_str_eq(text, expected);
    free(text);
}

Test(diagnostics, shows_line_and_caret)
{
    expect("a: 1\nb: two\n", 2, 4, ":2:4: error: wrong\n       2 | b: two\n         |    ^\n");
    expect("a: 1", 1, 1, ":1:1: error: wrong\n       1 | a: 1\n         | ^\n");
    expect("a: 1\n", 1, 0, ":1: error: wrong\n       1 | a: 1\n");
    expect("a: 1\n", 0, 0, ": error: wrong\n");
    expect("a: 1\n", 7, 3, ":7:3: error: wrong\n");
    expect("", 1, 1, ":1:1: error: wrong\n");
}

Test(diagnostics, counts_columns_in_characters)
{
    expect("\xC3\xA4\xC3\xB6: 1\n", 1, 5, ":1:5: error: wrong\n       1 | \xC3\xA4\xC3\xB6: 1\n         |     ^\n");
    expect("\ta: 1\n", 1, 2, ":1:2: error: wrong\n       1 |  a: 1\n         |  ^\n");
    expect("\xEF\xBB\xBF"
           "a: 1\n",
           1, 4, ":1:4: error: wrong\n       1 | a: 1\n         |    ^\n");
}

Test(diagnostics, counts_every_kind_of_line_break)
{
    expect("a\r\nb\rc\xC2\x85"
           "d\xE2\x80\xA8"
           "e\n",
           2, 1, ":2:1: error: wrong\n       2 | b\n         | ^\n");
    expect("a\r\nb\rc\xC2\x85"
           "d\xE2\x80\xA8"
           "e\n",
           3, 1, ":3:1: error: wrong\n       3 | c\n         | ^\n");
    expect("a\r\nb\rc\xC2\x85"
           "d\xE2\x80\xA8"
           "e\n",
           5, 1, ":5:1: error: wrong\n       5 | e\n         | ^\n");
}

Test(diagnostics, long_lines_are_shown_around_the_caret)
{
    static char line[200001];
    memset(line, 'x', sizeof line - 1);
    char *text = report(line, sizeof line - 1, 1, 100000, "wrong");
    cr_assert(strlen(text) < 400);
    cr_assert(!strstr(text, "xxx^"));
    free(text);
    line[300] = '!';
    text = report(line, sizeof line - 1, 1, 301, "wrong");
    const char *mark = strchr(text, '!'), *caret = strchr(text, '^');
    const char *first = strchr(text, '\n') + 1, *second = strchr(first, '\n') + 1;
    cr_assert(mark && caret);
    cr_assert_eq(mark - first, caret - second, "the caret is below the character");
    free(text);
}

Test(diagnostics, controls_do_not_reach_the_terminal)
{
    char *text = report("a\x1b[31m\n", 7, 1, 1, "b\x1b[31m\xFF\xC2\x9B");
    cr_assert(!strchr(text, '\x1b'));
    cr_assert(strstr(text, "error: b\\x1b[31m\\xff\\xc2\\x9b\n"), "%s", text);
    free(text);
}

Test(diagnostics, pipes_are_not_read_again, .timeout = 5)
{
    char name[] = "/tmp/stagesim-fifo-XXXXXX";
    cr_assert(mkdtemp(name));
    char fifo[64];
    snprintf(fifo, sizeof fifo, "%s/fifo", name);
    cr_assert_eq(mkfifo(fifo, 0600), 0);
    struct diag diag = {.out = tmpfile()};
    diag_error(&diag, (struct place){fifo, 1, 1}, "wrong");
    cr_assert_eq(diag.errors, 1);
    fclose(diag.out);
    unlink(fifo);
    rmdir(name);
}

Test(diagnostics, notes_are_no_errors_and_many_errors_are_only_counted)
{
    char *text = NULL;
    size_t length = 0;
    struct diag diag = {.out = open_memstream(&text, &length)};
    diag_note(&diag, (struct place){"--set a", 0, 0}, "here");
    cr_assert_eq(diag.errors, 0);
    for (int i = 0; i < 1000; i++)
        diag_error(&diag, (struct place){"file", 0, 0}, "mistake %d", i);
    diag_rest(&diag);
    diag_rest(&diag);
    fclose(diag.out);
    cr_assert_eq(diag.errors, 1000);
    cr_assert(strstr(text, "--set a: note: here\n"));
    cr_assert(strstr(text, "mistake 7\n"));
    cr_assert(!strstr(text, "mistake 8\n"));
    const char *rest = strstr(text, "error: 992 more mistakes");
    cr_assert(rest && !strstr(rest + 12, "more mistakes"));
    free(text);
    struct diag silent = {0};
    diag_error(&silent, (struct place){"file", 0, 0}, "only counted");
    cr_assert_eq(silent.errors, 1);
}

Test(diagnostics, nearest_word)
{
    static const char *const words[] = {"gpipe", "1f1b", "chimera", "pipeline", "data", "x", "pairs"};
    size_t count = sizeof words / sizeof *words;
    cr_assert_str_eq(diag_nearest("gpipee", words, count), "gpipe");
    cr_assert_str_eq(diag_nearest("pgipe", words, count), "gpipe"); /* swapped letters are one mistake */
    cr_assert_str_eq(diag_nearest("chimaera", words, count), "chimera");
    cr_assert_str_eq(diag_nearest("pipelin", words, count), "pipeline");
    cr_assert_str_eq(diag_nearest("pair", words, count), "pairs");
    cr_assert_null(diag_nearest("order", words, count));
    cr_assert_null(diag_nearest("y", words, count));
    cr_assert_null(diag_nearest("", words, count));
    cr_assert_null(diag_nearest("a-word-that-is-much-longer-than-every-word-that-could-be-meant", words, count));
    cr_assert_null(diag_nearest("gpipe", words, 0));
}

Test(diagnostics, the_first_fault_stays)
{
    struct fault fault = {0};
    cr_assert(!fault_set(&fault, "first %d", 1));
    cr_assert(!fault_set(&fault, "second"));
    cr_assert_str_eq(fault.text, "first 1");
}
