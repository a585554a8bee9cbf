// SPDX-License-Identifier: Apache-2.0
// Commands in place of a scenario, as the manual has them: lines "$ COMMAND", and "$ cat FILE" before a file's text.
import {scheduleSvg} from './pictures.js';
import {runLine} from './shell.js';

export const isBlock = text => /^\$ \S/.test(text);

// {lines: commands in order, files: texts by name}
export const blockOf = text => {
    const lines = [], files = {}, all = text.replace(/\n$/, '').split('\n');
    let file = null;
    all.forEach((line, i) => {
        if (!line.startsWith('$ ')) {
            if (file !== null) files[file] = (files[file] ?? '') + line + '\n';
            return;
        }
        const follows = i + 1 < all.length && !all[i + 1].startsWith('$ ');
        file = follows && /^\$ cat ([\w./-]+)$/.exec(line)?.[1] || null;
        if (file === null) lines.push(line.slice(2));
    });
    return {lines, files};
};

const STYLE = `:root{color-scheme:light dark}body{margin:12px 16px;font:14px/1.45 'DejaVu Sans',system-ui,sans-serif}
h2{font:600 13.5px/1.5 'DejaVu Sans Mono',ui-monospace,monospace;margin:0 0 6px;overflow-wrap:anywhere}
pre{margin:0 0 18px;overflow-x:auto;font:13px/1.5 'DejaVu Sans Mono',ui-monospace,monospace}
svg{width:100%;height:auto;max-height:300px;margin:0 0 12px}.bad{color:light-dark(#b3261e,#ff8a80)}`;
const escaped = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

// The picture of what `stagesim schedule` prints as text; '' of other commands, and of what is no schedule (its --help). It
// takes a second run: none follows a long search.
const LONG = 3000;
const pictureOf = async (words, files, call, milliseconds) => {
    if (words?.[0] !== 'schedule' || words.some(word => /^(-o|--output|--format)/.test(word))) return '';
    if (milliseconds > LONG)
        return '<p>There is no picture here: the command took long, and a picture would take as long again.</p>';
    const done = await call([...words, '--format', 'json'], files);
    try {
        return done.code === 0 ? scheduleSvg(JSON.parse(done.output)).outerHTML : '';
    } catch {
        return '';
    }
};

// Runs all lines, each after the one before. Resolves to {html, code: of the last that failed}; null where something else
// came in between.
export const runBlock = async (text, runner) => {
    const {lines, files} = blockOf(text), parts = [];
    let code = 0, ended = false, milliseconds = 0;
    const call = async (words, given) => {
        const done = ended ? null : await runner.run(words, {files: given, out: '.', home: '/work', all: true});
        ended = ended || !done;
        milliseconds = done?.milliseconds ?? 0;
        return done || {code: 3, output: '', messages: '', files: {}};
    };
    for (const line of lines) {
        let done, picture = '';
        try {
            done = await runLine(line, files, call);
            if (done.code === 0) picture = await pictureOf(done.words, files, call, milliseconds);
        } catch (error) {
            done = {code: 2, text: error.message};
        }
        if (ended) return null;
        code = done.code || code;
        parts.push(`<h2>$ ${escaped(line)}</h2>${picture}<pre${done.code ? ' class="bad"' : ''}>${escaped(done.text)}</pre>`);
    }
    return {html: `<!DOCTYPE html><meta charset="utf-8"><title>commands</title><style>${STYLE}</style>${parts.join('')}`, code};
};
