// SPDX-License-Identifier: Apache-2.0
// What can be touched on a page: tables that sort and filter, definitions behind a tap, timelines that zoom. Without it
// the page shows all the same. No request, no storage, no library.
(() => {
'use strict';
const html = document.documentElement;
html.classList.add('js');

const make = (name, attributes, ...children) => {
    const node = document.createElement(name);
    for (const key in attributes || {}) {
        if (key.startsWith('on')) node.addEventListener(key.slice(2), attributes[key]);
        else if (attributes[key] === true) node.setAttribute(key, '');
        else if (attributes[key] !== false) node.setAttribute(key, attributes[key]);
    }
    node.append(...children);
    return node;
};

// ---- a tip beside the pointer ----

const tip = make('div', {class: 'tip', role: 'tooltip', id: 'tip', hidden: true});
const showTip = (lines, x, y) => {
    tip.replaceChildren(...lines.flatMap((line, i) => i ? [make('br'), line] : [make('b', {}, line)]));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = x + 14 + box.width > innerWidth ? x - 14 - box.width : x + 14;
    tip.style.left = Math.max(4, Math.min(left, innerWidth - box.width - 4)) + 'px';
    tip.style.top = Math.max(4, y + 18 + box.height > innerHeight ? y - 14 - box.height : y + 18) + 'px';
};
const hideTip = () => { tip.hidden = true; };

const defineWords = () => {
    for (const word of document.querySelectorAll('dfn[title]')) {
        const text = word.title;
        word.tabIndex = 0;
        word.addEventListener('click', event => {
            event.stopPropagation();
            const box = word.getBoundingClientRect();
            showTip([word.textContent, text], box.left, box.bottom);
        });
        word.addEventListener('keydown', event => { if (event.key === 'Enter') word.click(); });
        word.addEventListener('blur', hideTip);
    }
};
document.addEventListener('click', hideTip);
document.addEventListener('scroll', hideTip, {passive: true});

// ---- tables ----

const valueOf = (row, column) => {
    const cell = row.cells[column], text = cell.dataset.v ?? cell.textContent.trim();
    return text !== '' && !isNaN(text) ? +text : text;
};
const compare = (a, b) => a === '' ? 1 : b === '' ? -1 :
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en', {numeric: true});
const sortBy = (table, column, descending) => {
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => (descending ? -1 : 1) * compare(valueOf(a, column), valueOf(b, column)));
    table.tBodies[0].append(...rows);
    [...table.tHead.rows[0].cells].forEach((head, i) => {
        if (i === column) head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
        else head.removeAttribute('aria-sort');
    });
};
const touchTables = () => {
    for (const row of document.querySelectorAll('table.f tr'))
        if (row.querySelector('.d')) row.addEventListener('click', () => row.classList.toggle('open'));
    for (const table of document.querySelectorAll('table.sort')) {
        [...table.tHead.rows[0].cells].forEach((head, column) => {
            if (!head.textContent.trim()) return;
            const button = make('button', {class: 'sorter', type: 'button', 'aria-label': 'sort by ' + head.textContent,
                onclick: () => sortBy(table, column, head.getAttribute('aria-sort') === 'ascending')});
            head.append(button);
        });
        if (table.tBodies[0].rows.length <= 8) continue;
        const input = make('input', {class: 'filter', type: 'search', placeholder: 'show rows with ...',
            'aria-label': 'show rows with these words', oninput: () => {
                const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
                for (const row of table.tBodies[0].rows)
                    row.hidden = !words.every(word => row.textContent.toLowerCase().includes(word));
            }});
        table.closest('.wide').before(input);
    }
};

// ---- the data of a timeline ----

const KINDS = ['forward', 'backward', 'weight gradient', 'optimizer', 'other computation', 'collective'];
const COLLECTIVE = 5, TICKS = 2 ** 24, NEAR = 3;

const reader = text => {
    const raw = atob(text), size = raw.length;
    let at = 0;
    const next = () => {
        let value = 0, factor = 1;
        for (;;) {
            const byte = raw.charCodeAt(at++);
            value += (byte & 127) * factor;
            if (byte < 128) return value;
            factor *= 128;
        }
    };
    const signed = () => {
        const value = next();
        return value % 2 ? -(value + 1) / 2 : value / 2;
    };
    return {next, signed, more: () => at < size};
};

const decode = figure => {
    const data = JSON.parse(figure.querySelector('script').textContent);
    const from = reader(data.boxes), start = [], end = [], style = [], number = [], first = [0], middle = [];
    for (let row = 0; row < data.busy.length; row++) {
        const count = from.next(), before = [0, 0], last = [0, 0];
        middle.push(-1);
        for (let i = 0; i < count; i++) {
            const look = data.styles[from.next()], lane = look >> 8 & 1;
            if (lane && middle[row] < 0) middle[row] = start.length;
            start.push(before[lane] + from.signed());
            end.push(start[start.length - 1] + from.next());
            number.push(last[lane] += from.signed());
            style.push(look);
            before[lane] = end[end.length - 1];
        }
        if (middle[row] < 0) middle[row] = start.length;
        first.push(start.length);
    }
    const arrows = data.busy.map(() => []), list = reader(data.arrows);
    for (let at = 0; list.more();) {
        const source = list.next(), to = list.next();
        at += list.signed();
        arrows[to].push([at, at + list.next(), source]);
    }
    for (const row of arrows) row.sort((a, b) => a[1] - b[1]);
    const run = {data, start: Int32Array.from(start), end: Int32Array.from(end), style: Uint16Array.from(style),
        number: Int32Array.from(number), first, middle, arrows, rows: data.busy.length, unit: data.end / TICKS};
    sums(run);
    return run;
};

// Time up to each box by kind, and of the critical path: from these follow shares of time between any two moments in a
// time that does not depend on the number of boxes.
const sums = run => {
    const count = run.start.length;
    run.sums = [...Array(COLLECTIVE + 1)].map(() => null);
    for (let i = 0; i < count; i++) {
        const kind = run.style[i] & 7;
        if (kind !== COLLECTIVE && !run.sums[kind]) run.sums[kind] = new Float64Array(count + 1);
        if (run.style[i] >> 11 & 1) run.hasCritical = true;
    }
    run.sums[COLLECTIVE] = new Float64Array(count + 1);
    run.kinds = run.sums.map((sum, kind) => sum ? kind : -1).filter(kind => kind >= 0);
    for (let row = 0; row < run.rows; row++)
        for (let i = run.first[row]; i < run.first[row + 1]; i++) {
            const kind = run.style[i] & 7, time = run.end[i] - run.start[i];
            for (const k of run.kinds) run.sums[k][i + 1] = run.sums[k][i];
            if (i < run.middle[row]) run.sums[kind][i + 1] += time * (run.style[i] >> 6 & 3 ? 0.5 : 1);
            if (run.style[i] >> 11 & 1) run.sums[COLLECTIVE][i + 1] += time;
        }
};

const bisect = (array, low, high, above) => {
    while (low < high) {
        const middle = low + high >> 1;
        if (above(array[middle])) high = middle;
        else low = middle + 1;
    }
    return low;
};
const firstAfter = (run, low, high, tick) => bisect(run.end, low, high, end => end > tick);

// ---- what a box waited for ----

const boxBefore = (run, row, i) => {
    for (let other = i - 1; other >= run.first[row]; other--)
        if (run.end[other] <= run.start[i] + NEAR && run.start[other] < run.start[i]) return other;
    return -1;
};
const rowOf = (run, i) => bisect(run.first, 0, run.first.length, first => first > i) - 1;

// {cause, idle, before}: why a computation did not begin earlier, the ticks it left idle, and the box to follow.
const reasonOf = (run, i) => {
    const row = rowOf(run, i);
    if (i >= run.middle[row]) {
        const last = firstAfter(run, run.first[row], run.middle[row], run.start[i] + NEAR) - 1;
        return {cause: '', idle: 0, before: last >= run.first[row] ? last : -1};
    }
    const previous = boxBefore(run, row, i), since = previous < 0 ? 0 : run.end[previous], start = run.start[i];
    const idle = start - since;
    if (previous >= 0 && idle <= NEAR) return {cause: '', idle: 0, before: previous};
    const list = run.arrows[row], at = bisect(list, 0, list.length, arrow => arrow[1] > start + NEAR) - 1;
    if (at >= 0 && start - list[at][1] <= NEAR) {
        const from = list[at][2], sender = firstAfter(run, run.first[from], run.middle[from], list[at][0] + NEAR) - 1;
        return {cause: 'waits for the message of worker ' + from, idle,
            before: sender >= run.first[from] ? sender : previous, message: list[at]};
    }
    for (let c = run.middle[row]; c < run.first[row + 1]; c++)
        if (Math.abs(run.end[c] - start) <= NEAR) return {cause: 'waits for a collective', idle, before: c};
    return {cause: previous < 0 ? 'nothing before it' : 'waits for another stream', idle, before: previous};
};

// ---- text ----

const digits = value => value === 0 ? '0' : String(+value.toPrecision(4));
const seconds = (run, ticks) => {
    const value = ticks * run.unit;
    if (run.data.bare) return digits(value);
    for (const [scale, name] of [[1, 's'], [1e-3, 'ms'], [1e-6, '\u00b5s']])
        if (Math.abs(value) >= scale) return digits(value / scale) + ' ' + name;
    return digits(value / 1e-9) + ' ns';
};
const nameOf = (run, i) => {
    const look = run.style[i], part = look >> 9 & 3, shade = look >> 3 & 7;
    let text = KINDS[look & 7];
    if (run.number[i] >= 0) text += ' of micro-batch ' + run.number[i] + (part ? part === 1 ? 'a' : 'b' : '');
    if (run.data.shades > 1 && (look & 7) < 3) text += ', shade ' + (shade + 1) + ' of ' + run.data.shades;
    return text;
};
const describe = (run, i) => {
    const row = rowOf(run, i), reason = reasonOf(run, i);
    const lines = [nameOf(run, i), 'worker ' + row + ', ' + seconds(run, run.start[i]) + ' to ' +
        seconds(run, run.end[i]) + ': ' + seconds(run, run.end[i] - run.start[i])];
    if (reason.idle > NEAR) lines.push('idle before it for ' + seconds(run, reason.idle) + ': ' + reason.cause);
    if (run.style[i] >> 11 & 1) lines.push('on the critical path');
    return lines;
};

// ---- looks ----

const looks = {};
const lookOf = (context, kind, shade, shades) => {
    const key = kind + '-' + shade + '-' + shades;
    if (looks[key]) return looks[key];
    const pattern = document.getElementById('p' + key) || document.getElementById('p' + kind + '-0-1');
    const fill = pattern.firstElementChild.getAttribute('fill');
    const tile = make('canvas', {width: 12, height: 12}), pen = tile.getContext('2d');
    pen.scale(2, 2);
    pen.fillStyle = fill;
    pen.fillRect(0, 0, 6, 6);
    if (pattern.children[1]) {
        pen.strokeStyle = pattern.children[1].getAttribute('stroke');
        pen.lineWidth = 0.7;
        pen.stroke(new Path2D(pattern.dataset.hatch));
    }
    const paint = context.createPattern(tile, 'repeat');
    paint.setTransform(new DOMMatrix().scale(0.5));
    const rgb = parseInt(fill.slice(1), 16);
    return looks[key] = {fill, paint, ink: '#' + pattern.dataset.ink,
        pixel: 0xff000000 | (rgb & 255) << 16 | rgb & 0xff00 | rgb >> 16};
};
const colours = () => {
    const style = getComputedStyle(html), of = name => style.getPropertyValue('--' + name).trim();
    return {text: of('text'), faint: of('faint'), line: of('line'), track: of('track'), bar: of('bar'),
        critical: of('crit'), card: of('card')};
};
const pixelOf = colour => {
    const hex = colour.length === 4 ? colour.replace(/[0-9a-f]/gi, '$&$&') : colour, rgb = parseInt(hex.slice(1), 16);
    return 0xff000000 | (rgb & 255) << 16 | rgb & 0xff00 | rgb >> 16;
};

// ---- timelines ----

const AXIS = 20, GROUPS = 16, FOLD_FROM = 80, UNFOLD_MOST = 512;

class Panel {
    constructor(viewer, figure) {
        this.viewer = viewer;
        this.figure = figure;
        this.run = decode(figure);
        this.name = figure.querySelector('figcaption b').textContent;
        this.svg = figure.querySelector('svg');
        this.canvas = make('canvas', {tabindex: 0, role: 'application', 'aria-describedby': viewer.help.id,
            'aria-label': this.svg.getAttribute('aria-label') + '. Arrow keys move along it, plus and minus zoom.'});
        this.view = make('div', {class: 'view'}, this.canvas);
        this.svg.setAttribute('hidden', '');
        this.svg.after(this.view);
        figure.classList.add('live');
        this.selected = -1;
        const size = Math.ceil(this.run.rows / GROUPS);
        this.group = this.run.rows > 8 ? Math.max(2, 2 ** Math.ceil(Math.log2(size))) : 0;
        this.folded = new Set();
        if (this.run.rows > FOLD_FROM) this.foldAll(true);
        this.listen();
    }

    foldAll(fold) {
        this.folded.clear();
        for (let row = 0; fold && this.group && row < this.run.rows; row += this.group) this.folded.add(row);
    }

    // What lies below each other: {from, to, folded, top, height}; a group of rows, or one row.
    layout() {
        const rows = this.run.rows, high = rows <= 16 ? 26 : rows <= 64 ? 14 : 11;
        this.lines = [];
        let top = AXIS;
        for (let row = 0; row < rows;) {
            const folded = this.folded.has(row), to = folded ? Math.min(rows, row + this.group) : row + 1;
            const height = folded ? Math.max(high, 20) : high;
            this.lines.push({from: row, to, folded, top, height});
            top += height;
            row = to;
        }
        this.height = top + 4;
        this.width = this.figure.clientWidth - 26;
        const digits = String(rows - 1).length;
        this.left = this.group ? 30 + 14 * digits : 34;
    }

    // Ticks at a place, places of ticks. In shares of its iteration each run has a length of its own.
    span() {
        const {from, to, byShare} = this.viewer, whole = byShare ? TICKS : this.viewer.end / this.run.unit;
        return [from * whole, to * whole];
    }
    x(tick) {
        const [a, b] = this.span();
        return this.left + (tick - a) / (b - a) * (this.width - this.left);
    }
    tick(x) {
        const [a, b] = this.span();
        return a + (x - this.left) / (this.width - this.left) * (b - a);
    }

    draw(coarse) {
        if (this.figure.hidden) return;
        const ratio = Math.min(devicePixelRatio || 1, 2);
        this.layout();
        if (this.canvas.width !== Math.round(this.width * ratio) || this.canvas.height !== Math.round(this.height * ratio)) {
            this.canvas.width = Math.round(this.width * ratio);
            this.canvas.height = Math.round(this.height * ratio);
            this.canvas.style.height = this.height + 'px';
        }
        const context = this.canvas.getContext('2d');
        this.context = context;
        this.ratio = ratio;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, this.width, this.height);
        this.drawAxis();
        for (const line of this.lines) this.drawLine(line, coarse);
        this.drawWindow();
        this.drawSelected();
    }

    drawAxis() {
        const {context, viewer} = this, [a, b] = this.span(), scale = viewer.byShare ? 100 / TICKS : this.run.unit;
        const range = (b - a) * scale, rough = range / Math.max(3, this.width / 95), power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].map(f => f * power).find(f => f >= rough);
        const unit = viewer.byShare || this.run.data.bare ? 1 : b * scale >= 1 ? 1 : b * scale >= 1e-3 ? 1e-3 : 1e-6;
        const name = viewer.byShare ? ' %' : this.run.data.bare ? '' : {1: ' s', 0.001: ' ms', 0.000001: ' \u00b5s'}[unit];
        const places = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / unit) + 1e-9)));
        context.font = '11px sans-serif';
        context.textAlign = 'center';
        context.fillStyle = viewer.colours.faint;
        context.strokeStyle = viewer.colours.line;
        context.lineWidth = 1;
        context.beginPath();
        for (let k = Math.ceil(a * scale / step); k * step <= b * scale * (1 + 1e-12); k++) {
            const x = this.x(k * step / scale);
            context.moveTo(Math.round(x) + 0.5, AXIS - 5);
            context.lineTo(Math.round(x) + 0.5, this.height - 4);
            context.fillText((k * step / unit).toFixed(places) + name, Math.min(Math.max(x, this.left + 12), this.width - 20), 11);
        }
        context.stroke();
    }

    drawLine(line, coarse) {
        const {context, viewer, run} = this, pad = line.height >= 14 ? 2 : 1;
        const label = line.folded ? line.from + '\u2013' + (line.to - 1) : String(line.from);
        context.fillStyle = viewer.colours.faint;
        context.textAlign = 'right';
        context.font = '11px sans-serif';
        const grouped = this.group && line.from % this.group === 0;
        context.fillText((grouped ? line.folded ? '\u25b8 ' : '\u25be ' : '') + label, this.left - 6, line.top + line.height / 2 + 4);
        const lane = !line.folded && run.middle[line.from] < run.first[line.from + 1] ? Math.round(line.height / 4) : 0;
        const area = {y: line.top + pad, height: line.height - 2 * pad - lane, lane};
        const right = Math.max(this.left, Math.min(this.width, this.x(TICKS))), left = Math.max(this.left, this.x(0));
        context.fillStyle = viewer.colours.track;
        context.fillRect(left, area.y, right - left, area.height);
        const [a, b] = this.span();
        let many = 0;
        for (let row = line.from; row < line.to; row++)
            many = Math.max(many, firstAfter(run, run.first[row], run.middle[row], b) -
                firstAfter(run, run.first[row], run.middle[row], a));
        if (line.folded || many > (this.width - this.left) / 3) this.drawShares(line, area, coarse);
        else this.drawBoxes(line.from, area);
        if (lane) this.drawCollectives(line.from, area);
    }

    // Many boxes: of every column of points the shares of time that the kinds take, stacked from the bottom.
    drawShares(line, area, coarse) {
        const {run} = this, step = coarse ? 3 : 1, {start, end, style} = run, [a, b] = this.span();
        const columns = Math.ceil((this.width - this.left) / step), count = run.kinds.length;
        if (columns < 1) return; // in a frame that is not shown
        const shares = new Float32Array(columns * count), before = new Float64Array(count), now = new Float64Array(count);
        const sums = run.kinds.map(kind => run.sums[kind]), place = run.kinds.reduce((all, kind, k) => (all[kind] = k, all), {});
        const per = (b - a) / ((this.width - this.left) / step), weight = 1 / per / (line.to - line.from);
        for (let row = line.from; row < line.to; row++) {
            const low = run.first[row], high = run.middle[row];
            if (low === high) continue;
            let p = firstAfter(run, low, high, a);
            for (let column = -1; column < columns; column++) {
                const tick = a + (column + 1) * per;
                if (p < high && end[p] <= tick) p = this.seek(p, high, tick);
                if (p === high && column >= 0 && before.every((value, k) => value === sums[k][p])) break;
                for (let k = 0; k < count; k++) now[k] = sums[k][p];
                for (let i = p; i < high && start[i] < tick && (i === p || start[i] === start[p]); i++) {
                    now[place[style[i] & 7]] += (tick - start[i]) * (style[i] >> 6 & 3 ? 0.5 : 1);
                    if (style[i] >> 11 & 1) now[count - 1] += tick - start[i];
                }
                for (let k = 0; k < count; k++) {
                    if (column >= 0) shares[column * count + k] += (now[k] - before[k]) * weight;
                    before[k] = now[k];
                }
                // Nothing happens before the next box.
                if (p < high && start[p] > tick) column = Math.max(column, Math.floor((start[p] - a) / per) - 2);
            }
        }
        this.paintShares(shares, columns, step, area);
    }
    // The first box that ends after a tick, from p on, which does not.
    seek(p, high, tick) {
        let leap = 1;
        while (p + leap < high && this.run.end[p + leap] <= tick) leap *= 2;
        return firstAfter(this.run, p, Math.min(high, p + leap + 1), tick);
    }
    paintShares(shares, columns, step, area) {
        const {context, run, ratio, viewer} = this, kinds = run.kinds;
        const wide = Math.round(columns * step * ratio), high = Math.max(1, Math.round(area.height * ratio));
        const image = context.createImageData(wide, high), pixels = new Uint32Array(image.data.buffer);
        const paints = kinds.map(kind => kind === COLLECTIVE ? 0 : lookOf(context, kind, 0, 1).pixel);
        const critical = pixelOf(viewer.colours.critical);
        const fill = (paint, from, to, x0, x1) => {
            for (let at = from * wide; at < to * wide; at += wide)
                for (let x = x0; x < x1; x++) pixels[at + x] = paint;
        };
        for (let column = 0; column < columns; column++) {
            const x0 = Math.round(column * step * ratio), x1 = Math.min(wide, Math.round((column + 1) * step * ratio));
            let y = high, sum = 0;
            for (let k = 0; k < kinds.length; k++) {
                const share = shares[column * kinds.length + k];
                if (kinds[k] === COLLECTIVE) {
                    if (share > 0.02 && viewer.showCritical)
                        fill(critical, high - Math.min(high, Math.round(2 * ratio)), high, x0, x1);
                    continue;
                }
                sum += share;
                const top = Math.max(0, Math.round(high * (1 - sum)));
                if (y > top) fill(paints[k], top, y, x0, x1);
                y = Math.min(y, top);
            }
        }
        const layer = this.layer = this.layer || make('canvas');
        layer.width = wide;
        layer.height = high;
        layer.getContext('2d').putImageData(image, 0, 0);
        context.drawImage(layer, this.left, area.y, wide / ratio, area.height);
    }

    drawBoxes(row, area) {
        const {context, run} = this, [a, b] = this.span();
        const low = firstAfter(run, run.first[row], run.middle[row], a);
        context.textAlign = 'center';
        context.font = (area.height >= 15 ? 11 : 9) + 'px sans-serif';
        for (let i = low; i < run.middle[row] && run.start[i] < b; i++)
            if (run.end[i] > run.start[i]) this.drawBox(i, this.place(i, area));
    }
    place(i, area) {
        const half = this.run.style[i] >> 6 & 3, x = Math.max(this.left, this.x(this.run.start[i]));
        const end = Math.min(this.width, this.x(this.run.end[i]));
        return {x, w: Math.max(0.7, end - x), y: area.y + (half === 2 ? area.height / 2 : 0),
            h: half ? area.height / 2 : area.height};
    }
    drawBox(i, at) {
        const {context, run, viewer} = this, style = run.style[i];
        const look = lookOf(context, style & 7, style >> 3 & 7, run.data.shades);
        context.fillStyle = at.w > 5 ? look.paint : look.fill;
        context.fillRect(at.x, at.y, at.w, at.h);
        if (at.w > 4) {
            context.fillStyle = viewer.colours.card;
            context.fillRect(at.x + at.w - 0.5, at.y, 0.5, at.h);
        }
        const text = run.number[i] < 0 ? '' : run.number[i] + ['', 'a', 'b'][style >> 9 & 3];
        if (text && at.h >= 9 && at.w > 7 * text.length + 3) {
            context.fillStyle = look.fill;
            context.fillRect(at.x + at.w / 2 - 3.6 * text.length, at.y + at.h / 2 - 5, 7.2 * text.length, 10);
            context.fillStyle = look.ink;
            context.fillText(text, at.x + at.w / 2, at.y + at.h / 2 + 4);
        }
        if (style >> 11 & 1 && viewer.showCritical && at.w < 8) {
            context.fillStyle = viewer.colours.critical;
            context.fillRect(at.x, at.y + at.h - 2.5, at.w, 2.5);
        } else if (style >> 11 & 1 && viewer.showCritical) {
            context.strokeStyle = viewer.colours.critical;
            context.lineWidth = 1.6;
            context.strokeRect(at.x + 0.8, at.y + 0.8, Math.max(0.4, at.w - 1.6), at.h - 1.6);
        }
    }
    drawCollectives(row, area) {
        const {context, run} = this, [a, b] = this.span(), high = area.lane / run.data.tiers;
        let last = -1, lastTier = -1;
        for (let i = run.middle[row]; i < run.first[row + 1]; i++) {
            const tier = run.style[i] >> 12 & 3, x = this.x(run.start[i]), end = this.x(run.end[i]);
            if (run.end[i] <= a || run.start[i] >= b || (tier === lastTier && end < last + 0.5)) continue;
            const look = lookOf(context, COLLECTIVE, 0, 1), from = Math.max(this.left, x);
            context.fillStyle = run.style[i] >> 11 & 1 && this.viewer.showCritical ? this.viewer.colours.critical : look.fill;
            context.fillRect(from, area.y + area.height + tier * high, Math.max(0.6, Math.min(this.width, end) - from), Math.max(1, high - 0.5));
            last = end;
            lastTier = tier;
        }
    }

    drawWindow() {
        const {context, run, viewer} = this, {window, until} = run.data;
        if (!(until > window)) return;
        context.strokeStyle = viewer.colours.faint;
        context.lineWidth = 1;
        context.setLineDash([4, 3]);
        for (const time of [window, until]) {
            const x = this.x(time / run.unit);
            if (x < this.left || x > this.width) continue;
            context.beginPath();
            context.moveTo(x, AXIS - 6);
            context.lineTo(x, this.height);
            context.stroke();
        }
        context.setLineDash([]);
    }

    lineOf(row) { return this.lines.find(line => row >= line.from && row < line.to); }
    middleOf(i) {
        const line = this.lineOf(rowOf(this.run, i));
        return line.top + line.height / 2;
    }
    // The selected box, and the chain of what had to end before it.
    drawSelected() {
        const {context, run, viewer} = this;
        if (this.selected < 0) return;
        context.save();
        context.beginPath();
        context.rect(this.left, 0, this.width - this.left, this.height);
        context.clip();
        context.strokeStyle = viewer.colours.text;
        context.lineWidth = 1.4;
        context.beginPath();
        let i = this.selected;
        for (let steps = 0; steps < 400; steps++) {
            const before = reasonOf(run, i).before;
            if (before < 0) break;
            context.moveTo(this.x(run.start[i]), this.middleOf(i));
            context.lineTo(this.x(run.end[before]), this.middleOf(before));
            context.lineTo(this.x(run.start[before]), this.middleOf(before));
            i = before;
        }
        context.stroke();
        const line = this.lineOf(rowOf(run, this.selected)), x = this.x(run.start[this.selected]);
        context.lineWidth = 2.4;
        context.strokeRect(x, line.top + 1, Math.max(2, this.x(run.end[this.selected]) - x), line.height - 2);
        context.restore();
    }

    // The line and box below a point; box -1: none.
    find(x, y) {
        const line = this.lines.find(one => y >= one.top && y < one.top + one.height);
        if (!line || x < this.left) return {line, box: -1};
        const {run} = this, tick = this.tick(x), lane = y > line.top + line.height * 3 / 4 && !line.folded;
        let low = run.first[line.from], high = run.middle[line.from];
        if (lane && high < run.first[line.from + 1]) {
            for (let i = high; i < run.first[line.from + 1]; i++)
                if (run.start[i] <= tick && run.end[i] >= tick) return {line, box: i};
        }
        let box = firstAfter(run, low, high, tick);
        const slack = Math.abs(this.tick(x + 2) - tick);
        if (box < high && run.start[box] > tick + slack) return {line, box: -1, next: box};
        if (box < high && run.style[box] >> 6 & 3 && y > line.top + line.height / 2 && box + 1 < high &&
            run.start[box + 1] === run.start[box]) box++;
        return {line, box: box < high ? box : -1};
    }

    explain(x, y) {
        const {run} = this, found = this.find(x, y), {line} = found;
        if (!line || x < this.left) return null;
        if (line.folded) {
            const busy = run.data.busy.slice(line.from, line.to);
            return ['workers ' + line.from + ' to ' + (line.to - 1),
                'busy for ' + (100 * busy.reduce((a, b) => a + b, 0) / busy.length).toFixed(1) + ' % of the iteration on the mean',
                'click to show each'];
        }
        if (found.box >= 0) return describe(run, found.box);
        if (found.next === undefined) return ['worker ' + line.from + ' idle', 'nothing follows'];
        const reason = reasonOf(run, found.next);
        return ['worker ' + line.from + ' idle for ' + seconds(run, reason.idle), reason.cause, 'next: ' + nameOf(run, found.next)];
    }

    select(i, follow) {
        this.selected = i;
        if (i >= 0) {
            this.folded.delete(rowOf(this.run, i) - rowOf(this.run, i) % (this.group || 1));
            this.viewer.say.replaceChildren(...describe(this.run, i).flatMap((line, n) => n ? [', ' + line] : [make('b', {}, line)]));
            if (follow) this.viewer.reveal(this, this.run.start[i], this.run.end[i]);
        } else {
            this.viewer.say.replaceChildren(this.viewer.hint);
        }
        this.viewer.active = this;
        this.viewer.redraw();
    }
    step(direction) {
        const {run} = this, i = this.selected;
        if (i < 0) return this.select(firstAfter(run, run.first[0], run.middle[0], this.span()[0]), true);
        const row = rowOf(run, i), other = i + direction;
        if (other >= run.first[row] && other < run.middle[row]) this.select(other, true);
    }
    rowStep(direction) {
        const {run} = this, i = this.selected;
        if (i < 0) return this.step(1);
        const row = rowOf(run, i) + direction;
        if (row < 0 || row >= run.rows || run.first[row] === run.middle[row]) return;
        this.select(Math.min(run.middle[row] - 1, firstAfter(run, run.first[row], run.middle[row], run.start[i])), true);
    }
    before() {
        const reason = this.selected >= 0 ? reasonOf(this.run, this.selected) : {before: -1};
        if (reason.before >= 0) this.select(reason.before, true);
    }
    // The next box of the critical path, in time; from its beginning after the last.
    critical() {
        const {run} = this, at = this.selected >= 0 ? run.start[this.selected] : -1;
        let best = -1, first = -1;
        for (let i = 0; i < run.start.length; i++) {
            if (!(run.style[i] >> 11 & 1) || run.end[i] === run.start[i]) continue;
            if (first < 0 || run.start[i] < run.start[first]) first = i;
            if (run.start[i] > at && (best < 0 || run.start[i] < run.start[best])) best = i;
        }
        if (first >= 0) this.select(best >= 0 ? best : first, true);
    }

    listen() {
        const {canvas, viewer} = this, at = event => {
            const box = canvas.getBoundingClientRect();
            return [event.clientX - box.left, event.clientY - box.top];
        };
        let drag = null;
        const touches = new Map();
        canvas.addEventListener('wheel', event => {
            const along = Math.abs(event.deltaX) > Math.abs(event.deltaY);
            if (!event.ctrlKey && !event.metaKey && !along && document.activeElement !== canvas) return;
            event.preventDefault();
            if (along) viewer.pan(event.deltaX / (this.width - this.left));
            else viewer.zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), (at(event)[0] - this.left) / (this.width - this.left));
        }, {passive: false});
        canvas.addEventListener('pointerdown', event => {
            const [x, y] = at(event);
            touches.set(event.pointerId, x);
            drag = {x, y, from: viewer.from, to: viewer.to, moved: false, range: event.shiftKey};
            if (event.pointerType === 'mouse') canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener('pointermove', event => {
            const [x, y] = at(event), wide = this.width - this.left;
            if (touches.size === 2 && touches.has(event.pointerId)) {
                const other = [...touches].find(([id]) => id !== event.pointerId)[1], old = touches.get(event.pointerId);
                if (Math.abs(x - other) > 8) viewer.zoom(Math.abs(old - other) / Math.abs(x - other), ((x + other) / 2 - this.left) / wide);
                touches.set(event.pointerId, x);
                if (drag) drag.moved = true;
            } else if (drag && touches.size) {
                if (Math.abs(x - drag.x) > 3) drag.moved = true;
                if (drag.moved && !drag.range) viewer.set(drag.from - (x - drag.x) / wide * (drag.to - drag.from), drag.to - (x - drag.x) / wide * (drag.to - drag.from), true);
                else if (drag.moved) { viewer.redraw(); drag.end = x; }
                hideTip();
            } else {
                const lines = this.explain(x, y);
                if (lines) showTip(lines, event.clientX, event.clientY);
                else hideTip();
            }
        });
        const done = event => {
            touches.delete(event.pointerId);
            if (!drag) return;
            const [x, y] = at(event), held = drag;
            drag = null;
            if (held.moved && held.range) {
                const share = place => held.from + (place - this.left) / (this.width - this.left) * (held.to - held.from);
                viewer.set(share(Math.min(held.x, x)), share(Math.max(held.x, x)));
            } else if (!held.moved && event.type === 'pointerup') {
                this.click(x, y, event);
            }
            viewer.settle();
        };
        canvas.addEventListener('pointerup', done);
        canvas.addEventListener('pointercancel', done);
        canvas.addEventListener('pointerleave', hideTip);
        canvas.addEventListener('dblclick', () => viewer.set(0, 1));
        canvas.addEventListener('click', event => event.stopPropagation());
        canvas.addEventListener('focus', () => { viewer.active = this; });
        canvas.addEventListener('keydown', event => viewer.key(event, this));
    }
    click(x, y, event) {
        const found = this.find(x, y), {line} = found;
        if (!line) return this.select(-1);
        if (this.group && (line.folded || x < this.left)) {
            const from = line.from - line.from % this.group;
            if (!this.folded.delete(from)) this.folded.add(from);
            this.viewer.redraw();
        } else {
            this.select(found.box);
            if (event.pointerType !== 'mouse') showTip(this.explain(x, y) || [''], event.clientX, event.clientY);
        }
    }
}

