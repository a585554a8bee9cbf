// SPDX-License-Identifier: Apache-2.0
// Memory over time and the causes of idle time, as pictures that a screen reader can read, too.
const SVG = 'http://www.w3.org/2000/svg';

export const shape = (name, attributes = {}, ...children) => {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    node.append(...children);
    return node;
};

export const seconds = value => !value ? '0' : value >= 1 ? `${+value.toPrecision(4)} s` : value >= 1e-3
    ? `${+(value * 1e3).toPrecision(4)} ms` : `${+(value * 1e6).toPrecision(4)} µs`;
const bytes = value => {
    const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let at = 0;
    for (; value >= 1024 && at < names.length - 1; at++) value /= 1024;
    return `${+value.toPrecision(4)} ${names[at]}`;
};
const percent = value => `${(100 * value).toFixed(value < 0.1 ? 2 : 1)} %`;

// 1, 2 or 5 times a power of ten (of two for bytes), so that about four steps make the whole.
const stepOf = (whole, binary) => {
    if (binary) return 2 ** Math.round(Math.log2(whole / 4));
    const power = 10 ** Math.floor(Math.log10(whole / 4));
    return power * [1, 2, 5, 10].find(each => each * power >= whole / 4);
};

// Of memory.csv: steps of each worker, of one of its replicas.
const stepsOf = text => {
    const [, ...rows] = text.trimEnd().split('\n'), workers = [], ranks = [];
    for (const row of rows) {
        const [rank, position, time, held, flight] = row.split(',').map(Number);
        if ((ranks[position] ??= rank) === rank) (workers[position] ||= []).push({time, bytes: held, flight});
    }
    return workers.filter(Boolean);
};

const LINES = 8, HEIGHT = 220, LEFT = 74, TOP = 12, BOTTOM = 24;

// A line with steps; of the moments within half a point of the picture the highest and the last.
const pathOf = (steps, key, x, y, end) => {
    let path = '', at = -1, high = 0, last = 0;
    const flush = () => {
        if (at < 0) return;
        path += path ? `H${at}V${high.toFixed(1)}${high !== last ? `V${last.toFixed(1)}` : ''}` : `M${at} ${last.toFixed(1)}`;
    };
    for (const step of steps) {
        const column = Math.round(x(step.time) * 2) / 2, height = y(step[key]);
        if (column !== at) {
            flush();
            at = column;
            high = height;
        }
        high = Math.min(high, height);
        last = height;
    }
    flush();
    return `${path}H${x(end).toFixed(1)}`;
};

// Nodes to show: the picture and its key. Null where there is nothing to draw. Of more than LINES workers only those
// that hold the most. width: in points; capacity: bytes of a GPU, if it is known.
export const memoryChart = (csv, capacity, width) => {
    const workers = stepsOf(csv), key = workers.some(steps => steps.some(each => each.bytes > 0)) ? 'bytes' : 'flight';
    const peak = steps => steps.reduce((most, step) => Math.max(most, step[key]), 0);
    const all = workers.map((steps, number) => ({number, steps, peak: peak(steps)}));
    const shown = [...all].sort((a, b) => b.peak - a.peak || a.number - b.number).slice(0, LINES)
        .sort((a, b) => a.number - b.number);
    const most = Math.max(...shown.map(each => each.peak), 0);
    const end = Math.max(...shown.map(({steps}) => steps[steps.length - 1].time), 0);
    if (!(most > 0) || !(end > 0)) return null;
    const name = key === 'bytes' ? bytes : value => String(+value.toPrecision(4));
    const limited = key === 'bytes' && capacity > 0 && capacity < 1.6 * most, top = limited ? Math.max(most, capacity) : most;
    const x = time => LEFT + time / end * (width - LEFT - 8), y = value => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
    const title = key === 'bytes' ? 'Memory over time' : 'Micro-batches in flight over time';
    const svg = shape('svg', {viewBox: `0 0 ${width} ${HEIGHT}`, role: 'img', class: 'chart', 'aria-label':
        `${title}: at most ${shown.map(each => `${name(each.peak)} on worker ${each.number}`).join(', ')}`});
    for (const [whole, text, place] of [[top, name, 'y'], [end, seconds, 'x']])
        for (let value = 0, step = stepOf(whole, place === 'y' && key === 'bytes'); value <= whole * 1.0001; value += step)
            svg.append(...place === 'y'
                ? [shape('path', {class: 'grid', d: `M${LEFT} ${y(value)}H${width - 8}`}),
                   shape('text', {x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end'}, text(value))]
                : [shape('text', {x: x(value), y: HEIGHT - 6, 'text-anchor': value ? 'middle' : 'start'}, text(value))]);
    if (limited) svg.append(shape('path', {class: 'limit', d: `M${LEFT} ${y(capacity)}H${width - 8}`}),
                            shape('text', {x: LEFT + 6, y: y(capacity) + 14}, `a GPU has ${name(capacity)}`));
    const list = document.createElement('ul');
    list.className = 'key';
    shown.forEach((each, i) => {
        svg.append(shape('path', {class: `line c${i}`, d: pathOf(each.steps, key, x, y, end)}));
        const item = document.createElement('li'), mark = document.createElement('span');
        mark.className = `mark c${i}`;
        item.append(mark, `worker ${each.number}: ${name(each.peak)}`);
        list.append(item);
    });
    if (all.length > shown.length) {
        const item = document.createElement('li');
        item.textContent = `the fullest ${LINES} of ${all.length} workers`;
        list.append(item);
    }
    return [svg, list];
};

const CAUSES = [['order', 'order of the schedule'], ['imbalance', 'uneven stages'], ['transfer', 'transfers'],
                ['contention', 'contention']];

// Of summary.json: shares of an iteration, mean over ranks. Null where causes are not known.
export const idleBar = summary => {
    if (!summary.idle || summary.bubble?.ratio === undefined) return null;
    const parts = [['busy', 'busy', 1 - summary.bubble.ratio], ...CAUSES.map(([key, text]) => [key, text, summary.idle[key]])]
        .filter(([key, , share]) => key === 'busy' || share >= 0.00005);
    const bar = document.createElement('div'), list = document.createElement('ul');
    bar.className = 'bar';
    list.className = 'key';
    bar.setAttribute('aria-hidden', 'true');
    list.setAttribute('aria-label', 'where the time of a GPU goes');
    for (const [key, text, share] of parts) {
        const piece = document.createElement('span'), item = document.createElement('li'), mark = document.createElement('span');
        piece.className = `of-${key}`;
        piece.style.flexGrow = Math.max(share, 0);
        mark.className = `mark of-${key}`;
        item.append(mark, key === 'busy' ? `busy ${percent(share)}` : `idle because of ${text} ${percent(share)}`);
        bar.append(piece);
        list.append(item);
    }
    return [bar, list];
};
