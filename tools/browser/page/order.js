// SPDX-License-Identifier: Apache-2.0
// The order of a pipeline as a schedule file (CSV): its slots by worker, the moves of a slot, and when slots run.
export const ORDER_FILE = 'order.csv';

// Whether slots of a kind take time of a device: not what is sent, or moved away and loaded back.
export const takesTime = kind => !/^[ELPQG]/.test(kind);

// Without quotes: neither schedule files nor tables of operations have any.
const tableOf = text => {
    const [head, ...rows] = text.replace(/\s+$/, '').split(/\r?\n/).map(line => line.split(','));
    return {head, rows, at: name => head.indexOf(name)};
};

// Rows of a worker that stand together and have one index are one block, which moves as a whole.
export class Order {
    // Slots of a worker are {kind, stage, batch, pipeline, part, line, cells: [cells of its rows]}.
    constructor(text) {
        const {head, rows, at} = tableOf(text), [worker, index] = [at('worker'), at('index')];
        this.head = head;
        this.workers = [];
        rows.forEach((cells, i) => {
            const slots = this.workers[+cells[worker]] ||= [], last = slots[slots.length - 1];
            if (index >= 0 && last && last.index === cells[index]) {
                last.cells.push(cells);
                last.kind += cells[at('kind')];
            } else {
                slots.push({kind: cells[at('kind')], stage: +cells[at('stage')], batch: +cells[at('micro_batch')],
                            part: cells[at('part')] || '', index: cells[index], line: i + 2, cells: [cells]});
            }
        });
        for (let i = 0; i < this.workers.length; i++) this.workers[i] ||= [];
    }

    // The order with a slot of a worker at another place.
    moved(worker, from, to) {
        const slots = [...this.workers[worker]], [slot] = slots.splice(from, 1);
        slots.splice(to, 0, slot);
        return new Order(this.text(this.workers.map((each, i) => i === worker ? slots : each)));
    }

    text(workers = this.workers) {
        const index = this.head.indexOf('index'), lines = [this.head.join(',')];
        for (const slots of workers)
            slots.forEach((slot, number) => {
                for (const cells of slot.cells)
                    lines.push(cells.map((cell, i) => i === index ? number : cell).join(','));
            });
        return lines.join('\n') + '\n';
    }

    // {worker, at} of the slot whose row is a line of the file, or null.
    at(line) {
        for (let worker = 0; worker < this.workers.length; worker++) {
            const at = this.workers[worker].findIndex(({line: first, cells}) => line >= first && line < first + cells.length);
            if (at >= 0) return {worker, at};
        }
        return null;
    }

    // With start and end of each slot, in seconds, where as many ran; null where not.
    timed(ran) {
        const taken = this.workers.map(slots => slots.filter(slot => takesTime(slot.kind)));
        if (!ran.length || taken.some((slots, i) => slots.length !== (ran[i] || []).length)) return null;
        const times = new Map();
        taken.forEach((slots, worker) => slots.forEach((slot, i) => times.set(slot, ran[worker][i])));
        return this.workers.map(slots => slots.map(slot => ({...slot, start: times.get(slot)?.start,
                                                            end: times.get(slot)?.end})));
    }
}

// Slots of a worker with the letters that the table calls `other`. Of a micro-batch in a stage two are the passes S and T
// of the output layer; one is a forward that is computed again.
const named = slots => {
    const others = new Map(), of = ({stage, batch, part}) => `${stage}:${batch}:${part}`;
    for (const slot of slots) if (slot.kind === 'other') others.set(of(slot), [...others.get(of(slot)) || [], slot]);
    return slots.map(slot => {
        const alike = slot.kind === 'other' && others.get(of(slot));
        return alike ? {...slot, kind: alike.length < 2 ? 'R' : alike[0] === slot ? 'S' : 'T'} : slot;
    });
};

// The slots that ran, by worker: of operations.csv those of the first iteration, of one replica of each worker. Of a block
// ("0+3") stage and micro-batch are those of its first part, as in an order.
export const slotsThatRan = operations => {
    const {rows, at} = tableOf(operations), workers = [], ranks = [];
    const [rank, position, stream, kind, batch, iteration, id] =
        ['rank', 'position', 'stream', 'kind', 'micro_batch', 'iteration', 'id'].map(at);
    const [stage, part, start, end] = ['stage', 'part', 'start_s', 'end_s'].map(at);
    for (const cells of rows) {
        const worker = +cells[position];
        if (cells[stream] !== 'compute' || (cells[iteration] ?? '0') !== '0' || cells[batch] === '' ||
            !/^([FBWR]{1,2}|other)$/.test(cells[kind]) || (ranks[worker] ??= cells[rank]) !== cells[rank]) continue;
        (workers[worker] ||= []).push({kind: cells[kind], stage: parseInt(cells[stage], 10), batch: parseInt(cells[batch], 10),
                                       part: cells[part], id: +cells[id], start: +cells[start], end: +cells[end]});
    }
    return Array.from(workers, slots => named((slots || []).sort((a, b) => a.id - b.id)));
};