let viewers = 0;
class Viewer {
    constructor(root) {
        this.from = 0;
        this.to = 1;
        this.showCritical = true;
        this.byShare = false;
        this.hint = 'Point at a box for its times and what it waited for. Click follows what had to end before it.';
        this.help = make('p', {class: 'note', id: 'help' + ++viewers}, 'Drag moves, Shift and drag zooms into a range, the ' +
            'wheel zooms once the timeline was clicked (or with Ctrl), double click shows all. Keys: arrows go from box to ' +
            'box, + and \u2212 zoom, [ and ] move, 0 shows all, b goes to what the box waited for, c along the critical path.');
        this.say = make('p', {class: 'say', role: 'status'}, this.hint);
        const figures = [...root.querySelectorAll('figure.tl')].filter(figure => figure.querySelector('script'));
        this.panels = figures.map(figure => new Panel(this, figure));
        if (!this.panels.length) return;
        this.active = this.panels[0];
        this.end = Math.max(...this.panels.map(panel => panel.run.data.end));
        this.brush = make('canvas', {class: 'over', 'aria-hidden': 'true'});
        root.prepend(this.tools(), make('div', {class: 'live'}, this.brush, this.say));
        root.append(make('details', {}, make('summary', {}, 'How to move around'), this.help));
        this.listenBrush();
        this.colours = colours();
        let wide = root.clientWidth;
        const sizes = new ResizeObserver(() => { if (root.clientWidth !== wide) { wide = root.clientWidth; this.redraw(); } });
        sizes.observe(root);
        // Those far below are drawn when they come near, unless they show it already.
        this.seen = new Set();
        this.stale = new Set(this.panels);
        const near = new IntersectionObserver(entries => {
            for (const entry of entries) {
                const panel = this.panels.find(one => one.figure === entry.target);
                if (entry.isIntersecting) this.seen.add(panel);
                else this.seen.delete(panel);
            }
            if ([...this.seen].some(panel => this.stale.has(panel))) this.redraw();
        }, {rootMargin: '600px'});
        for (const panel of this.panels) {
            panel.layout();
            panel.canvas.style.height = panel.height + 'px';
            near.observe(panel.figure);
        }
        // Once each, so that nothing is blank on paper or when one scrolls fast; the first at once.
        const drawNext = () => {
            const [panel] = this.stale;
            if (!panel) return;
            this.stale.delete(panel);
            panel.draw();
            if (this.stale.size) setTimeout(drawNext);
        };
        drawNext();
        this.drawBrush();
        this.close = () => {
            sizes.disconnect();
            near.disconnect();
            this.stale.clear();
            this.seen.clear();
        };
    }

