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
import {Controls} from './controls.js';
import {pngOf, save, scheduleSvg, timelineSvg} from './pictures.js';
import {changeAt, scalarAt} from './places.js';
import {Runner} from './runner.js';
import {diagnosticsOf, Knowledge} from './schema.js';
import {decode, encode} from './state.js';
import {STEPS, Tour} from './tour.js';

const {schema, presets, schedules, models, examples, version} = JSON.parse(document.getElementById('facts').textContent);
const $ = id => document.getElementById(id);
const FILE = 'scenario.yaml', WAIT = 60;
const runner = new Runner(), painter = new Runner();
const knowledge = new Knowledge(schema, {
    'platform': presets.map(name => `${name}:4`), 'platform.preset': presets, 'model': models,
    'workload': ['stages', 'transformer', 'layers', 'dlrm'], 'schedule': schedules.map(each => each.name)});
const state = {a: examples[0].text, b: null, shown: 'a', both: false};
const results = {a: null, b: null}; // of each variant what its last run gave

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

const showMistakes = found => {
    const doc = view.state.doc;
    view.dispatch(setDiagnostics(view.state, found.map(({line, column, severity, text}) => {
        const at = doc.line(Math.min(Math.max(line, 1), doc.lines)), from = Math.min(at.from + column - 1, at.to);
        const word = /^[\w.:-]+/.exec(view.state.sliceDoc(from, at.to));
        return {from, to: from + (word ? word[0].length : 0), severity: severity === 'note' ? 'info' : severity,
                message: text};
    })));
    $('mistakes').replaceChildren(...found.map(({line, column, severity, text}) => {
        const item = document.createElement('li'), button = document.createElement('button');
        button.type = 'button';
        button.textContent = `${severity}, line ${line}: ${text}`;
        button.onclick = () => {
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
const show = (variant, html) => new Promise(done => {
    const place = $('result-' + variant), old = place.querySelector('iframe.seen'), frame = document.createElement('iframe');
    for (const each of place.querySelectorAll('iframe:not(.seen)')) each.remove();
    frame.title = `result of variant ${variant.toUpperCase()}`;
    frame.srcdoc = html;
    frame.onload = () => {
        const top = old ? old.contentWindow.scrollY : 0;
        frame.className = 'seen';
        if (old) old.remove();
        frame.contentWindow.scrollTo(0, top);
        done();
    };
    place.append(frame);
});
const pageOf = variant => $('result-' + variant).querySelector('iframe.seen')?.contentDocument || null;

const seconds = value => value >= 1 ? `${value.toPrecision(4)} s` : value >= 1e-3 ? `${(value * 1e3).toPrecision(4)} ms`
    : `${(value * 1e6).toPrecision(4)} µs`;

const boundOf = rows => {
    const row = rows[0] || {};
    return row.bound_s === undefined ? '' :
        `No order of this work takes less than ${seconds(row.bound_s)}: the gap is ${(100 * row.above_bound).toFixed(2)} %.`;
};

const compareVariants = () => {
    const [a, b] = [results.a?.summary, results.b?.summary];
    $('versus').textContent = a && b && state.b !== null
        ? `A ${seconds(a.time.iteration_s)}, B ${seconds(b.time.iteration_s)}: B takes ` +
          `${(100 * (b.time.iteration_s / a.time.iteration_s - 1)).toFixed(2)} % ` +
          `${b.time.iteration_s < a.time.iteration_s ? 'less' : 'more'}` : '';
    $('versus').textContent = $('versus').textContent.replace('-', '');
};

// Commands have their output in the place of a report, and say where they fail.
const runCommands = async variant => {
    const begin = performance.now();
    say('running ...');
    showMistakes([]);
    const done = await runBlock(state[variant], runner);
    if (!done) return;
    results[variant] = null;
    $('bound-' + variant).textContent = $('printed').textContent = '';
    await show(variant, done.html);
    say(done.code ? 'a command failed' : `done in ${Math.round(performance.now() - begin)} ms`, done.code ? 'bad' : 'good');
    document.body.dataset.runs = 1 + +(document.body.dataset.runs || 0);
    compareVariants();
};

const run = async variant => {
    if (isBlock(state[variant])) return runCommands(variant);
    const begin = performance.now(), text = state[variant], files = {[FILE]: text};
    const done = await runner.run(['run', FILE, '--engine', 'analytic', '--report', '-o', 'out'],
                                  {files, out: 'out', wanted: ['report.html', 'summary.json']});
    if (!done) return;
    const found = diagnosticsOf(done.messages, FILE).filter(each => !each.text.startsWith('written to '));
    if (variant === state.shown) showMistakes(found);
    results[variant] = null;
    $('bound-' + variant).textContent = '';
    if (done.code === 0 && done.texts['report.html']) {
        results[variant] = {summary: JSON.parse(done.texts['summary.json']), printed: done.output};
        await show(variant, done.texts['report.html']);
        $('printed').textContent = done.output;
        if (variant === state.shown) tour.see(results[variant].summary, text);
        say(`${seconds(results[variant].summary.time.iteration_s)} an iteration; redrawn in ` +
            `${Math.round(performance.now() - begin)} ms`, 'good');
    } else if (done.code === 0) {
        $('printed').textContent = done.output;
        say('done; what was printed stands below', 'good');
    } else {
        say(found.length ? `${found.filter(each => each.severity === 'error').length || 1} mistake(s): ${found[0].text}`
            : 'the run failed', 'bad');
    }
    document.body.dataset.runs = 1 + +(document.body.dataset.runs || 0);
    compareVariants();
    if (done.code === 0 && results[variant]) {
        const more = await runner.run(['compare', FILE, '--engine', 'analytic', '--format', 'json', '--quiet'], {files});
        if (more && more.code === 0) $('bound-' + variant).textContent = boundOf(JSON.parse(more.output));
    }
};

let timer = 0;
const changed = () => {
    state[state.shown] = view.state.doc.toString();
    controls.follow(view.state);
    $('schedule').textContent = scalarAt(view.state, ['schedule']) || scalarAt(view.state, ['schedule', 'name']) || 'none';
    runner.cancel();
    clearTimeout(timer);
    timer = setTimeout(async () => {
        encode(state).then(link => history_(link));
        await run(state.shown);
        const other = state.shown === 'a' ? 'b' : 'a';
        if (state.both && state[other] !== null && !results[other]) await run(other);
    }, WAIT);
};
let ours = '';
const history_ = link => {
    ours = link;
    window.history.replaceState(null, '', link);
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
    if (variant === 'b' && state.b === null) state.b = state.a;
    state.shown = variant;
    layOut();
    if (view.state.doc.toString() === state[variant]) changed();
    else setText(state[variant]);
};
for (const variant of ['a', 'b']) $('tab-' + variant).onclick = () => turnTo(variant);
$('both').onclick = async () => {
    state.both = !state.both;
    layOut();
    history_(await encode(state));
    const other = state.shown === 'a' ? 'b' : 'a';
    if (state.both && !results[other]) await run(other);
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
    history_(await encode(state));
    copy(location.href, 'link');
};
$('copy-yaml').onclick = () => copy(state[state.shown], 'scenario');
$('copy-command').onclick = () =>
    copy(`cat > ${FILE} <<'END'\n${state[state.shown].replace(/\n?$/, '\n')}END\n` +
         ['stagesim', 'run', FILE, '--engine', 'analytic', '--report', '-o', 'out'].map(word).join(' ') + '\n', 'command');
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

// ---- the beginning ----

const restore = async () => {
    try {
        const {set = [], ...kept} = await decode(location.hash) || {};
        Object.assign(state, kept);
        for (const each of set) {
            const [, path, value] = /^([^=]+)=(.*)$/s.exec(each) || [], editor = path && EditorState.create(
                {doc: state.a, extensions: yaml()});
            if (path) state.a = editor.update({changes: changeAt(editor, path.split('.'), value)}).newDoc.toString();
        }
    } catch (error) {
        say(error.message, 'bad');
    }
    layOut();
    if (view.state.doc.toString() === state[state.shown]) changed();
    else setText(state[state.shown]);
};
window.addEventListener('hashchange', () => { if (location.hash !== ours) restore(); });
$('version').textContent = version;
window.playground = {view, tour, STEPS, state, encode, decode, results, pageOf, picture: () => timelineSvg(pageOf(state.shown)), pngOf};
restore();
