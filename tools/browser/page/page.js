// SPDX-License-Identifier: Apache-2.0
// The playground: a scenario on the left, what stagesim says of it on the right, all of it in this page.
import {autocompletion, closeBrackets, completionKeymap} from '@codemirror/autocomplete';
import {defaultKeymap, history, historyKeymap} from '@codemirror/commands';
import {yaml} from '@codemirror/lang-yaml';
import {bracketMatching, defaultHighlightStyle, syntaxHighlighting} from '@codemirror/language';
import {lintGutter, lintKeymap, setDiagnostics} from '@codemirror/lint';
import {EditorState} from '@codemirror/state';
import {drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers} from '@codemirror/view';
import {isBlock, runBlock} from './block.js';
import {idleBar, memoryChart, seconds} from './charts.js';
import {Controls} from './controls.js';
import {TABLES, Hand, usesOrder} from './hand.js';
import {ORDER_FILE} from './order.js';
import {pngOf, save, scheduleSvg, timelineSvg} from './pictures.js';
import {changeAt, scalarAt} from './places.js';
import {Runner} from './runner.js';
import {diagnosticsOf, Knowledge} from './schema.js';
import {decode, encode} from './state.js';
import {STEPS, Tour} from './tour.js';

const {schema, presets, schedules, models, examples, version} = JSON.parse(document.getElementById('facts').textContent);
const $ = id => document.getElementById(id);
const FILE = 'scenario.yaml', REPORT = '<main>', WAIT = 60;
// What follows a picture runs in a worker of its own: a key that ends it leaves the other one, which is warm.
const runner = new Runner(), follower = new Runner(), painter = new Runner();
const knowledge = new Knowledge(schema, {
    'platform': presets.map(name => `${name}:4`), 'platform.preset': presets, 'model': models,
    'workload': ['stages', 'transformer', 'layers', 'dlrm'], 'schedule': schedules.map(each => each.name)});
const state = {a: examples[0].text, b: null, shown: 'a', both: false, orders: {a: null, b: null}, hand: false};
// Of each variant what its last run gave, and what the last one that came to its end read.
const results = {a: null, b: null}, whole = {a: null, b: null};

// ---- the editor ----

const hover = hoverTooltip((view, at) => {
    const found = knowledge.explain(view.state, at);
    if (!found) return null;
    return {pos: found.from, end: found.to, create: () => {
        const dom = document.createElement('div'), title = document.createElement('b');
        dom.className = 'meaning';
        title.textContent = found.title;
        dom.append(title, ' ', found.text);
        return {dom};
    }};
});
const view = new EditorView({
    parent: $('editor'),
    state: EditorState.create({doc: state.a, extensions: [
        lineNumbers(), lintGutter(), history(), drawSelection(), highlightActiveLine(), bracketMatching(),
        closeBrackets(), yaml(), syntaxHighlighting(defaultHighlightStyle, {fallback: true}), hover,
        autocompletion({override: [context => knowledge.complete(context)]}),
        keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({'aria-label': 'scenario (YAML)'}),
        EditorView.updateListener.of(update => { if (update.docChanged) changed(); }),
    ]})});
const change = make => {
    const made = make(view.state);
    if (made) view.dispatch({changes: made});
};
const setText = text => view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}});
const controls = new Controls($('controls'), presets, change);
const tour = new Tour($('tour'), setText);
$('take-tour').onclick = () => tour.go(0);

const say = (text, kind = '') => {
    $('status').textContent = text;
    $('status').className = kind;
};

// What a run reads: the scenario, and its order where that is a file.
const filesOf = (text, order) => usesOrder(text, order) ? {[FILE]: text, [ORDER_FILE]: order} : {[FILE]: text};
const inputOf = variant => JSON.stringify(filesOf(state[variant], state.orders[variant]));
// Scenarios of other kinds than training have no engine.
const engineOf = text => /^(queue|idle_nodes|pairs|serving|rl):/m.test(text) ? [] : ['--engine', 'analytic'];

