// SPDX-License-Identifier: Apache-2.0
// Command lines as the manual has them, without a shell: stagesim, cat and echo, what cuts their output (head, tail, grep,
// cut, sed -n), pipes, and output into a file. Everything else is refused.
'use strict';

// Words and the marks between them: [{text}, {mark: '|'}, ...].
const piecesOf = line => {
    const found = [];
    let word = null, quote = '';
    const end = () => {
        if (word !== null) found.push({text: word});
        word = null;
    };
    for (let i = 0; i < line.length; i++) {
        const c = line[i];
        if (quote ? c === quote : c === '"' || c === "'") {
            quote = quote ? '' : c;
            word = word ?? '';
        } else if (c === '\\' && quote !== "'") {
            word = (word ?? '') + (line[++i] ?? '');
        } else if (quote) {
            word += c;
        } else if (/\s/.test(c)) {
            end();
        } else if ('|>'.includes(c)) {
            end();
            found.push({mark: c});
        } else if (';&<$`()'.includes(c)) {
            throw new Error(`'${c}' needs a shell, which is not in this page`);
        } else {
            word = (word ?? '') + c;
        }
    }
    if (quote) throw new Error(`the line ends within ${quote}`);
    end();
    return found;
};

// The parts of a pipe, and the file at its end (null: none).
const parse = line => {
    const parts = [[]];
    let file = null, wants = false;
    for (const piece of piecesOf(line)) {
        if (piece.mark === '|') parts.push([]);
        else if (piece.mark) wants = true;
        else if (wants) [file, wants] = [piece.text, false];
        else parts[parts.length - 1].push(piece.text);
    }
    if (wants || parts.some(words => !words.length)) throw new Error('a part of the line is missing');
    return {parts, file};
};

const linesOf = text => text.replace(/\n$/, '').split('\n');
const joined = lines => lines.length ? lines.join('\n') + '\n' : '';

// grep's marks: a pattern as its extended ones are, which JavaScript reads alike, or a basic one.
const patternOf = (text, extended) => new RegExp(extended ? text : text.replace(/[+?|(){}]/g, '\\$&'), 'g');

const grep = (words, text) => {
    let extended = false, only = false, behind = 0;
    while (words.length > 1 && words[0].startsWith('-')) {
        const option = words.shift();
        if (option === '-A') behind = +words.shift();
        else if (option === '-E') extended = true;
        else if (option === '-o') only = true;
        else throw new Error(`grep ${option} is not in this page`);
    }
    const pattern = patternOf(words[0], extended), kept = [];
    let left = 0;
    for (const line of linesOf(text)) {
        const found = line.match(pattern);
        if (found && only) kept.push(...found);
        else if (found || left > 0) kept.push(line);
        left = found ? behind : left - 1;
    }
    return joined(kept);
};

const numbersOf = text => text.split(',').flatMap(part => {
    const [from, to = from] = part.split('-').map(Number);
    return Array.from({length: to - from + 1}, (_, i) => from + i);
});

const cut = (words, text) => {
    const given = name => words.find(word => word.startsWith(name))?.slice(2);
    const fields = given('-f'), columns = given('-c'), mark = given('-d') ?? '\t';
    const pick = (items, list) => numbersOf(list).map(number => items[number - 1]).filter(item => item !== undefined);
    return joined(linesOf(text).map(line => fields ? pick(line.split(mark), fields).join(mark)
        : pick([...line], columns).join('')));
};

const countOf = words => Math.abs(+(words[0] === '-n' ? words[1] : words[0] ?? 10));

const filters = {
    head: (words, text) => joined(linesOf(text).slice(0, countOf(words))),
    tail: (words, text) => joined(linesOf(text).slice(-countOf(words))),
    grep: (words, text) => grep([...words], text),
    cut,
    sed: (words, text) => {
        const range = words[0] === '-n' && /^(\d+),(\d+)p$/.exec(words[1] ?? '');
        if (!range || words.length !== 2) throw new Error('of sed only -n FROM,TOp is in this page');
        return joined(linesOf(text).slice(range[1] - 1, +range[2]));
    },
};

// Runs a line. call(words, files) runs stagesim: {code, output, messages, files} (those that it wrote). `files`: texts and
// bytes by path, which commands read and add to. Resolves to {code, text: both streams, words: the first stagesim's}.
const runLine = async (line, files, call) => {
    const {parts, file} = parse(line);
    let text = '', messages = '', code = 0, asked = null;
    for (const [name, ...words] of parts) {
        if (name === 'stagesim') {
            const done = await call(words, files);
            Object.assign(files, done.files);
            [text, code, asked] = [done.output, done.code, asked ?? words];
            messages += done.messages;
        } else if (name === 'cat') {
            text = words.map(path => {
                if (!(path in files)) throw new Error(`there is no file ${path} in this page`);
                return typeof files[path] === 'string' ? files[path] : new TextDecoder().decode(files[path]);
            }).join('');
        } else if (name === 'echo') {
            text = words.join(' ') + '\n';
        } else if (filters[name]) {
            text = filters[name](words, text);
        } else {
            throw new Error(`'${name}' is not in this page`);
        }
    }
    if (file) {
        files[file] = text;
        text = '';
    }
    return {code, text: messages + text, words: asked};
};

if (typeof module !== 'undefined') module.exports = {runLine};
