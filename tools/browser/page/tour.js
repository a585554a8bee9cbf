// SPDX-License-Identifier: Apache-2.0
// Ten steps from the first bubble to a layout: each has a scenario, a question, and an answer by moving something.
const stages = (platform, schedule, batches, more = '') => `platform: ${platform}
workload: stages
stages: {forward: 10ms, backward: 20ms${more}}
parallel: {pipeline: 4}
batch: {micro_batches: ${batches}}
schedule: ${schedule}
`;
const heavy = ', message: 30MB, activation: 12GiB';
const model = (name, nodes, parallel, batch, more = '') => `platform: dgx-h100:${nodes}
workload: transformer
model: ${name}
parallel: ${parallel}
batch: ${batch}
schedule: 1f1b
${more}`;

// met: whether the question is answered, by summary.json and the scenario's text.
export const STEPS = [
    {title: 'The bubble', start: stages('ideal:4', 'gpipe', 1),
     text: 'Four GPUs hold a quarter of a network each. With one micro-batch only one of them works at a time: 75 % of ' +
           'their time is idle. This is the bubble.',
     question: 'With how many micro-batches are they idle for less than 30 %? Move the slider.',
     met: run => run.bubble?.ratio < 0.3,
     answer: 'With eight or more: of m + 3 turns each GPU misses 3, so the bubble is 3 / (m + 3).'},
    {title: '1F1B', start: stages('dgx-h100:1', 'gpipe', 8, heavy),
     text: 'GPipe runs all forwards first, so that a GPU keeps the activations of all eight micro-batches. That does not fit.',
     question: 'Which schedule takes as long and fits? Choose one under Schedule.',
     met: run => run.memory && run.memory.fits && run.time.iteration_s < 0.34,
     answer: '1F1B, for instance: after four forwards each backward makes room for the next forward.'},
    {title: 'Interleaving', start: stages('ideal:4', '1f1b', 8),
     text: '1F1B has the bubble of GPipe: 27 %. If each GPU holds two thin slices of the network in place of a thick one, ' +
           'the pipeline fills in half the time.',
     question: 'Find the schedule that does this. The bubble has to be below 20 %.',
     met: (run, text) => run.bubble?.ratio < 0.2 && /interleaved|breadth/.test(text),
     answer: 'interleaved. Its price: twice as many messages, and more activations.'},
    {title: 'Zero bubble', start: stages('ideal:4', 'zb-h1', 8),
     text: 'A backward has two halves: one that the GPU before waits for, and the gradients of weights, which can wait ' +
           'themselves. zb-h1 fills holes with them.',
     question: 'Which schedules of this kind leave almost no hole, less than 1 %?',
     met: run => run.bubble?.ratio < 0.01,
     answer: 'zb-h2 and zb-v. zb-h2 pays with memory, zb-v by giving each GPU the first and the last slices.'},
    {title: 'Two directions', start: stages('ideal:4', 'gpipe', 4),
     text: 'With few micro-batches all this helps little. Here are four, and a bubble of 43 %. Two pipelines in opposite ' +
           'directions over the same GPUs fill each other’s holes.',
     question: 'Find the schedule with two directions and a bubble of 25 %.',
     met: (run, text) => run.bubble?.ratio < 0.26 && /chimera|gems|bitpipe|dualpipe/.test(text),
     answer: 'chimera. Each GPU holds two stages, so the weights take twice the memory.'},
    {title: 'Memory', start: stages('dgx-h100:1', '1f1b', 8, heavy),
     text: '1F1B keeps four micro-batches on the first GPU: 48 GiB here. The last GPU keeps one. Schedules in the form of ' +
           'a V give every GPU the same.',
     question: 'Get below 30 GiB.',
     met: run => run.memory && run.memory.peak_bytes < 30 * 2 ** 30,
     answer: 'v-min takes half of it, and v-half three quarters with less idle time.'},
    {title: 'Tensor parallelism', start: model('llama3-70b', 4, '{tensor: 8, pipeline: 4, data: 1}', '{global: 32, micro: 1}'),
     text: 'Eight GPUs of a node divide each matrix. They exchange activations after every layer, and small matrices are ' +
           'slower than large ones.',
     question: 'Divide by fewer, and use the GPUs for two replicas: tensor times stages times data is 32. Get below 11 s.',
     met: run => run.time.iteration_s < 11,
     answer: 'tensor 4, data 2. But a GPU has to hold more then: see the verdict.'},
    {title: 'And its network', start: model('llama3-70b', 4, '{tensor: 16, pipeline: 2, data: 1}', '{global: 32, micro: 1}',
                                            'what_if: [nic=0.1]\n'),
     text: 'Sixteen GPUs are two nodes: the exchanges of every layer cross the network, which is slow here, at a tenth.',
     question: 'Which division makes the slow network almost harmless? Get below 12 s.',
     met: run => run.time.iteration_s < 12,
     answer: 'tensor 8 and 4 stages: within a node the exchanges do not see the network.'},
    {title: 'Data parallelism', start: model('llama3-8b', 4, '{data: 32}', '{global: 128, micro: 1}', 'what_if: [nic=0.1]\n'),
     text: 'Thirty-two replicas add up their gradients once an iteration. Over the slow network this takes a quarter of ' +
           'the time.',
     question: 'How can the GPUs be idle for less than 8 %, with the network as it is?',
     met: (run, text) => run.bubble?.ratio < 0.08 && /nic=0\.1\b/.test(text),
     answer: 'With a global batch of 512: the gradients are the same, and there is four times the work to hide them.'},
    {title: 'Search', start: model('llama3-70b', 4, '{tensor: 8, pipeline: 2, data: 2}', '{global: 128, micro: 1}',
                                   'transformer: {sequence_parallel: true, tensor_overlap: true, zero: 1}\n'
                                   + 'compute: {precision: fp8}\n').replace('1f1b', 'zb-h1'),
     text: 'Now all of it together: stages, tensor, data, schedule, memory. What is best alone need not be best here: ' +
           'the halves of zb-h1 hide less of the tensor exchanges.',
     question: 'Find a schedule that fits in memory and takes less than 20 s.',
     met: run => run.memory && run.memory.fits && run.time.iteration_s < 20,
     answer: '1f1b. On the command line, stagesim search tries every legal layout: copy the scenario and ask it.'},
];