const showMistakes = found => {
    const doc = view.state.doc;
    view.dispatch(setDiagnostics(view.state, found.filter(each => each.file !== ORDER_FILE).map(({line, column, severity, text}) => {
        const at = doc.line(Math.min(Math.max(line, 1), doc.lines)), from = Math.min(at.from + column - 1, at.to);
        const word = /^[\w.:-]+/.exec(view.state.sliceDoc(from, at.to));
        return {from, to: from + (word ? word[0].length : 0), severity: severity === 'note' ? 'info' : severity,
                message: text};
    })));
    $('mistakes').replaceChildren(...found.map(({file, line, column, severity, text}) => {
        const item = document.createElement('li'), button = document.createElement('button'), ordered = file === ORDER_FILE;
        button.type = 'button';
        button.textContent = ordered ? `${severity}, ${hand.slotOf(line) || `${file}, line ${line}`}: ${text}`
            : `${severity}, line ${line}: ${text}`;
        button.onclick = () => {
            if (ordered) {
                hand.choose(line);
                return;
            }
            const at = doc.line(Math.min(line, doc.lines));
            view.dispatch({selection: {anchor: Math.min(at.from + column - 1, at.to)}, scrollIntoView: true});
            view.focus();
        };
        item.append(button);
        return item;
    }));
};

// ---- results ----

// The frame that is not seen loads the new page and then takes the place of the other: nothing flickers.
const load = (variant, html) => new Promise(done => {
    const place = $('result-' + variant), old = place.querySelector('iframe.seen'), frame = document.createElement('iframe');
    for (const each of place.querySelectorAll('iframe:not(.seen)')) each.remove();
    frame.title = `result of variant ${variant.toUpperCase()}`;
    frame.srcdoc = html;
    frame.onload = () => {
        if (!frame.isConnected) return; // a newer one has come
        const top = old?.contentWindow?.scrollY ?? 0;
        frame.className = 'seen';
        if (old) old.remove();
        frame.contentWindow.scrollTo(0, top);
        done();
    };
    place.append(frame);
});
// A report takes the place of another one in its frame: its styles and its program are there, and fast by now.
const show = (variant, html) => {
    const inside = $('result-' + variant).querySelector('iframe.seen')?.contentWindow?.stagesim;
    return inside && html.includes(REPORT) ? inside.show(new DOMParser().parseFromString(html, 'text/html')) : load(variant, html);
};
// Each run has a number; the newest is the one that may show something.
let newest = 0, outdated = () => {};
const stop = () => {
    newest++;
    outdated();
    runner.cancel();
    follower.cancel();
};
// Whether the run `mine` is still the newest when the page has been drawn.
const drawn = async (mine, variant, html) => {
    await Promise.race([show(variant, html), new Promise(done => { outdated = done; })]);
    return mine === newest;
};
const pageOf = variant => $('result-' + variant).querySelector('iframe.seen')?.contentDocument || null;

// Of `stagesim compare`; of the schedule best with what the search was given, and what it has shown.
const boundOf = (rows, text) => {
    const row = rows[0] || {};
    if (row.bound_s === undefined) return '';
    const gap = (100 * row.above_bound).toFixed(2), memory = /\bmemory:\s*(\[[^\]]*\]|[\w./]+)/.exec(
        /\bschedule:\s*\{([^}]*)\}/.exec(text)?.[1] || '')?.[1];
    const best = /^best\b/.test(row.schedule) ? ` ${row.schedule}, with ${memory && memory !== '0'
        ? `at most ${memory} micro-batches in flight on a worker` : 'no limit of micro-batches in flight'}: ${
        gap === '0.00' ? 'proved, no order is faster.' : `not proved, another order could be faster by ${gap} % at most.`}` : '';
    return `No order ${row.bound_of ? `with ${row.bound_of} ` : ''}takes less than ${seconds(row.bound_s)}: the gap is ${gap} %.` +
        best;
};

