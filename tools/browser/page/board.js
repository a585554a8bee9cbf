// SPDX-License-Identifier: Apache-2.0
// The order of a pipeline as boxes that are moved, and whose ends are dragged, with mouse, finger or keys.
import {seconds, shape} from './charts.js';
import {takesTime} from './order.js';

const NAMES = {F: 'forward', B: 'backward', W: 'weight gradient', R: 'forward again', S: 'output layer (pass S)',
               T: 'output layer (pass T)'};
const LEFT = 34, TOP = 20, EDGE = 7;
export const BOXES_MOST = 3000;

export const nameOf = slot => {
    const kinds = [...slot.kind].map(kind => NAMES[kind] || `slot ${kind}`).join(' and ');
    return `${kinds} of micro-batch ${slot.batch}${slot.part}, stage ${slot.stage}`;
};

export class Board {
    // place: where it is drawn; told: where the chosen slot is said. act: {move(worker, from, to, done), stretch(slot,
    // factor, done), cancel(), chose()}: a box is dragged, and with done let go; it never is; another one is chosen.
    constructor(place, told, act) {
        Object.assign(this, {told, act, workers: [], chosen: null, marks: new Map(), drag: null});
        this.svg = shape('svg', {class: 'board', tabindex: 0, role: 'application', 'aria-label': 'order', 'aria-describedby': 'hand-help'});
        place.append(this.svg);
        this.svg.addEventListener('keydown', event => this.key(event));
        this.svg.addEventListener('pointerdown', event => this.down(event));
        this.svg.addEventListener('pointermove', event => this.slide(event));
        this.svg.addEventListener('pointerup', event => this.up(event));
        this.svg.addEventListener('pointercancel', () => {
            if (!this.drag) return;
            this.drag = null;
            this.act.cancel();
        });
        new ResizeObserver(() => this.draw()).observe(place);
    }

    // workers: slots of each, with start and end, or without where the order does not run; marks: words by `worker:at`.
    show(workers, marks = new Map()) {
        this.timed = workers.every(slots => slots.every(slot => slot.start !== undefined || !takesTime(slot.kind)));
        Object.assign(this, {workers, marks});
        if (!this.slot()) this.chosen = null;
        if (!this.drag) this.end = this.span();
        this.draw();
    }

    span() {
        return this.timed ? Math.max(1e-12, ...this.workers.map(slots => Math.max(0, ...slots.map(slot => slot.end || 0))))
            : Math.max(1, ...this.workers.map(slots => slots.length));
    }

    slot(at = this.chosen) {
        return at && this.workers[at.worker]?.[at.at] || null;
    }

    // [start, end] of a slot in points.
    place(slot, at) {
        const [start, end] = this.timed ? [slot.start ?? 0, slot.end ?? slot.start ?? 0] : [at, at + 0.94];
        const scale = (this.width - LEFT - 10) / this.end;
        return [LEFT + start * scale, LEFT + end * scale];
    }

    draw() {
        this.width = Math.max(this.svg.parentNode.clientWidth, 200);
        const rows = this.workers.length, high = this.high = rows <= 12 ? 30 : 20, nodes = [];
        const height = TOP + rows * high + 2;
        this.svg.setAttribute('viewBox', `0 0 ${this.width} ${height}`);
        this.svg.setAttribute('height', height);
        this.svg.setAttribute('aria-label', `${rows} workers and the order of their slots` +
                              (this.timed ? `, ${seconds(this.span())}` : ', which never finishes'));
        if (this.drag?.factor) nodes.push(shape('text', {x: (LEFT + this.width) / 2, y: 13, 'text-anchor': 'middle', class: 'now'},
                                                `let go: all of it takes ${seconds(this.span())}`));
        if (this.timed) nodes.push(shape('text', {x: LEFT, y: 13}, '0'),
                                   shape('text', {x: this.width - 10, y: 13, 'text-anchor': 'end'}, seconds(this.end)));
        this.workers.forEach((slots, worker) => {
            const y = TOP + worker * high;
            nodes.push(shape('rect', {class: 'track', x: LEFT, y, width: this.width - LEFT - 10, height: high - 4}),
                       shape('text', {x: LEFT - 8, y: y + high / 2 + 2, 'text-anchor': 'end'}, String(worker)));
            slots.forEach((slot, at) => nodes.push(...this.box(slot, worker, at, y, high - 4)));
        });
        if (this.drag?.line !== undefined) {
            const y = TOP + this.drag.worker * high;
            nodes.push(shape('path', {class: 'insert', d: `M${this.drag.line} ${y - 3}V${y + high - 1}`}));
        }
        this.svg.replaceChildren(...nodes);
        this.say();
    }

    box(slot, worker, at, y, height) {
        const [from, to] = this.place(slot, at), width = Math.max(to - from - 0.6, 0.8);
        const chosen = this.chosen && this.chosen.worker === worker && this.chosen.at === at;
        const mark = this.marks.get(`${worker}:${at}`);
        const box = shape('rect', {class: `slot k${slot.kind[0]}${mark ? ' bad' : ''}${chosen ? ' chosen' : ''}`, x: from, y,
                                   width, height, 'data-worker': worker, 'data-at': at});
        box.append(shape('title', {}, nameOf(slot) + (mark ? `: ${mark}` : '')));
        const text = width > 24 ? slot.kind + slot.batch : width > 8 * String(slot.batch).length ? String(slot.batch) : '';
        return text ? [box, shape('text', {class: 'in', x: from + width / 2, y: y + height / 2 + 4, 'text-anchor': 'middle'},
                                  text)] : [box];
    }

