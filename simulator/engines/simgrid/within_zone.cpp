/* SPDX-License-Identifier: Apache-2.0 */
/* Platform files whose clusters stand in no zone, for the releases of SimGrid that end the process at them. */
#include "simulator/engines/simgrid/parts.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace
{

/* A file in memory, and the name by which this process can open it. */
struct memory_file {
    int descriptor = memfd_create("platform.xml", MFD_CLOEXEC);
    std::string path = "/proc/self/fd/" + std::to_string(descriptor);

    explicit memory_file(const std::string &text)
    {
        size_t written = 0;
        while (descriptor >= 0 && written < text.size()) {
            ssize_t more = write(descriptor, text.data() + written, text.size() - written);
            if (more < 0 && errno == EINTR)
                continue;
            if (more <= 0)
                break;
            written += static_cast<size_t>(more);
        }
        if (descriptor < 0 || written < text.size()) {
            const std::string why = strerror(errno);
            if (descriptor >= 0)
                close(descriptor);
            throw std::runtime_error("cannot keep a platform file in memory: " + why);
        }
    }
    memory_file(const memory_file &) = delete;
    memory_file &operator=(const memory_file &) = delete;
    ~memory_file()
    {
        close(descriptor);
    }
};

std::string text_of(const char *file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

} // namespace

void parts::load_file(const char *file, size_t from, size_t to)
{
    sg4::Engine *engine = sg4::Engine::get_instance();
    if (versions::bare_shapes || !from) {
        engine->load_platform(file);
        return;
    }
    std::string text = text_of(file);
    if (to > text.size() || from > to)
        throw std::runtime_error(std::string(file) + ": the file has changed while it was read");
    text.insert(to, "</zone>");
    text.insert(from, R"(<zone id="the zone of all" routing="Full">)"); /* no new line: places stay */
    const memory_file copy(text);
    /* SimGrid looks for profiles beside the file. */
    const char *slash = strrchr(file, '/');
    sg4::Engine::set_config("path:" + (slash ? std::string(file, slash + 1) : "./"));
    try {
        engine->load_platform(copy.path);
    } catch (const std::exception &exception) {
        std::string what = exception.what();
        for (size_t at = what.find(copy.path); at != std::string::npos; at = what.find(copy.path, at))
            what.replace(at, copy.path.size(), file);
        throw std::runtime_error(what);
    }
}