const showMemory = (variant, texts, summary) => {
    const place = $('memory-' + variant), chart = texts['memory.csv'] ? memoryChart(texts['memory.csv'],
        summary?.memory?.capacity_bytes, Math.max($('side-' + variant).clientWidth || innerWidth - 32, 300)) : null;
    place.replaceChildren(...chart || []);
    place.style.visibility = '';
    place.parentNode.hidden = !chart;
};
// What was said of the text before. The chart of memory keeps its room, so that nothing below it jumps.
const clear = variant => {
    results[variant] = null;
    $('bound-' + variant).textContent = '';
    $('idle-' + variant).replaceChildren();
    $('memory-' + variant).style.visibility = 'hidden';
};

const compareVariants = () => {
    const [a, b] = ['a', 'b'].map(each => state[each] !== null && results[each]?.read === inputOf(each) && results[each].summary);
    $('versus').textContent = a && b
        ? `A ${seconds(a.time.iteration_s)}, B ${seconds(b.time.iteration_s)}: B takes ` +
          `${(100 * (b.time.iteration_s / a.time.iteration_s - 1)).toFixed(2)} % ` +
          `${b.time.iteration_s < a.time.iteration_s ? 'less' : 'more'}` : '';
    $('versus').textContent = $('versus').textContent.replace('-', '');
};

// Commands have their output in the place of a report, and say where they fail. Like runScenario: false where another
// run is newer.
const runCommands = async (variant, mine) => {
    const begin = performance.now();
    say('running ...');
    if (variant === state.shown) showMistakes([]);
    const done = await runBlock(state[variant], runner);
    if (!done || mine !== newest) return false;
    clear(variant);
    showMemory(variant, {});
    if (variant === state.shown) {
        $('printed').textContent = '';
        hand.see({}, []);
    }
    if (!await drawn(mine, variant, done.html)) return false;
    say(done.code ? 'a command failed' : `done in ${Math.round(performance.now() - begin)} ms`, done.code ? 'bad' : 'good');
    document.body.dataset.runs = 1 + +(document.body.dataset.runs || 0);
    compareVariants();
    return true;
};

const runScenario = async (variant, mine) => {
    const begin = performance.now(), text = state[variant], files = filesOf(text, state.orders[variant]), read = inputOf(variant);
    const once = /\bbest\b/.test(text); // what searches long does so once: its tables come with the report
    const done = await runner.run(['run', FILE, ...engineOf(text), '--report', ...once ? TABLES.words : ['-o', 'out']],
                                  {files, out: 'out', wanted: ['report.html', 'summary.json', ...once ? TABLES.wanted : []]});
    if (!done || mine !== newest) return false;
    const found = diagnosticsOf(done.messages, FILE, ORDER_FILE).filter(each => !each.text.startsWith('written to '));
    const report = done.code === 0 && done.texts['report.html'], summary = report && JSON.parse(done.texts['summary.json']);
    if (variant === state.shown) showMistakes(found);
    clear(variant);
    if (summary && summary.time) results[variant] = {read, summary, printed: done.output};
    else {
        showMemory(variant, {});
        if (variant === state.shown) hand.see({}, found.filter(each => each.file === ORDER_FILE));
    }
    if (report && !await drawn(mine, variant, report)) return false;
    if (done.code === 0 && variant === state.shown) $('printed').textContent = done.output;
    if (results[variant]) {
        $('idle-' + variant).replaceChildren(...idleBar(summary) || []);
        if (variant === state.shown) tour.see(summary, text);
        say(`${seconds(summary.time.iteration_s)} an iteration; redrawn in ${Math.round(performance.now() - begin)} ms`, 'good');
    } else if (done.code === 0) {
        say('done; what was printed stands below', 'good');
    } else {
        say(found.length ? `${found.filter(each => each.severity === 'error').length || 1} mistake(s): ${found[0].text}`
            : done.messages.trim() || 'the run failed', 'bad');
    }
    document.body.dataset.runs = 1 + +(document.body.dataset.runs || 0);
    compareVariants();
    return !results[variant] || showMore(variant, mine, text, files, once ? done : null);
};

const run = async variant => {
    const mine = ++newest, read = inputOf(variant);
    if (!await (isBlock(state[variant]) ? runCommands : runScenario)(variant, mine)) return;
    whole[variant] = read;
    document.body.dataset.ends = document.body.dataset.runs;
};

