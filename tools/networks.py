#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the networks that come with the workload `layers`, from the published shapes of their architectures.

networks.py DIRECTORY        writes NAME.yaml for each network networks.py --check DIRECTORY compares, and prints what
differs

A row is a convolution with its normalisation and activation function, a pooling or a dense layer. Counts are of one
sample:

flops        of the forward, 2 for each multiply-add of convolutions and matrix products; nothing else is counted
parameters   normalisations and biases included
inputs, outputs   elements read and written
activations  elements kept from the forward to the backward: the output; with batch normalisation that of the
             convolution, too
boundary     elements that cross a cut behind the row: also what later rows still need of earlier ones
from, added  rows that it reads, where that is not the row before, and rows whose outputs are added to its own
channels, height, width   shape of the output; kernel, stride and padding: how it follows from the input's
weights      the row whose weights it uses, too
"""
import pathlib
import sys


class Network:
    def __init__(self, channels, height, width):
        self.rows, self.image = [], (channels, height, width)

    def shape(self, node):
        return self.image if node is None else self.rows[node]["shape"]

    def elements(self, node):
        channels, height, width = self.shape(node)
        return channels * height * width

    def add(self, name, kind, sources, shape, macs=0, parameters=0, kept=1, steps=1, added=(), window=(), weights=None):
        """A row; the number by which later ones name it. `kept`: outputs that the backward needs. `window`: kernel,
        stride and padding, each of height and width."""
        outputs, read = shape[0] * shape[1] * shape[2], [*sources, *added]
        self.rows.append({"name": name, "kind": kind, "sources": read, "from": sources, "added": list(added),
                          "shape": shape, "flops": 2 * macs, "parameters": parameters,
                          "inputs": sum(self.elements(node) for node in read), "outputs": outputs,
                          "activations": kept * outputs, "steps": steps, "window": window, "weights": weights})
        return len(self.rows) - 1

    def convolution(self, name, source, channels, kernel, stride=1, pad=0, norm=True, added=()):
        """`source`: a node, or a list whose channels are concatenated. `added`: nodes whose outputs are added to this
        one's."""
        sources = source if isinstance(source, list) else [source]
        kernel, pad = [pair if isinstance(pair, tuple) else (pair, pair) for pair in (kernel, pad)]
        inputs = sum(self.shape(node)[0] for node in sources)
        height, width = [(size + 2 * pad[i] - kernel[i]) // stride + 1 for i,
                         size in enumerate(self.shape(sources[0])[1:])]
        weights = inputs * channels * kernel[0] * kernel[1]
        return self.add(name, "convolution", sources, (channels, height, width), weights * height * width,
                        weights + (2 if norm else 1) * channels, kept=2 if norm else 1, added=added,
                        window=(kernel, (stride, stride), pad))

    def pool(self, name, source, kernel, stride, pad=0):
        sources = source if isinstance(source, list) else [source]
        channels = sum(self.shape(node)[0] for node in sources)
        height, width = [(size + 2 * pad - kernel) // stride + 1 for size in self.shape(sources[0])[1:]]
        return self.add(name, "pooling", sources, (channels, height, width),
                        window=((kernel, kernel), (stride, stride), (pad, pad)))

    def average(self, name, source):
        sources = source if isinstance(source, list) else [source]
        return self.add(name, "pooling", sources, (sum(self.shape(node)[0] for node in sources), 1, 1))

    def dense(self, name, source, outputs, length=1):
        inputs = self.elements(source) // length
        return self.add(name, "dense", [source], (outputs, length, 1), length * inputs * outputs,
                        inputs * outputs + outputs)

    def boundary(self, last):
        """What rows behind `last` read of rows up to it."""
        used = {node for row in self.rows[last + 1:] for node in row["sources"] if node is not None and node <= last}
        return sum(self.elements(node) for node in used)

    def place(self, i):
        """Keys of what a row reads, and of its shape."""
        row, pairs = self.rows[i], []
        names = {key: [self.rows[node]["name"] for node in row[key] if node is not None] for key in ("from", "added")}
        if i and row["from"] != [i - 1]:
            pairs.append(("from", names["from"] or ["input"]))
        pairs += [("added", names["added"])] if names["added"] else []
        pairs += [("weights", self.rows[row["weights"]]["name"])] if row["weights"] is not None else []
        pairs += [(key, size) for key, size in zip(("channels", "height", "width"), row["shape"]) if size > 1]
        for key, pair, default in zip(("kernel", "stride", "padding"), row["window"], (1, 1, 0)):
            if pair != (default, default):
                pairs.append((key, pair[0] if pair[0] == pair[1] else list(pair)))
        if row["window"] and not any(key in ("kernel", "stride", "padding") for key, _ in pairs):
            pairs.append(("kernel", 1))
        return [f"{key}: " + (f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)) for key,
                value in pairs]

    def write(self, head):
        lines = head + [f"parameters: {sum(row['parameters'] for row in self.rows)}",
                        f"input: {list(self.image)}", "layers:"]
        for i, row in enumerate(self.rows):
            keys = ["name", "kind", "flops", "parameters", "inputs", "outputs",
                    "activations"] + (["steps"] if row["steps"] > 1 else [])
            keys = [key for key in keys if key != "parameters" or row["weights"] is None]
            cells = [f"{key}: {row[key]}" for key in keys] + [f"boundary: {self.boundary(i)}"] + self.place(i)
            lines.append("- {" + ", ".join(cells) + "}")
        return "\n".join(lines) + "\n"


