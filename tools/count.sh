# SPDX-License-Identifier: Apache-2.0
# What ./check and tools/on-inside count: results of meson's tests and of other checks. After tools/setup.sh.
# shellcheck shell=bash

passed=0 failed=0 skipped=0

count_results() { # of one testlog.json
    local log=$1
    [ -f "$log" ] || { failed=$((failed + 1)) && return; }
    passed=$((passed + $(grep -c '"result": "\(OK\|EXPECTEDFAIL\)"' "$log")))
    skipped=$((skipped + $(grep -c '"result": "SKIP"' "$log")))
    failed=$((failed + $(grep -c '"result": "\(FAIL\|TIMEOUT\|ERROR\|INTERRUPT\|UNEXPECTEDPASS\)"' "$log")))
}

count_one() { # COMMAND...: a check that is no meson test
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "failed: $*"
    fi
}

took() { # WHAT: how long it has been since the script began
    say "$* after $SECONDS s"
}

# Prints the counts; fails where something failed or nothing passed.
print_counts() {
    local more=
    [ "$skipped" = 0 ] || more=", $skipped skipped"
    printf '%d passed, %d failed%s\n' "$passed" "$failed" "$more"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
