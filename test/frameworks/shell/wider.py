# SPDX-License-Identifier: Apache-2.0
"""Scripts for generated.py beyond its own: what a second reader of bash's manual tries, and typed scripts cut and put
together again."""
import pathlib
import re

CASES = pathlib.Path(__file__).with_name("typed.txt")
# What waits, asks, ends other processes, or takes the whole machine is not spliced.
LEFT_OUT = re.compile(r"sleep|select|kill|while true|until launch|\bfg\b|suspend|/dev/tcp|ulimit")


def widen(base):
    """A Maker that also writes these."""

    class Wider(base):
        def expansion(self):
            if self.random.random() < 0.5:
                return super().expansion()
            a, b, c, l = self.name(), self.name(), self.name(), self.array()
            f = f"f{self.random.randrange(3)}"
            return self.pick(
                f"${{{a}:-${{{l}[@]}}}}", f"${{{l}[@]:0:2}}", f"${{{l}[@]#1}}", f"${{{l}[*]:1:1}}", f"${{#{l}}}",
                f"${{#{l}[1]}}", f"${{{l}[-2]}}", f"${{{l}[$((2-1))]}}", f"${{{l}[{a}]}}", f"${{{l}[{a}+1]}}",
                f"${{{a}:${b}}}", f"${{{a}:1:${b}}}", f"${{{a}:(-1)}}", f"${{{a}: -2:1}}", f"${{{a}:0:-1}}",
                f"${{{a}#\"${b}\"}}", f"${{{a}%%${b}}}", f"${{{a}//${b}/${c}}}", f"${{{a}/${b}}}", f"${{{a}//?/x}}",
                f"${{{a}//[[:digit:]]/d}}", f"${{{a}/\\*/y}}", f"${{{a}//'*'/y}}", f"${{{a}^}}", f"${{{a},,}}",
                f"${{{a}~~}}", f"${{{a}@U}}", f"${{{a}@A}}", f"${{{a}@a}}", "${*:1}", "${*:1:1}", "${@:1:1}",
                "${@#x}", "${@/#/--}", f"${{!{l}}}", "${!#}", f"$(({a}))", f"$(({a} ? {b} : {c}))",
                f"$(({l}[1]+1))", f"$((${{#{a}}}*2))", f"$((10#${a}))", f"$((({a}>1) ? 2 : 3))", f"$(({a}>>1))",
                f"$(printf '%s\\n' ${a})", f"$(printf '%d' ${a})", f"$(printf %02d ${a})",
                f"$(printf '%s,' \"${{{l}[@]}}\")", f"$(echo ${a} ${b})", f"$(echo \"${a}\" '${b}')",
                "$(echo -e 'a\\tb')", "$(echo -n)", f"$(cat <<< ${a})", "$(cat one.txt)", "$(<one.txt)",
                "`cat one.txt`", "$(cd . && echo x)", f"$({f} x; echo $?)", "$(set -- 7 8; echo $2)", f"$({a}=3 {f})",
                "$'a b'", "$\"tr\"", "{1,2}", "{1..3}", f"a{{b,${a}}}c", "$LINENO", "${FUNCNAME[0]}",
                "$BASH_SUBSHELL", "$PIPESTATUS", "${PIPESTATUS[0]}", "$OPTIND", "$REPLY", "${0##*/}", "$IFS", "$-",
                f"${{{a}:-}}", f"${{{a}:=${b}}}", f"${{{a}:+${{{b}:+${c}}}}}", f"${{{a}-${{{l}[*]}}}}", "~", "\\$A",
                f"`echo \\`echo ${a}\\``", f"$(echo \"$(echo \"${a}\")\")", f"${{{l}[@]@Q}}", f"${{{l}[@]/%/,}}",
                f"${{{a}%%[!0-9]*}}", f"${{{a}##*\\*}}", f"${{{a}:$(({b}-{b}))}}", f"$(({a}<{b}?{a}:{b}))",
                f"$(if [ ${a} ]; then echo y; else echo n; fi)", f"$(! {f}; echo $?)", f"$(eval echo \\${a})",
                f"$(read x <<< \"${a}\"; echo $x)", f"$(local x=1; echo $?)", f"$(shift; echo $1)", f"${{{a}/[a-z]}}",
                f"$(IFS=,; echo \"${{{l}[*]}}\")", f"$(trap 'echo t' EXIT; echo u)", f"$(. ./env.sh; echo ${a})",
                f"$(return 3; echo no)", f"$(exit 2)$?", f"$(unset {a}; echo ${{{a}-gone}})", f"${{{a}?}}",
                f"$(declare {a}=w; echo ${a})", f"$(set -e; false; echo no)", "$(<env.txt)", f"${{#{l}[*]}}",
                f"$(echo {{a,b}}$1)", f"$(cat <<X\n${a} '${b}'\nX\n)", f"$(cat <<'X'\n${a}\nX\n)", f"${{{l}[@]:1:1}}")

        def test(self):
            if self.random.random() < 0.5:
                return super().test()
            a, b, l = self.name(), self.name(), self.array()
            return self.pick(
                f"[[ ${a} > ${b} ]]", f"[[ ${a} = ${b} ]]", f"[[ -z ${{{a}-}} ]]", "[[ -o errexit ]]",
                f"[[ {a} -eq 1 ]]", f"[[ -v {l}[1] ]]", f"[ -v {a} ]", f"[[ ${a} == \"${b}\"* ]]",
                f"[ \"${a}\" \\< b ]",
                f"[[ ( ${a} == 4 || -z ${b} ) && -n ${l} ]]", f"[ ! \"${a}\" = 4 ]", f"[ ! ${a} ]", f"test ! -z ${a}",
                f"[ {self.word()} ]", f"[ {self.word()} = 4 ]", f"[ -n {self.word()} ]", f"[[ {self.word()} ]]",
                f"[[ ${a} == [[:digit:]] ]]", f"[[ ${a} == [1-4] ]]", f"[[ ${a} == @(1|2|fp8) ]]", "[[ a == A ]]",
                f"(( ${a} > 2 ))", f"(( {l}[0] ))", f"(( ${{#{l}[@]}} > 1 ))", f"((!{a}))", f"let {a}-1",
                f"{a}=$(bad)", f"{a}=$(echo 3)", f"export {a}=$(bad)", f"read {a} <<< ''", f"read {a} < /dev/null",
                f"eval '[ ${a} ]'", f"( exit {self.pick('0', '1')} )", f"case ${a} in 4) true;; *) false;; esac",
                f"[ -d . ]", "[ -f missing.sh ]", "[ -s env.sh ]", "[[ -e . && ! -e missing.sh ]]", "[ -t 0 ]",
                f"[ \"{self.literal()}\" == \"${a}\" ]", f"[ ${a} -ge ${b} ]", f"[ x${a} = x ]", f"[[ x$1 = x ]]",
                "command -v f0 > /dev/null", "type f1 &> /dev/null", "shopt -q extglob", "[ $? -eq 0 ]", "((0))",
                f"[[ -n $1 ]]", "[ \"$#\" -eq 0 ]", f"[ 2 -gt 1 -a ! \"${a}\" = 4 ]", f"[[ ! -v {a} ]]", f"unset {a}",
                f"! f{self.random.randrange(3)}", "true | false", "false | true", "shift 9", "wait", f"cd missing",
                f"[ \"${a}\" -eq \"${b}\" ] 2>/dev/null", f"[[ ${{{l}[1]}} ]]", f"[[ ${a}${b} == *4* ]]",
                f"printf -v {a} '%d' 4", "builtin false", f"return 0", ": > /missing/x", ". missing.sh")

        def declared(self, a, b, l):
            """Kinds of variables, and where they live."""
            lit, word = self.literal(), self.word()
            return self.pick(
                f"declare -g {a}={lit}", f"local -n r={a}; r={lit}", f"declare -ia {l}=(1+1 2)",
                f"typeset {a}={word}",
                f"declare -x {a}={word}", f"unset '{l}[1]'", f"{l}=(\"${{{l}[@]:1}}\")", f"{l}=(${a})",
                f"declare -r Z",
                f"{l}=($(echo a b))", f"{l}=({lit} \"${{{l}[@]}}\")", f"{l}[${{#{l}[@]}}]={word}", f"{l}+=(${b})",
                f"declare -A H; H[${a}]=1; H[k]=2; {a}=${{#H[@]}}; unset H", f"declare {a}", f"local {a}",
                f"local {l}",
                f"declare -A H=([a]=1 [b]=2); for k in a b; do {a}+=${{H[$k]}}; done; unset H",
                f"declare {l}=({word})",
                f"local -a {l}=({word} {word})", f"{a}={word} {l}=({word})", f"export {a}; {a}={lit}", f"{l}=()",
                f"declare -i {a}; {a}={self.pick('3+4', 'B', 'x', '010')}", f"declare -l {a}=ABC", f"{l}[-1]={word}",
                f"{a}=({word} {word})", f"{l}={word}", f"unset {a} {b}", f"unset -v {a}", f"unset f0",
                f"{a}[1]={word}",
                f"set -a; {a}={lit}; set +a", f"export {a}={word}; {b}=$(bash -c 'echo ${a}')", f"declare +x {a}",
                f"readonly {a}", f"declare +i {a}", f"declare -p {a} > /dev/null", f"export -p > /dev/null",
                f"local {a}=${b} {b}=${a}", f"declare {a}=x {l}=(y ${a}) {b}=${a}", f"eval declare {a}={lit}",
                f"{a}+={word} {b}+=$" + a, f"x={a}; eval $x={lit}", f"x={a}; declare $x={lit}", f"x={a}; export $x",
                f"x={a}; printf -v $x %s {lit}", f"x={a}; read $x <<< {lit}", f"x={a}; {b}=${{!x}}",
                f"x={a}; unset $x",
                f"x={l}[1]; {b}=${{!x}}", f"x='{l}[@]'; {b}=\"${{!x}}\"", f"x={a}; (( $x = 5 ))", f"x={a}; (( x++ ))")

        def inputs(self, a, b, l):
            """What is read, and from where."""
            lit = self.literal()
            return self.pick(
                f"read -n 2 {a} <<< 1234", f"read -d, {a} <<< '1,2'", f"read {a} {b} <<EOF\n${b} z\nEOF",
                f"read <<< x",
                f"mapfile -t -n 1 {l} < env.txt", f"{{ read {a}; read {b}; }} < env.txt", f"exec < env.txt; read {a}",
                f"exec 3< env.txt; read {a} <&3; read {b} <&3", f"read {a} < missing.txt",
                f"{{ {a}=2; }} < missing.txt",
                f"{a}=2 < missing.txt", f": > /missing/x && {a}=1", f"{a}=3 > /missing/x",
                f"if true; then {a}=3; fi < no",
                f"cat env.txt | while read {a}; do {b}+=1; done",
                f"while read {a}; do {b}=${a}; break; done < env.txt",
                f"while IFS== read -r k v; do {a}=$v; done < .env", f"for {a} in $(< env.txt); do {b}+=${a}; done",
                f"for {a} in $(cat env.txt); do :; done", f"read -r {a} < <(echo 4 5)", f"cat < env.txt > made.txt",
                f"IFS=: read {a} {b} <<< 'q:r:s'", f"IFS= read -r {a} <<< '  x  '", f"read {a} <<< 'a\\ b'",
                f"read {a}",
                f"{a}=$(tail -1 env.txt)", f"echo {a}={lit} >> env.sh; . ./env.sh", f"rm -f env.sh; . ./env.sh",
                f"cp .env env.sh; . ./env.sh", f"echo '{a}=3' | tee env.sh > /dev/null; . ./env.sh", "mv .env env.sh",
                f"printf '{a}=%s\\n' 5 > env.sh; . ./env.sh", f"source <(echo {a}=3)", f"eval \"$(cat env.sh)\"",
                f". ./env.sh || {a}=1", f". missing.sh || {a}=1", f"source ./env.sh {lit} y; {a}=$1",
                "sed -i s/A/B/ env.sh",
                f"cat > made.sh <<'X'\n{a}=$1\nreturn 3\nX\n. ./made.sh k; {b}=$?",
                f"echo 'set -- 8 9' > made.sh; . ./made.sh",
                f"echo 'echo $#' > made.sh; {a}=$(bash made.sh 1 2)",
                f"echo 'exit 4' > made.sh; bash made.sh; {a}=$?",
                f"echo 'local {a}=5; {b}=${a}' > made.sh; f3() {{ . ./made.sh; }}; f3", f"(cd ..; . ./env.sh)",
                f"cat <<X >made.sh; {a}=1\n{b}=$(echo 4)\nX\n. ./made.sh", f"cat <<X <<Y\n1\nX\n2\nY\n{a}=1",
                f"cd conf; . ./env.sh; cd ..", f"mkdir -p conf; cd conf; . ../env.sh; cd ..",
                f"pushd . ; . ./env.sh; popd",
                f"echo {lit} > ${a}.txt; {b}=$(cat ${a}.txt)", f"{a}=$(cat env.txt one.txt)", f"exec > log.txt",
                f"mapfile {l} < one.txt", f"readarray -t {l} <<< \"1\n2\"", f"echo -n > env.sh; . ./env.sh",
                f"x=$(cat missing.txt) || {a}=5", f"cat missing.txt && {a}=5",
                f"[ -f made.sh ] || echo {a}=6 > made.sh")

        def control(self, a, b, l):
            """What ends, fails, and is run otherwise."""
            lit, test, f = self.literal(), self.test(), f"f{self.random.randrange(3)}"
            return self.pick(
                f"trap '{a}=7' ERR; false", f"trap '{a}=7' DEBUG; true; trap - DEBUG", f"trap '{a}=7' RETURN; {f}",
                f"f3() {{ local {a}=3; f4; }}; f4() {{ {a}=5; {b}=${a}; }}; f3", f"f3() {{ {f}; }}; unset -f {f}; f3",
                f"export -f {f}; bash -c {f}", f"set -e; {f} || true", f"set -e; {a}=$(false)", f"set -e; (false)",
                f"set -e; local x=$(false); {a}=1", f"set -e; if {f}; then {a}=1; fi", f"set -e; false | true; {a}=3",
                f"set -o pipefail; false | true || {a}=2", f"set -eo pipefail; true | false; {a}=3",
                f"set -e; ! true; {a}=2",
                f"set -e; {{ false; }} && true; {a}=4", f"set -e; {f} && {a}=4", f"set -e; {a}=$(bad); {b}=2",
                f"set -e; export {a}=$(false); {b}=2", f"set -e; [ ${a} = 77 ] && {b}=2; {a}=6",
                f"set -e; (( 0 )); {a}=1",
                f"{a}=5 :", f"{a}=5 export {b}", f"{a}=3 declare {b}=${a}", f"{a}=3 read {b} <<< ${a}",
                f"{a}=3 set -- ${a}",
                f"{a}=3 . ./env.sh", f"{a}=3 {f}; {b}=${a}", f"IFS=: set -- a:b", f"IFS=-; set -- ${a}; unset IFS",
                f"f3() {{ local IFS=,; echo \"$*\"; }}; {a}=$(f3 1 2)", f"(( {a} = {b}, {b} = 3 ))", f"((({a})))||:",
                f"let \"{a} = {b} + 1\"", f": ${{{a}:=3}} ${{{b}:=4}}", f": ${{{l}[1]:=3}}", f"! true; {a}=$?",
                f"[ -z \"${a}\" ] && {a}=2 || {a}=3", f"[[ ${a} =~ [0-9] ]] && {b}=${{BASH_REMATCH[0]}}",
                f"{f}; {a}=$?",
                f"(exit 4); {a}=$?", f"{{ false; }} || {a}=1", f"{a}=2 && false || {b}=3",
                f"f3() {{ return 3; }}; f3; {a}=$?",
                f"while :; do {a}+=1; [[ ${{#{a}}} -gt 4 ]] && break; done", f"for {a}; do {b}+=${a}; done",
                f"for ((;;)); do {a}=3; break; done", f"for ((i=0,j=5;i<j;i++,j--)); do {a}=$i$j; done",
                f"for i in 1 2; do (break; {a}=1); {b}+=$i; done",
                f"for i in 1 2; do f3() {{ break; }}; f3; {b}+=$i; done",
                f"for i in 1 2; do eval break; {b}+=$i; done",
                f"for i in a b; do case $i in a) continue;; esac; {b}=$i; done",
                f"for i in 1 2 3; do {test} || break; {a}+=$i; done", f"while {test}; do {a}=5; break; done",
                f"eval \"f3() {{ {a}=2; }}\"; f3", f"eval '{a}=1; eval \"{b}=\\${a}\"'", f"eval \"{a}=(1 2)\"",
                "break", "continue",
                f"eval 'for i in 1 2; do {a}+=$i; done'", f"eval '{a}=1' '{b}=2'", f"eval; {a}=$?",
                f"eval ''; {a}=$?",
                f"bash -c 'exit 3' || {a}=$?", f"sleep 0 & wait $!; {a}=$?", f"{{ {a}=4; }} &\nwait", f"{f} &\nwait",
                f"({a}=4; {f})", f"time {f}", f"command {f}", f"builtin eval {a}=3", f"command . ./env.sh", f"set -",
                f"set - x y", f"set -e -u x", f"set -eu -- {lit}", f"set +e; false; {a}=1", f"set -n", f"set -k",
                f"set -m",
                f"shopt -s nullglob; {l}=(*.zzz); shopt -u nullglob", f"shopt -s lastpipe; echo 3 | read {a}",
                "shopt -s extglob",
                f"enable -n echo", f"unalias -a", f"{a}=$(exit 1) || {b}=2", f"true | {a}=1",
                f"f3() {{ shift; {a}=$1; }}; f3 1 {lit}",
                f"f3() {{ set -- q w; }}; f3 1; {a}=$1", f"f3() {{ {a}=$#; }}; f3 \"${{{l}[@]}}\"",
                f"f3() if true; then {a}=2; fi; f3",
                f"f3() ( {a}=9; exit 2 ); f3 || {b}=$?", f"f3() {{ f3() {{ {a}=8; }}; {a}=7; }}; f3; f3",
                f"function f3 for x in 1; do {a}=4; done; f3",
                f"f3() {{ {a}=$(cat); }} <<< {lit}; f3",
                f"f3() {{ local x=$1; {a}=$x$x; }}; for i in 1 2; do f3 $i; done",
                f"echo() {{ {a}=1; }}; echo; unset -f echo", f"test() {{ false; }}; test || {a}=1; unset -f test",
                f"exit_code=3; {a}=$exit_code",
                f"if {test}; then :; else {a}=$?; fi", f"{test}; {a}=$?",
                f"case $({f}) in r) {a}=1;; *) {b}=2;; esac",
                f"case ${a} in [[:digit:]]*) {b}=d;; [!0-9]*) {b}=n;; esac",
                f"case \"${{{l}[*]}}\" in *\ *) {a}=m;; esac",
                f"case ${a} in '') {b}=e;& 4) {b}+=f;;& *) {b}+=g;; esac", f"case ${a}${b} in *4) ;; *) {a}=0; esac",
                f"case x in x) {a}=$?; esac",
                f"case ${a} in \\*) {b}=1;; x*y|\"b c\") {b}=2;; esac", f"{a}=1; {test} && {a}=2 && {b}=3 || {a}=4",
                f"if (exit 3); then :; fi; {a}=$?",
                f"{{ {a}=1; {test}; }} || {{ {a}=2; {test}; }} && {b}=3", f"if {test}; then {a}=1; fi; {b}=$?",
                f"while false; do :; done; {a}=$?",
                f"printf -v {a} '%s %s\\n' 1 2 3", f"printf -v {a} '%%%s' 5", f"printf -v {a} '%b' 'a\\tb'",
                f"printf -v {a} '%q' 'b c'",
                f"printf -v {a} '%3d|%-3s' 1 2", f"printf -v {a} -- -%s 3", f"printf -v {a} '\\x41'",
                f"printf -v {a}", f"printf -v {l} %s 9")

        def plain(self):
            chance = self.random.random()
            a, b, l = self.name(), self.name(), self.array()
            if chance < 0.4:
                return super().plain()
            return (self.declared if chance < 0.6 else self.inputs if chance < 0.72 else self.control)(a, b, l)

        def launch(self):
            if self.random.random() < 0.6:
                return super().launch()
            a, l = self.name(), self.array()
            words = " ".join(self.pick(f"--x {self.word()}", f"--y \"{self.expansion()}\"", f"${a}",
                f"\"${{{l}[@]}}\"",
                                       f"${{{a}:+--z ${a}}}", f"--w=\"${a}\"", f"{self.word()}")
                             for _ in range(self.random.randint(1, 5)))
            command = f"launch --first {words}"
            plain = command.replace("'", "")
            self.files["args.txt"] = "--p 1\n--q 2\n"
            return self.pick(
                f"env X=1 {command}", f"env -u {a} {command}", f"nohup {command}", f"timeout 9 {command}",
                f"nice -n 1 {command}", f"stdbuf -oL {command}", f"setsid -w {command}", f"time -p {command}",
                f"xargs launch --first < args.txt", f"exec -a name {command}", f"export {a}; sh -c '{plain}'",
                f"bash -ec '{plain}'", f"bash <<EOF\n{command}\nEOF", f"bash <<'EOF'\n{command}\nEOF",
                f"bash -s one two <<'EOF'\n{command} $2\nEOF", f"command {command}", f"! {command}",
                f"if {command}; then :; fi", f"while ! {command}; do break; done", f"{command} || {command} --no",
                f"false || {command}", f"true && {command}", f"for x in 1; do {command}; done",
                f"case x in *) {command};; esac", f"g() {{ exec launch \"$@\"; }}\ng --first {words}",
                f"x=$({command})",
                f"{command} < /dev/null", f"{command} <<X\nlaunch --no --no\nX",
                f"launch --first $(cat args.txt) {words}",
                f"g() {{ local {a}=l; {command}; }}\ng one two", f"g() {{ {command} \"$@\"; }}\n{a}=4 g 1 '2 3'",
                f"eval '{plain}'", f"eval \"{plain.replace(chr(34), '')}\"", f"set -- {words}; launch --first \"$@\"",
                f"R=(launch --first {words}); \"${{R[@]}}\"",
                f"R=\"launch --first {words.replace(chr(34), '')}\"; $R",
                f"R=(launch --first {words}); ${{R[@]}} --s", f"echo '{plain}' > run.sh; bash run.sh 1 2; exit",
                f"echo '{plain}' > run.sh; . ./run.sh 1 2", f"cat > run.sh <<EOF\n{command}\nEOF\nbash run.sh 3",
                f"cat <<'EOF' | bash\n{command}\nEOF", f"{{ {command}; }} | cat",
                f"{a}=6; {{ {a}=5; {command}; }} &\nwait",
                f"trap '{plain}' EXIT; {a}=8; exit", f"{command} &&\n{a}=3 ||\n{a}=4",
                f"{command} \\\n --t \\\n  ${a}",
                f"{command} # --no", f"{command}; exit $?", f"$({command})",
                f"if {self.test()}; then {command}; else {command} --u; fi",
                f"l=launch; $l --first {words}", f"${{NONE:-launch}} --first {words}", f"$NONE {command}",
                f"\"launch\" --first {words}",
                f"{{ {command}\n}}", f"until {command}; do break; done", f"(exit 3) || {command} $?",
                f"> log.txt {command}",
                f"2>&1 {command} > /dev/null", f"{a}=p {self.name()}=q {command}", f"{a}=${a}x {command} --v ${a}")

        def script(self):
            text = super().script()
            if self.random.random() < 0.25:
                return splice(self, text)
            return wrap(self, text) if self.random.random() < 0.15 else text

    return Wider


