// SPDX-License-Identifier: Apache-2.0
// The order and the times of stages changed by hand: boxes that are moved and dragged become text and a schedule file.
import {BOXES_MOST, Board, nameOf} from './board.js';
import {Order, ORDER_FILE, slotsThatRan, takesTime} from './order.js';
import {changeAt, scalarAt} from './places.js';
import {Runner} from './runner.js';
import {lengthen, refusal} from './times.js';

// What a simulation writes that the board and the chart of memory are drawn of.
export const TABLES = {words: ['--trace', 'csv', '-o', 'out'], out: 'out', wanted: ['operations.csv', 'memory.csv']};

export const usesOrder = (text, order) => order !== null && text.includes(ORDER_FILE);

export class Hand {
    // page: {state, view, FILE, filesOf(text, order), changed(), chose(), say(text, kind), drafted(texts)}.
    constructor(page, {box, place, told, buttons, alone}) {
        Object.assign(this, {page, box, alone, asked: null, drafts: new Runner(), ran: [], found: [],
                             last: {texts: {}, found: []}});
        this.board = new Board(place, told, {move: (...all) => this.move(...all), stretch: (...all) => this.stretch(...all),
                                              cancel: () => this.cancel(), chose: page.chose});
        this.restore();
        const chosen = act => () => {
            if (this.board.slot()) act();
            else page.say('choose a box first', 'bad');
        };
        buttons.earlier.onclick = chosen(() => this.board.step(-1, true));
        buttons.later.onclick = chosen(() => this.board.step(1, true));
        buttons.shorter.onclick = chosen(() => this.stretch(this.board.slot(), 1 / 1.1, true));
        buttons.longer.onclick = chosen(() => this.stretch(this.board.slot(), 1.1, true));
        buttons.undo.onclick = () => this.undo();
    }

    // steps: of each variant what can be undone, the newest last; chosen: a slot, {worker, at}, which is chosen as soon as
    // there are slots.
    restore({steps = {a: [], b: []}, chosen = null} = {}) {
        Object.assign(this, {steps, wanted: chosen});
        this.board.chosen = null;
    }

    // What restore() takes.
    kept() {
        return {steps: this.steps, chosen: this.wanted || this.board.chosen};
    }

    order() {
        const {state} = this.page, text = state.orders[state.shown];
        return usesOrder(state[state.shown], text) ? new Order(text) : null;
    }

    // What the last run of the shown variant gave: its tables by name (none where it failed), and what was said of the
    // order's file.
    see(texts, found) {
        this.last = {texts, found};
        this.take(texts, found);
    }

    take(texts, found) {
        this.ran = texts['operations.csv'] ? slotsThatRan(texts['operations.csv']) : [];
        this.found = found;
        this.draw();
    }

    // A box was dragged and never let go: what was drawn of it goes.
    cancel() {
        this.asked = null;
        this.drafts.cancel();
        this.take(this.last.texts, this.last.found);
        this.page.drafted(this.last.texts);
    }

    draw() {
        if (!this.box.open) return;
        const order = this.order(), marks = new Map();
        for (const {line, text} of order ? this.found : []) {
            const at = order.at(line);
            if (at) marks.set(`${at.worker}:${at.at}`, text);
        }
        let workers = order ? this.ran.length ? order.timed(this.ran) || order.workers : order.workers : this.ran;
        const count = workers.reduce((sum, slots) => sum + slots.length, 0);
        this.box.classList.toggle('none', !count || count > BOXES_MOST);
        if (count > BOXES_MOST) workers = [];
        this.box.querySelector('.many').textContent = !count ? 'There is no order of a pipeline in this result.'
            : count > BOXES_MOST ? `${count} slots are too many to be changed by hand here: stagesim export --to schedule ` +
                                   'writes them to a file.' : '';
        this.board.show(workers, marks);
        const {wanted} = this;
        if (!wanted || !workers.length) return;
        this.wanted = null;
        if (this.board.slot(wanted)) this.board.choose(wanted.worker, wanted.at);
    }

    // In words: where in the order a message belongs.
    slotOf(line) {
        const order = this.order(), at = order?.at(line);
        return at ? `worker ${at.worker}, slot ${at.at + 1} (${nameOf(order.workers[at.worker][at.at])})` : '';
    }

    choose(line) {
        const at = this.order()?.at(line);
        this.box.open = true;
        this.draw();
        if (at) this.board.choose(at.worker, at.at);
        this.board.svg.focus();
    }

    remember() {
        const {state} = this.page, {shown} = state;
        this.steps[shown].push({text: state[shown], order: state.orders[shown]});
    }

    undo() {
        const {state, say, view, changed} = this.page, {shown} = state, step = this.steps[shown].pop();
        if (!step) {
            say('nothing to undo here', 'bad');
            return;
        }
        state.orders[shown] = step.order;
        if (view.state.doc.toString() === step.text) changed();
        else view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: step.text}});
    }

    // The order as the job runs it, which the engine writes.
    async exported() {
        const {state, FILE, filesOf, say} = this.page, {shown} = state, text = state[shown];
        const done = await this.drafts.run(['export', FILE, '--to', 'schedule', '--engine', 'analytic'],
                                           {files: filesOf(text, null)});
        if (!done || state[shown] !== text || state.shown !== shown) return null;
        if (done.code === 0) return new Order(done.output);
        say(`this order cannot be changed by hand: ${done.messages.trim().split('\n')[0]}`, 'bad');
        return null;
    }

    async move(worker, from, to, done) {
        if (!done) return;
        const {state, view, changed} = this.page, own = this.order(), order = own || await this.exported();
        if (!order) return;
        const places = order.workers[worker].flatMap((slot, at) => own || takesTime(slot.kind) ? [at] : []);
        const made = order.moved(worker, places[from], places[to]);
        this.remember();
        state.orders[state.shown] = made.text();
        this.board.chosen = {worker, at: own ? to : places[to]};
        this.found = [];
        if (own) {
            this.board.show(made.workers);
            changed();
        } else {
            view.dispatch({changes: changeAt(view.state, ['schedule'], `{file: ${ORDER_FILE}}`)});
        }
    }

    stretch(slot, factor, done) {
        const {state, view, say, filesOf} = this.page, reason = refusal(view.state, slot.kind);
        if (reason) {
            say(reason, 'bad');
            return;
        }
        const {workers} = this.board, stages = 1 + Math.max(...workers.flat().map(each => each.stage));
        const shares = +scalarAt(view.state, ['parallel', 'pipeline']) || workers.length;
        const changes = lengthen(view.state, slot.kind, factor, {
            split: workers.some(slots => slots.some(each => each.kind.includes('W'))), shares,
            share: this.alone.checked ? Math.floor(slot.stage * shares / stages) : null});
        if (done) {
            this.asked = null;
            this.remember();
            view.dispatch({changes});
        } else {
            this.asked = filesOf(view.state.update({changes}).newDoc.toString(), state.orders[state.shown]);
            this.draft();
        }
    }

    // While a box is dragged: the newest wish is simulated as soon as the one before has been drawn.
    async draft() {
        if (this.busy) return;
        this.busy = true;
        try {
            while (this.asked) {
                const files = this.asked;
                this.asked = null;
                const done = await this.drafts.run(['run', this.page.FILE, '--engine', 'analytic', ...TABLES.words],
                                                   {files, out: TABLES.out, wanted: TABLES.wanted});
                if (!done || done.code !== 0 || !this.board.drag) continue;
                this.take(done.texts, []);
                this.page.drafted(done.texts);
            }
        } catch (error) {
            this.page.say(error.message, 'bad');
        } finally {
            this.busy = false;
        }
    }
}