def alexnet():
    net, node = Network(3, 224, 224), None
    node = net.convolution("conv1", node, 64, 11, 4, 2, norm=False)
    node = net.pool("pool1", node, 3, 2)
    node = net.convolution("conv2", node, 192, 5, 1, 2, norm=False)
    node = net.pool("pool2", node, 3, 2)
    for number, channels in ((3, 384), (4, 256), (5, 256)):
        node = net.convolution(f"conv{number}", node, channels, 3, 1, 1, norm=False)
    node = net.pool("pool5", node, 3, 2)
    for number, outputs in ((6, 4096), (7, 4096), (8, 1000)):
        node = net.dense(f"fc{number}", node, outputs)
    return net


def lenet():
    """Every map of the second convolution reads all maps of the first pooling."""
    net = Network(1, 28, 28)
    node = net.pool("pool1", net.convolution("conv1", None, 6, 5, 1, 2, norm=False), 2, 2)
    node = net.pool("pool2", net.convolution("conv2", node, 16, 5, norm=False), 2, 2)
    for number, outputs in ((3, 120), (4, 84), (5, 10)):
        node = net.dense(f"fc{number}", node, outputs)
    return net


def vgg(*counts):
    """`counts`: convolutions of each block."""
    net, node = Network(3, 224, 224), None
    for block, (count, channels) in enumerate(zip(counts, (64, 128, 256, 512, 512)), 1):
        for number in range(1, count + 1):
            node = net.convolution(f"conv{block}_{number}", node, channels, 3, 1, 1, norm=False)
        node = net.pool(f"pool{block}", node, 2, 2)
    for number, outputs in ((6, 4096), (7, 4096), (8, 1000)):
        node = net.dense(f"fc{number}", node, outputs)
    return net


def resnet_basic(*counts):
    """ResNets of blocks of two convolutions; `counts`: blocks of each group."""
    net = Network(3, 224, 224)
    node = net.pool("pool1", net.convolution("conv1", None, 64, 7, 2, 3), 3, 2, 1)
    for group, (blocks, channels) in enumerate(zip(counts, (64, 128, 256, 512)), 2):
        for block in range(1, blocks + 1):
            stride, name = 2 if group > 2 and block == 1 else 1, f"conv{group}_{block}"
            shortcut = net.convolution(f"{name}_shortcut", node, channels, 1, stride) if stride == 2 else node
            inner = net.convolution(f"{name}_1", node, channels, 3, stride, 1)
            node = net.convolution(f"{name}_2", inner, channels, 3, 1, 1, added=[shortcut])
    net.dense("fc", net.average("pool5", node), 1000)
    return net


def resnet(*counts):
    """ResNets of bottlenecks; `counts`: blocks of each group."""
    net = Network(3, 224, 224)
    node = net.pool("pool1", net.convolution("conv1", None, 64, 7, 2, 3), 3, 2, 1)
    for group, (blocks, channels) in enumerate(zip(counts, (64, 128, 256, 512)), 2):
        for block in range(1, blocks + 1):
            stride, name = 2 if group > 2 and block == 1 else 1, f"conv{group}_{block}"
            shortcut = net.convolution(f"{name}_shortcut", node, 4 * channels, 1, stride) if block == 1 else node
            inner = net.convolution(f"{name}_1", node, channels, 1)
            inner = net.convolution(f"{name}_2", inner, channels, 3, stride, 1)
            node = net.convolution(f"{name}_3", inner, 4 * channels, 1, added=[shortcut])
    net.dense("fc", net.average("pool5", node), 1000)
    return net


