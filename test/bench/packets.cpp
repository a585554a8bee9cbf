/* SPDX-License-Identifier: Apache-2.0 */
/* packets PLATFORM incast|ring|rings FLOWS BYTES [--cfg=...]: flows of messages on a SimGrid platform, with any of
 * SimGrid's network models, among them ns-3's packets (--cfg=network/model:ns-3, where SimGrid has it). incast: hosts 1
 * to FLOWS send to host 0; ring: each of FLOWS hosts to the next one; rings: the FLOWS hosts are two rings, of every
 * other host each. Prints when the first and the last message are there, in microseconds (packets.py). */
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace sg4 = simgrid::s4u;

int main(int argc, char **argv)
{
    sg4::Engine engine(&argc, argv);
    if (argc != 5) {
        fputs("usage: packets PLATFORM incast|ring|rings FLOWS BYTES [--cfg=...]\n", stderr);
        return 2;
    }
    engine.load_platform(argv[1]);
    std::string pattern = argv[2];
    bool incast = pattern == "incast";
    int flows = atoi(argv[3]), next = pattern == "rings" ? 2 : 1;
    double bytes = atof(argv[4]), first = 1e30, last = 0;
    std::vector<sg4::Host *> hosts = engine.get_all_hosts();
    for (int i = 0; i < flows; i++) {
        sg4::Mailbox *box = sg4::Mailbox::by_name("box-" + std::to_string(i));
        sg4::Actor::create("send", hosts[incast ? i + 1 : i],
                           [box, bytes] { box->put(new char, static_cast<uint64_t>(bytes)); });
        sg4::Actor::create("receive", hosts[incast ? 0 : (i + next) % flows], [box, &first, &last] {
            delete box->get<char>();
            first = std::min(first, sg4::Engine::get_clock());
            last = std::max(last, sg4::Engine::get_clock());
        });
    }
    engine.run();
    printf("%.1f %.1f\n", first * 1e6, last * 1e6);
    return 0;
}