    say() {
        const slot = this.slot();
        if (!slot) {
            this.told.textContent = '';
            return;
        }
        const {worker, at} = this.chosen, mark = this.marks.get(`${worker}:${at}`);
        this.told.textContent = `Worker ${worker}, slot ${at + 1} of ${this.workers[worker].length}: ${nameOf(slot)}` +
            (this.timed && slot.start !== undefined
                ? `, ${seconds(slot.start)} to ${seconds(slot.end)}: ${seconds(slot.end - slot.start)}` : '') +
            (mark ? `; ${mark}` : '');
    }

    choose(worker, at) {
        this.chosen = {worker, at};
        this.draw();
        this.act.chose();
    }

    // The slot of another worker that is nearest to the middle of the chosen one.
    beside(worker) {
        const slots = this.workers[worker], [a, b] = this.place(this.slot(), this.chosen.at), middle = (a + b) / 2;
        let best = 0, least = Infinity;
        slots.forEach((slot, at) => {
            const [from, to] = this.place(slot, at), far = Math.abs((from + to) / 2 - middle);
            if (far < least) [best, least] = [at, far];
        });
        return best;
    }

    key(event) {
        const {key, shiftKey, altKey} = event, moves = shiftKey || altKey;
        if (!this.slot()) {
            const worker = this.workers.findIndex(slots => slots.length);
            if (worker < 0 || !/^(Arrow|Home|End|\+|-|=)/.test(key)) return;
            this.choose(worker, 0);
        } else if (key === 'ArrowLeft' || key === 'ArrowRight') this.step(key === 'ArrowLeft' ? -1 : 1, moves);
        else if (key === 'ArrowUp' || key === 'ArrowDown') {
            const worker = this.chosen.worker + (key === 'ArrowUp' ? -1 : 1);
            if (this.workers[worker]?.length) this.choose(worker, this.beside(worker));
        } else if (key === 'Home') this.choose(this.chosen.worker, 0);
        else if (key === 'End') this.choose(this.chosen.worker, this.workers[this.chosen.worker].length - 1);
        else if (key === '+' || key === '=') this.act.stretch(this.slot(), 1.1, true);
        else if (key === '-') this.act.stretch(this.slot(), 1 / 1.1, true);
        else return;
        event.preventDefault();
    }

    // To the slot beside the chosen one, or the chosen one past it.
    step(by, moves) {
        if (!this.chosen) return;
        const {worker, at} = this.chosen, to = at + by;
        if (to < 0 || to >= this.workers[worker].length) return;
        if (moves) this.act.move(worker, at, to, true);
        else this.choose(worker, to);
    }

    // ---- mouse and finger ----

    x(event) {
        const box = this.svg.getBoundingClientRect();
        return (event.clientX - box.left) * this.width / box.width;
    }

    down(event) {
        const target = event.target.closest('[data-worker]') || this.near(event);
        if (!target || event.button) return;
        const worker = +target.dataset.worker, at = +target.dataset.at, slot = this.workers[worker][at];
        const [from, to] = this.place(slot, at), x = this.x(event);
        const edge = this.timed && to - x < Math.min(EDGE, (to - from) / 3);
        this.choose(worker, at);
        this.svg.setPointerCapture(event.pointerId);
        this.drag = {mode: edge ? 'stretch' : 'move', worker, at, slot, from, to, x, slots: this.workers[worker], moved: false};
        this.svg.focus({preventScroll: true});
        event.preventDefault();
    }

    // A text lies above its box.
    near(event) {
        const box = this.svg.getBoundingClientRect(), x = this.x(event), y = (event.clientY - box.top) * this.width / box.width;
        const worker = Math.floor((y - TOP) / this.high);
        const at = (this.workers[worker] || []).findIndex((slot, i) => {
            const [from, to] = this.place(slot, i);
            return x >= from && x <= to;
        });
        return at < 0 ? null : {dataset: {worker, at}};
    }

    slide(event) {
        const {drag} = this, x = this.x(event);
        if (!drag) {
            const box = event.target.closest('[data-worker]');
            const to = box ? +box.getAttribute('x') + +box.getAttribute('width') : 0, wide = box ? +box.getAttribute('width') : 0;
            this.svg.style.cursor = !box ? '' : this.timed && to - x < Math.min(EDGE, wide / 3) ? 'ew-resize' : 'grab';
            return;
        }
        if (!drag.moved && Math.abs(x - drag.x) < 3) return;
        drag.moved = true;
        if (drag.mode === 'stretch') {
            drag.factor = Math.max(drag.to - drag.from + x - drag.x, 1) / Math.max(drag.to - drag.from, 1);
            this.act.stretch(drag.slot, drag.factor, false);
            return;
        }
        const others = drag.slots.map((slot, at) => this.place(slot, at)).filter((_, at) => at !== drag.at);
        const to = others.filter(([from, end]) => (from + end) / 2 < x).length;
        drag.target = to;
        drag.line = to < others.length ? others[to][0] - 1 : others.length ? others[to - 1][1] + 1 : x;
        this.draw();
    }

    up(event) {
        const {drag} = this;
        this.drag = null;
        if (!drag) return;
        this.svg.releasePointerCapture(event.pointerId);
        if (drag.moved && drag.mode === 'stretch') this.act.stretch(drag.slot, drag.factor, true);
        else if (drag.moved && drag.target !== drag.at) this.act.move(drag.worker, drag.at, drag.target, true);
        this.end = this.span();
        this.draw();
    }
}