def chain(net, name, source, steps):
    """Convolutions one behind the other: (channels, kernel[, stride[, pad]])."""
    for number, step in enumerate(steps, 1):
        channels, kernel, stride, pad = (step + (1, 0)[len(step) - 2:])[:4]
        source = net.convolution(f"{name}_{number}" if len(steps) > 1 else name, source, channels, kernel, stride, pad)
    return source


def inception_a(net, name, source, pooled):
    return [chain(net, f"{name}_1x1", source, [(64, 1)]), chain(net, f"{name}_5x5", source, [(48, 1), (64, 5, 1, 2)]),
            chain(net, f"{name}_3x3", source, [(64, 1), (96, 3, 1, 1), (96, 3, 1, 1)]),
            chain(net, f"{name}_pooled", net.pool(f"{name}_pool", source, 3, 1, 1), [(pooled, 1)])]


def inception_c(net, name, source, inner):
    row, column = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
    return [chain(net, f"{name}_1x1", source, [(192, 1)]),
            chain(net, f"{name}_7x7", source, [(inner, 1), (inner, *row), (192, *column)]),
            chain(net, f"{name}_7x7double", source,
                  [(inner, 1), (inner, *column), (inner, *row), (inner, *column), (192, *row)]),
            chain(net, f"{name}_pooled", net.pool(f"{name}_pool", source, 3, 1, 1), [(192, 1)])]


def inception_e(net, name, source):
    row, column = ((1, 3), 1, (0, 1)), ((3, 1), 1, (1, 0))
    single = chain(net, f"{name}_1x1", source, [(320, 1)])
    three = chain(net, f"{name}_3x3", source, [(384, 1)])
    three = [chain(net, f"{name}_3x3{side}", three, [(384, *kernel)]) for side,
             kernel in (("row", row), ("column", column))]
    double = chain(net, f"{name}_double", source, [(448, 1), (384, 3, 1, 1)])
    double = [chain(net, f"{name}_double{side}", double, [(384, *kernel)]) for side,
              kernel in (("row", row), ("column", column))]
    return [single, *three, *double,
            chain(net, f"{name}_pooled", net.pool(f"{name}_pool", source, 3, 1, 1), [(192, 1)])]


def inception_v3():
    net = Network(3, 299, 299)
    node = chain(net, "conv1", None, [(32, 3, 2), (32, 3), (64, 3, 1, 1)])
    node = chain(net, "conv2", net.pool("pool1", node, 3, 2), [(80, 1), (192, 3)])
    node = net.pool("pool2", node, 3, 2)
    for name, pooled in (("5b", 32), ("5c", 64), ("5d", 64)):
        node = inception_a(net, f"mixed{name}", node, pooled)
    node = [chain(net, "mixed6a_3x3", node, [(384, 3, 2)]),
            chain(net, "mixed6a_double", node, [(64, 1), (96, 3, 1, 1), (96, 3, 2)]),
            net.pool("mixed6a_pool", node, 3, 2)]
    for name, inner in (("6b", 128), ("6c", 160), ("6d", 160), ("6e", 192)):
        node = inception_c(net, f"mixed{name}", node, inner)
    node = [chain(net, "mixed7a_3x3", node, [(192, 1), (320, 3, 2)]),
            chain(net, "mixed7a_7x7", node,
                  [(192, 1), (192, (1, 7), 1, (0, 3)), (192, (7, 1), 1, (3, 0)), (192, 3, 2)]),
            net.pool("mixed7a_pool", node, 3, 2)]
    for name in ("7b", "7c"):
        node = inception_e(net, f"mixed{name}", node)
    net.dense("fc", net.average("pool3", node), 1000)
    return net


def lstm():
    """Word by word, 35 words; a step of a cell keeps its four gates, the state and its tanh, and the output."""
    net, vocabulary, width, words = Network(1, 35, 1), 10000, 1500, 35
    node = net.add("embedding", "embedding", [None], (width, words, 1), parameters=vocabulary * width)
    for number in (1, 2):
        weights = 4 * width * 2 * width
        node = net.add(f"lstm{number}", "recurrent", [node], (width, words, 1), words * weights, weights + 4 * width,
                       kept=7, steps=words)
    net.dense("softmax", node, vocabulary, length=words)
    return net