    tools() {
        const button = (text, label, act) => make('button', {type: 'button', 'aria-label': label, title: label, onclick: act}, text);
        const bar = make('div', {class: 'tools', role: 'toolbar', 'aria-label': 'timeline'},
            button('+', 'zoom in', () => this.zoom(0.5, 0.5)), button('\u2212', 'zoom out', () => this.zoom(2, 0.5)),
            button('all', 'show all', () => this.set(0, 1)),
            button('\u2190 before', 'go to what the selected box waited for', () => this.active.before()));
        if (this.panels.some(panel => panel.run.hasCritical)) {
            const box = make('input', {type: 'checkbox', checked: true, onchange: () => { this.showCritical = box.checked; this.redraw(); }});
            bar.append(button('critical path \u2192', 'go along the critical path', () => this.active.critical()),
                make('label', {}, box, 'mark it'));
        }
        const foldable = this.panels.filter(panel => panel.group && panel.run.rows <= UNFOLD_MOST);
        if (foldable.length) {
            let folded = foldable[0].folded.size > 0;
            const fold = button(folded ? 'unfold workers' : 'fold workers', 'fold workers into groups or show each', () => {
                folded = !folded;
                for (const panel of foldable) panel.foldAll(folded);
                fold.textContent = folded ? 'unfold workers' : 'fold workers';
                this.redraw();
            });
            bar.append(fold);
        }
        if (this.panels.length > 1) bar.append(this.alignment(), this.runs());
        return bar;
    }
    alignment() {
        const choice = make('select', {onchange: () => { this.byShare = choice.value === 'share'; this.redraw(); }},
            make('option', {value: 'time'}, 'one time axis'), make('option', {value: 'share'}, 'each as long as its iteration'));
        return make('label', {}, 'aligned by', choice);
    }
    runs() {
        const boxes = this.panels.map(panel => {
            const box = make('input', {type: 'checkbox', checked: true, onchange: () => { panel.figure.hidden = !box.checked; this.redraw(); }});
            return [box, make('label', {}, box, panel.name)];
        });
        const all = on => () => { for (const [box] of boxes) { box.checked = on; box.dispatchEvent(new Event('change')); } };
        return make('details', {}, make('summary', {}, 'runs'), make('div', {class: 'tools'},
            make('button', {type: 'button', onclick: all(true)}, 'all'), make('button', {type: 'button', onclick: all(false)}, 'none'),
            ...boxes.map(([, label]) => label)));
    }