def wrap(maker, text):
    """The script as something else that runs once."""
    body = text.split("\n", 1)[1]
    if "\nEOF\n" in body or "\nX\n" in body or "\nY\n" in body:
        return f"#!/bin/bash\n{maker.pick('set -e', 'set -u', 'set -f', 'set -a', 'set -x')}\n{body}"
    maker.files["whole.sh"] = body
    return "#!/bin/bash\n" + maker.pick(
        f"main() {{\n{body}\n}}\nmain \"$@\"\n", f"main() {{\n{body}\n}}\nmain one 'two three'\n", f"(\n{body}\n)\n",
        f"{{\n{body}\n}}\n", f"if true; then\n{body}\nfi\n", f"for once in 1; do\n{body}\ndone\n", ". ./whole.sh\n",
        ". ./whole.sh one two\n", "bash whole.sh\n", "bash whole.sh one 'two three'\n", f"{{\n{body}\n}} | cat\n",
        f"{{\n{body}\n}} 2>&1 > log.txt\n", f"set -e\n{body}", f"set -u\n{body}", f"set -f\n{body}",
        "eval \"$(cat whole.sh)\"\n",
        f"set -a\n{body}", f"while :; do\n{body}\nbreak\ndone\n", f"main() (\n{body}\n)\nmain\n",
        f"set -- one 'two three'\n{body}",
        f"sbatch <<'WHOLE'\n#!/bin/bash\n{body}\nWHOLE\n", f"cat > job.sh <<'WHOLE'\n{body}\nWHOLE\nbash job.sh 5\n",
        f"case x in\nx)\n{body}\n;;\nesac\n", "set -o pipefail\n. ./whole.sh 2>&1 | cat > log.txt\n")