// What takes longer than the picture that follows each key; false where the next key came first.
const showMore = async (variant, mine, text, files, tables) => {
    const {summary} = results[variant];
    const told = tables || await follower.run(['run', FILE, '--engine', 'analytic', ...TABLES.words],
                                              {files, out: TABLES.out, wanted: TABLES.wanted});
    if (!told || mine !== newest) return false;
    showMemory(variant, told.texts, summary);
    if (variant === state.shown) hand.see(told.texts, []);
    const more = await follower.run(['compare', FILE, '--engine', 'analytic', '--format', 'json', '--quiet'], {files});
    if (!more || mine !== newest) return false;
    if (more.code === 0) $('bound-' + variant).textContent = boundOf(JSON.parse(more.output), text);
    return true;
};

// What is seen and has not been run to its end: first the variant that is edited.
const nextToRun = () => {
    const seen = [state.shown, ...state.both ? [state.shown === 'a' ? 'b' : 'a'] : []];
    return seen.find(each => state[each] !== null && whole[each] !== inputOf(each));
};
let timer = 0, working = false;
// One run after the other: none ends another but by stop().
const work = async () => {
    if (working) return;
    working = true;
    try {
        for (let variant = nextToRun(); variant && !timer; variant = nextToRun()) await run(variant);
    } finally {
        working = false;
    }
};
const changed = () => {
    state[state.shown] = view.state.doc.toString();
    controls.follow(view.state);
    $('schedule').textContent = usesOrder(state[state.shown], state.orders[state.shown]) ? 'by hand' : scalarAt(view.state, ['schedule']) || scalarAt(view.state, ['schedule', 'name']) || 'none';
    whole[state.shown] = null;
    stop();
    delete document.body.dataset.ends;
    clearTimeout(timer);
    timer = setTimeout(() => {
        timer = 0;
        keepLink();
        work();
    }, WAIT);
};
// Of the orders only those that are used.
const linkOf = () => {
    const order = each => state[each] !== null && usesOrder(state[each], state.orders[each]) ? state.orders[each] : undefined;
    return encode({...state, ...hand.kept(), orders: {a: order('a'), b: order('b')}});
};
let ours = '';
const keepLink = async () => {
    ours = await linkOf();
    window.history.replaceState(null, '', ours);
};
let later = 0; // browsers count how often an address changes
const chose = () => {
    clearTimeout(later);
    later = setTimeout(keepLink, 300);
};

// ---- variants ----

const layOut = () => {
    document.body.classList.toggle('two', state.b !== null);
    document.body.classList.toggle('both', state.both);
    for (const variant of ['a', 'b']) {
        $('tab-' + variant).setAttribute('aria-pressed', String(state.shown === variant));
        $('side-' + variant).hidden = !state.both && state.shown !== variant || state[variant] === null;
    }
    $('tab-b').textContent = state.b === null ? '+ B' : 'B';
    $('both').setAttribute('aria-pressed', String(state.both));
    $('both').disabled = state.b === null;
};
const turnTo = variant => {
    if (variant === 'b' && state.b === null) {
        state.b = state.a;
        state.orders.b = state.orders.a;
    }
    state.shown = variant;
    layOut();
    if (view.state.doc.toString() === state[variant]) changed();
    else setText(state[variant]);
};
for (const variant of ['a', 'b']) $('tab-' + variant).onclick = () => turnTo(variant);
$('both').onclick = () => {
    state.both = !state.both;
    layOut();
    work();
    keepLink();
};

// ---- the schedules ----

const fillSchedules = async () => {
    const list = $('schedules');
    if (list.childElementCount) return;
    for (const {name, summary} of schedules) {
        const button = document.createElement('button'), text = document.createElement('span');
        const title = document.createElement('b');
        button.type = 'button';
        button.dataset.name = name;
        title.textContent = name;
        text.append(title, ' ', summary);
        button.append(text);
        button.onclick = () => {
            $('picker').close();
            const path = scalarAt(view.state, ['schedule', 'name']) ? ['schedule', 'name'] : ['schedule'];
            change(editor => changeAt(editor, path, name));
        };
        list.append(button);
    }
    for (const button of list.children) {
        const words = ['schedule', button.dataset.name, '--workers', '4', '--micro-batches', '8', '--format', 'json'];
        const done = await painter.run(words);
        if (done && done.code === 0) button.prepend(scheduleSvg(JSON.parse(done.output)));
    }
};
$('schedule').onclick = () => {
    $('picker').showModal();
    fillSchedules();
};