WORDS, CHUNK = 40, 10  # of a sequence; that one operator takes


def embed(net, name, vocabulary, width):
    """The operators of an embedding: one for each piece of the sequence, with the same table."""
    nodes = []
    for piece in range(WORDS // CHUNK):
        nodes.append(net.add(f"{name}_{piece + 1}", "embedding", [None], (width, CHUNK, 1),
                             parameters=0 if piece else vocabulary * width, weights=nodes[0] if piece else None))
    return nodes


def recurrent(net, name, sources, width, before=None):
    """The operators of an LSTM: each reads its piece of the input and what the one before has written; the first one
    may read `before`. A step keeps its four gates, the state and its tanh, and the output."""
    nodes = []
    for piece, source in enumerate(sources):
        inputs = net.shape(source)[0]
        state = nodes[-1:] or ([before] if before is not None else [])
        weights = 4 * width * (inputs + width)
        nodes.append(net.add(f"{name}_{piece + 1}", "recurrent", [source] + state, (width, CHUNK, 1), CHUNK * weights,
                             0 if piece else weights + 8 * width, kept=7, steps=CHUNK,
                             weights=nodes[0] if piece else None))
    return nodes


def project(net, name, sources, outputs):
    """The operators of a dense layer over the channels of each word."""
    nodes = []
    for piece, source in enumerate(sources):
        weights = net.shape(source)[0] * outputs
        nodes.append(net.add(f"{name}_{piece + 1}", "dense", [source], (outputs, CHUNK, 1), CHUNK * weights,
                             0 if piece else weights + outputs, weights=nodes[0] if piece else None))
    return nodes


def attend(net, name, sources, encoded, width):
    """Luong's attention with scores by dot product: scores and contexts over all words of the encoder, and a dense
    layer over context and state. A word reads all words: a kernel that reaches all of them."""
    nodes = []
    for piece, source in enumerate(sources):
        products = 2 * CHUNK * WORDS * width + CHUNK * 2 * width * width
        everywhere = ((2 * CHUNK - 1, 1), (1, 1), (CHUNK - 1, 0))
        nodes.append(net.add(f"{name}_{piece + 1}", "dense", [source] + encoded, (width, CHUNK, 1), products,
                             0 if piece else 2 * width * width, window=everywhere,
                             weights=nodes[0] if piece else None))
    return nodes


def rnntc():
    net = Network(1, CHUNK, 1)
    nodes = embed(net, "embedding", 10000, 1024)
    for number in range(1, 5):
        nodes = recurrent(net, f"lstm{number}", nodes, 1024)
    net.add("softmax", "dense", nodes[-1:], (2, 1, 1), 1024 * 2, 1024 * 2 + 2,
            window=((1, 1), (CHUNK, 1), (0, 0)))
    return net


def rnnlm():
    net = Network(1, CHUNK, 1)
    nodes = embed(net, "embedding", 10000, 2048)
    for number in (1, 2):
        nodes = recurrent(net, f"lstm{number}", nodes, 2048)
    project(net, "softmax", nodes, 10000)
    return net


def nmt():
    net, width, vocabulary = Network(1, CHUNK, 1), 1024, 32000
    encoded = embed(net, "source", vocabulary, width)
    last = []
    for number in (1, 2):
        encoded = recurrent(net, f"encoder{number}", encoded, width)
        last.append(encoded[-1])
    decoded = embed(net, "target", vocabulary, width)
    for number in (1, 2):
        decoded = recurrent(net, f"decoder{number}", decoded, width, before=last[number - 1])
    project(net, "softmax", attend(net, "attention", decoded, encoded, width), vocabulary)
    return net


NETWORKS = {
    "alexnet": (alexnet, "AlexNet, 224 x 224 images: 61,100,840 parameters, 0.714 G multiply-adds forward",
                "The single-tower form: Krizhevsky, One weird trick, 2014 (arXiv 1404.5997); counts as in "
                "torchvision."),
    "inception-v3": (inception_v3,
                     "Inception-v3 without auxiliary classifier, 299 x 299 "
                     "images: 23,834,568 parameters, 5.713 G multiply-adds",
                     "Szegedy et al. 2015 (arXiv 1512.00567), "
                     "as in torchvision; the auxiliary classifier would add 3,326,696 parameters."),
    "lstm-ptb": (lstm,
                 "LSTM " "of " "two " "layers " "of " "1,500, " "35 " "words " "of " "10,000: " "66,022,000 "
                 "parameters, " "1.785 " "G " "multiply-adds",
                 "The large model of Zaremba, Sutskever and Vinyals 2014 " "(arXiv 1409.2329): 66 M parameters."),
    "nmt": (nmt, "Translation, 40 words of 32,000: encoder and decoder of two LSTM of 1,024, attention: 134,020,352 "
            "parameters, 2.740 G multiply-adds",
            "The NMT of Jia et al. 2019 (arXiv 1807.05358); an operator takes 10 words, those of a layer share weights."
            " Attention as Luong et al. 2015 (arXiv 1508.04025), scores by dot product."),
    "resnet-101": (lambda: resnet(3, 4, 23, 3),
                   "ResNet-101, 224 x 224 images: 44,549,160 parameters, 7.801 G multiply-adds",
                   "He et al. 2015 (arXiv 1512.03385), the stride in the 3 x 3 convolution, as in torchvision."),
    "rnnlm": (rnnlm, "Language model, 40 words of 10,000, two LSTM of 2,048: 108,111,632 parameters, 3.504 G "
              "multiply-adds",
              "The RNNLM of Jia et al. 2019 (arXiv 1807.05358); an operator takes 10 words, those of a layer share "
              "weights."),
    "rnntc": (rnntc, "Classification of texts, 40 words of 10,000, four LSTM of 1,024: 43,829,250 parameters, 1.342 G "
              "multiply-adds",
              "The RNNTC of Jia et al. 2019 (arXiv 1807.05358); an operator takes 10 words, those of a layer share "
              "weights. The vocabulary is ours."),
    "resnet-50": (lambda: resnet(3, 4, 6, 3),
                  "ResNet-50, 224 x 224 images: 25,557,032 parameters, 4.089 G multiply-adds",
                  "He et al. 2015 (arXiv 1512.03385), the stride in the 3 x 3 convolution, as in torchvision."),
    "vgg-16": (lambda: vgg(2, 2, 3, 3, 3), "VGG-16, 224 x 224 images: 138,357,544 parameters, 15.470 G multiply-adds",
               "Simonyan and Zisserman 2014 (arXiv 1409.1556), configuration D without normalisation."),
    "vgg-11": (lambda: vgg(1, 1, 2, 2, 2), "VGG-11, 224 x 224 images: 132,863,336 parameters, 7.609 G multiply-adds",
               "Simonyan and Zisserman 2014 (arXiv 1409.1556), configuration A without normalisation."),
    "vgg-13": (lambda: vgg(2, 2, 2, 2, 2), "VGG-13, 224 x 224 images: 133,047,848 parameters, 11.308 G multiply-adds",
               "Simonyan and Zisserman 2014 (arXiv 1409.1556), configuration B without normalisation."),
    "vgg-19": (lambda: vgg(2, 2, 4, 4, 4), "VGG-19, 224 x 224 images: 143,667,240 parameters, 19.632 G multiply-adds",
               "Simonyan and Zisserman 2014 (arXiv 1409.1556), configuration E without normalisation."),
    "resnet-18": (lambda: resnet_basic(2, 2, 2, 2),
                  "ResNet-18, 224 x 224 images: 11,689,512 parameters, 1.814 G multiply-adds",
                  "He et al. 2015 (arXiv 1512.03385), projections where the shape changes, as in torchvision."),
    "resnet-34": (lambda: resnet_basic(3, 4, 6, 3),
                  "ResNet-34, 224 x 224 images: 21,797,672 parameters, 3.664 G multiply-adds",
                  "He et al. 2015 (arXiv 1512.03385), projections where the shape changes, as in torchvision."),
    "lenet-5": (lenet, "LeNet-5, 28 x 28 images: 61,706 parameters, 0.000417 G multiply-adds",
                "LeCun et al. 1998, with all connections in the second convolution and an affine last layer."),}


def main():
    check, folder = sys.argv[1] == "--check", pathlib.Path(sys.argv[-1])
    faults = 0
    for name, (build, title, source) in NETWORKS.items():
        text = build().write([f"# {title}", f"# {source}",
                              "# Made by tools/networks.py; doc/layers.md says what the keys mean."])
        path = folder / f"{name}.yaml"
        if check and path.read_text() != text:
            print(f"{path} is not what tools/networks.py writes")
            faults += 1
        elif not check:
            path.write_text(text)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