    set(from, to, moving) {
        const least = 64 / TICKS, wide = Math.max(least, Math.min(1, to - from));
        this.from = Math.max(0, Math.min(1 - wide, from));
        this.to = this.from + wide;
        this.redraw(moving);
    }
    zoom(factor, share) {
        hideTip();
        const wide = this.to - this.from, at = this.from + wide * Math.max(0, Math.min(1, share));
        this.set(at - wide * factor * (at - this.from) / wide, at + wide * factor * (this.to - at) / wide, true);
        this.settle();
    }
    pan(share) {
        const by = share * (this.to - this.from);
        this.set(this.from + by, this.to + by, true);
        this.settle();
    }
    reveal(panel, start, end) {
        const whole = this.byShare ? TICKS : this.end / panel.run.unit, a = start / whole, b = end / whole;
        const wide = this.to - this.from;
        if (a < this.from || b > this.to) this.set((a + b - wide) / 2, (a + b + wide) / 2);
    }
    settle() {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.redraw(), 140);
    }
    redraw(coarse) {
        this.coarse = coarse;
        if (this.waiting) return;
        this.waiting = requestAnimationFrame(() => {
            this.waiting = 0;
            const began = performance.now();
            for (const panel of this.panels) {
                this.stale.add(panel);
                if (!this.seen.has(panel)) continue;
                this.stale.delete(panel);
                panel.draw(this.coarse && this.slow);
            }
            this.drawBrush();
            this.slow = performance.now() - began > 24;
        });
    }

    drawBrush() {
        const panel = this.panels.find(one => !one.figure.hidden) || this.panels[0], ratio = Math.min(devicePixelRatio || 1, 2);
        const wide = this.brush.clientWidth, high = 34;
        if (!wide) return;
        this.brush.width = wide * ratio;
        this.brush.height = high * ratio;
        this.brush.style.height = high + 'px';
        const context = this.brush.getContext('2d'), view = Object.create(panel);
        context.scale(ratio, ratio);
        context.fillStyle = this.colours.track;
        context.fillRect(0, 0, wide, high);
        const whole = this.byShare ? TICKS : this.end / panel.run.unit;
        Object.assign(view, {context, ratio, width: wide, left: 0, span: () => [0, whole], layer: null});
        view.drawShares({from: 0, to: panel.run.rows, folded: true}, {y: 0, height: high}, panel.run.rows > 200);
        const a = this.from * wide, b = this.to * wide;
        context.globalAlpha = 0.62;
        context.fillStyle = this.colours.card;
        context.fillRect(0, 0, a, high);
        context.fillRect(b, 0, wide - b, high);
        context.globalAlpha = 1;
        context.strokeStyle = this.colours.bar;
        context.lineWidth = 2;
        context.strokeRect(a + 1, 1, Math.max(3, b - a - 2), high - 2);
    }
    listenBrush() {
        const share = event => {
            const box = this.brush.getBoundingClientRect();
            return (event.clientX - box.left) / box.width;
        };
        let held = null;
        this.brush.addEventListener('pointerdown', event => {
            const at = share(event), near = 8 / this.brush.clientWidth, whole = this.to - this.from > 0.999;
            this.brush.setPointerCapture(event.pointerId);
            if (!whole && Math.abs(at - this.from) < near) held = {fixed: this.to};
            else if (!whole && Math.abs(at - this.to) < near) held = {fixed: this.from};
            else if (!whole && at > this.from && at < this.to) held = {offset: at - this.from};
            else held = {fixed: at};
        });
        this.brush.addEventListener('pointermove', event => {
            if (!held) return;
            const at = share(event), wide = this.to - this.from;
            if (held.offset !== undefined) this.set(at - held.offset, at - held.offset + wide, true);
            else if (Math.abs(at - held.fixed) > 0.002) this.set(Math.min(at, held.fixed), Math.max(at, held.fixed), true);
        });
        const done = () => { held = null; this.settle(); };
        this.brush.addEventListener('pointerup', done);
        this.brush.addEventListener('pointercancel', done);
        this.brush.addEventListener('dblclick', () => this.set(0, 1));
    }

    key(event, panel) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const act = {'+': () => this.zoom(0.5, 0.5), '=': () => this.zoom(0.5, 0.5), '-': () => this.zoom(2, 0.5),
            '0': () => this.set(0, 1), Home: () => this.set(0, 1), '[': () => this.pan(-0.25), ']': () => this.pan(0.25),
            ArrowRight: () => panel.step(1), ArrowLeft: () => panel.step(-1), ArrowDown: () => panel.rowStep(1),
            ArrowUp: () => panel.rowStep(-1), b: () => panel.before(), c: () => panel.critical(),
            Escape: () => panel.select(-1)}[event.key];
        if (!act) return;
        event.preventDefault();
        act();
    }
}

// ---- the page ----

const begin = () => {
    document.body.append(tip);
    defineWords();
    touchTables();
    window.stagesim.viewers = [...document.querySelectorAll('.timelines')].map(root => new Viewer(root));
};
// Another page of the same program in this one's place, at once. It comes from a parser, so that none of its scripts
// runs; those of this page are fast by now.
const show = other => {
    for (const viewer of window.stagesim.viewers) viewer.close?.();
    document.title = other.title;
    document.body.replaceChildren(...other.body.childNodes);
    hideTip();
    begin();
};
matchMedia('(prefers-color-scheme:dark)').addEventListener('change', () => {
    for (const viewer of window.stagesim.viewers.filter(viewer => viewer.panels.length)) {
        viewer.colours = colours();
        viewer.redraw();
    }
});
window.stagesim = {show};
begin();
})();