// ---- what goes out ----

const word = text => /^[\w./:=,@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
const copy = async (text, what) => {
    try {
        await navigator.clipboard.writeText(text);
        say(`${what} copied`, 'good');
    } catch {
        $('text').value = text;
        $('copied').showModal();
        $('text').select();
    }
};
$('copy-link').onclick = async () => {
    await keepLink();
    copy(location.href, 'link');
};
$('copy-yaml').onclick = () => copy(state[state.shown], 'scenario');
$('copy-command').onclick = () =>
    copy(Object.entries(filesOf(state[state.shown], state.orders[state.shown])).map(([name, text]) =>
        `cat > ${name} <<'END'\n${text.replace(/\n?$/, '\n')}END\n`).join('') +
         ['stagesim', 'run', FILE, ...engineOf(state[state.shown]), '--report', '-o', 'out'].map(word).join(' ') + '\n', 'command');
const picture = () => {
    const page = pageOf(state.shown), svg = page && timelineSvg(page);
    if (!svg) say('there is no timeline to save', 'bad');
    return svg;
};
$('svg').onclick = () => {
    const svg = picture();
    if (svg) save(new Blob([svg], {type: 'image/svg+xml'}), 'timeline.svg');
};
$('png').onclick = async () => {
    const svg = picture();
    if (svg) save(await pngOf(svg), 'timeline.png');
};
for (const {name} of examples) $('example').append(new Option(name, name));
$('example').onchange = () => {
    const found = examples.find(each => each.name === $('example').value);
    if (found) setText(found.text);
    $('example').value = '';
};
const views = document.querySelectorAll('button[data-view]');
for (const button of views) button.onclick = () => {
    document.body.dataset.view = button.dataset.view;
    for (const each of views) each.setAttribute('aria-pressed', String(each === button));
};

// ---- by hand ----

const hand = new Hand({state, view, FILE, filesOf, changed, chose, say,
                       drafted: texts => showMemory(state.shown, texts, results[state.shown]?.summary)}, {
    box: $('hand'), place: $('board'), told: $('slot'), alone: $('alone'),
    buttons: {earlier: $('earlier'), later: $('later'), shorter: $('shorter'), longer: $('longer'), undo: $('undo')}});
$('hand').ontoggle = () => {
    state.hand = $('hand').open;
    hand.draw();
    keepLink();
};
$('save-order').onclick = async () => {
    const order = hand.order() || await hand.exported();
    if (order) save(new Blob([order.text()], {type: 'text/csv'}), ORDER_FILE);
};

// ---- the beginning ----

const restore = async () => {
    try {
        const {set = [], steps, chosen, ...kept} = await decode(location.hash) || {};
        Object.assign(state, {orders: {a: null, b: null}, hand: false}, kept);
        hand.restore({steps, chosen});
        $('hand').open = state.hand;
        for (const each of set) {
            const [, path, value] = /^([^=]+)=(.*)$/s.exec(each) || [], editor = path && EditorState.create(
                {doc: state.a, extensions: yaml()});
            if (path) state.a = editor.update({changes: changeAt(editor, path.split('.'), value)}).newDoc.toString();
        }
    } catch (error) {
        say(error.message, 'bad');
    }
    for (const each of ['a', 'b'])
        if (state[each] === null || whole[each] !== inputOf(each)) {
            clear(each);
            $('result-' + each).querySelector('iframe.seen')?.remove();
        }
    compareVariants();
    layOut();
    if (view.state.doc.toString() === state[state.shown]) changed();
    else setText(state[state.shown]);
};
window.addEventListener('hashchange', () => { if (location.hash !== ours) restore(); });
$('version').textContent = version;
window.playground = {view, hand, tour, STEPS, state, encode, decode, results, whole, pageOf, picture: () => timelineSvg(pageOf(state.shown)), pngOf};
restore();