export class Tour {
    // place: where it is shown; setText(text): begins a step.
    constructor(place, setText) {
        Object.assign(this, {place, setText, at: -1, said: false});
    }

    go(number) {
        this.at = Math.min(Math.max(number, 0), STEPS.length - 1);
        this.said = false;
        const step = STEPS[this.at], make = (name, text, id) => {
            const node = document.createElement(name);
            node.textContent = text;
            if (id) node.id = id;
            return node;
        };
        const button = (text, id, act, off) => {
            const node = make('button', text, id);
            node.type = 'button';
            node.disabled = off;
            node.onclick = act;
            return node;
        };
        const buttons = make('p', '');
        buttons.append(button('Back', 'tour-back', () => this.go(this.at - 1), this.at === 0), ' ',
                       button('Next', 'tour-next', () => this.go(this.at + 1), this.at === STEPS.length - 1), ' ',
                       button('Show the answer', 'tour-answer', () => this.tell(''), false), ' ',
                       button('Close', 'tour-close', () => this.close(), false));
        const answer = make('p', '', 'tour-said');
        answer.setAttribute('role', 'status');
        this.place.replaceChildren(make('h2', `${this.at + 1} of ${STEPS.length}: ${step.title}`), make('p', step.text),
                                   make('p', step.question, 'tour-question'), answer, buttons);
        this.place.hidden = false;
        this.setText(step.start);
    }

    close() {
        this.at = -1;
        this.place.hidden = true;
    }

    tell(before) {
        this.said = true;
        document.getElementById('tour-said').textContent = before + STEPS[this.at].answer;
    }

    // After each run.
    see(summary, text) {
        if (this.at >= 0 && !this.said && STEPS[this.at].met(summary, text)) this.tell('Yes. ');
    }
}