def typed():
    if not hasattr(typed, "cases"):
        parts = re.split(r"^==== .*\n", CASES.read_text(), flags=re.M)[1:]
        typed.cases = [part for part in parts if not LEFT_OUT.search(part)]
    return typed.cases


def mutate(maker, text):
    """One small change, as by a slip."""
    random = maker.random
    tokens = re.findall(r"\s+|[A-Za-z0-9_]+|&&|\|\||;;|.", text)
    at = random.randrange(len(tokens))
    signs = [i for i, token in enumerate(tokens) if token in (";", "\n", "&&", "||", '"', "'", "=", "$", "@", "*",
    "#")]
    kind = random.randrange(6)
    if kind == 0:
        del tokens[at]
    elif kind == 1:
        tokens.insert(at, tokens[random.randrange(len(tokens))])
    elif kind == 2 and signs:
        tokens[random.choice(signs)] = maker.pick(" && ", " || ", "; ", "\n", '"', "'", " & ", " | ", "=", "$", "+=")
    elif kind == 3:
        names = [i for i, token in enumerate(tokens) if re.fullmatch(r"[A-Z][A-Z_0-9]*", token)]
        if names:
            tokens[random.choice(names)] = tokens[random.choice(names)]
    elif kind == 4:
        tokens.insert(at, maker.pick(" ", "\n", "\\\n", "''", "$A", "${A}", '"$A"', "$?", "!", "( ", " )", "2", "#",
        " #"))
    else:
        other = random.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    return "".join(tokens)


def splice(maker, text):
    """Typed scripts one after the other, or around the generated one, perhaps with a slip in them."""
    random = maker.random
    maker.files.update({"env.sh": "TP=4\nARGS='--a b'\n", ".env": "PP=2\n", "args.txt": "--layers 4\n--hidden 8\n",
                        "model.sh": 'MODEL_ARGS=(--layers 4 --hidden "8 9")\n',
                        "hostfile": "n1 slots=8\nn2 slots=8\n",
                        "conf/a.sh": "source $(dirname ${BASH_SOURCE[0]})/b.sh\nX=1\n", "conf/b.sh": "Y=2\n"})
    parts = [random.choice(typed()) for _ in range(random.randint(1, 3))]
    if random.random() < 0.5:
        parts = [mutate(maker, part) for part in parts]
    if random.random() < 0.3:
        parts.insert(random.randrange(len(parts) + 1), text.split("\n", 1)[1])
    whole = "#!/bin/bash\n" + "".join(parts)
    return wrap(maker, whole) if random.random() < 0.4 else whole
