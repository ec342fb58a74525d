// SPDX-License-Identifier: Apache-2.0
//
// Wraps one Verilated model as incsim_api. pre.h comes first, by the command line; model.inc is generated for the model:
//   INCSIM_CLASS, INCSIM_TRACED, its header, and
//   INCSIM_PORTS(X): X(member, "name", width, dir) for every port,
//   INCSIM_SYMS: the class that holds all of its state,
//   INCSIM_COVERED: 1 if it counts which lines, branches and bits it comes through,
//   INCSIM_PURE: 1 if an evaluation depends on nothing outside that class: no time, no random number, no heap, no file.

#include "abi.h"
#include "model.inc"

namespace {

using Model = INCSIM_CLASS;

// Thrown out of an evaluation that cannot go on (a loop that does not settle, say).
struct Abandon final : std::exception {};

constexpr uint64_t round64(uint64_t bytes) { return (bytes + 63) & ~uint64_t{63}; }

// Sizes and places of the ports. A reference member's size is that of what it refers to.
enum : uint64_t {
    kTotalOut = 0
#define X(member, name, width, dir) +(dir == INCSIM_OUT ? round64(sizeof(Model::member)) : 0)
        INCSIM_PORTS(X)
#undef X
    ,
    kStimulusBytes = 0
#define X(member, name, width, dir) +(dir == INCSIM_IN ? sizeof(Model::member) : 0)
        INCSIM_PORTS(X)
#undef X
};

const incsim_port kPorts[] = {
#define X(member, name, width, dir) {name, width, dir, sizeof(Model::member)},
    INCSIM_PORTS(X)
#undef X
};
constexpr uint32_t kNumPorts = sizeof(kPorts) / sizeof(kPorts[0]);

struct Instance {
    alignas(64) uint8_t sampled[kTotalOut + 64] = {};
    std::unique_ptr<VerilatedContext> context;
    std::unique_ptr<Model> model;
    CData* clock = nullptr;
    uint64_t time = 0;       // of the last rising edge, in the model's time precision
    uint64_t period = 2;     // in the model's time precision
    uint64_t period_ps = 2;
    uint64_t cycles = 0;
    uint32_t status = 0;
    bool special = false;    // recording or tracing: leave the fast path
    bool recording = false;
    std::vector<uint8_t> stimulus;
    uint64_t digest = 0;
    // Leaving out cycles that change nothing: see cycle_or_skip.
    bool skip = false;       // asked for, and possible
    uint64_t skipped = 0;
    bool still = false;      // the last cycle began and ended in the same state
    uint32_t quiet = 0;      // cycles since an input or an output changed
    uint32_t wait = 0;       // at so many quiet cycles the states before and after are compared
    uint32_t begin = 0;      // where wait begins
    bool small = false;      // the beginning of the state did not change in the last cycle: worth comparing all of it
    std::vector<uint8_t> inputs, state;
    std::string message, file, output, taken, last_error;
    int line = 0;
#if INCSIM_TRACED
    std::unique_ptr<VerilatedFstC> wave;
#endif
};

thread_local Instance* t_current = nullptr;

// Everything the runtime asks of "the current context" during a call belongs to this instance.
inline void enter(Instance* i) {
    t_current = i;
    Verilated::threadContextp(i->context.get());
}

void stopped(uint32_t status, const char* file, int line, const char* text) {
    Instance* const i = t_current;
    if (!i) return;
    if (i->message.empty()) {  // the first reason stays
        i->message = text;
        i->file = file ? file : "";
        i->line = line;
    }
    i->status |= status;
    i->context->gotFinish(true);
    if (status & INCSIM_FAILED) i->context->gotError(true);
}

inline uint64_t fold(uint64_t digest, const void* p, size_t size) {
    uint64_t word = 0;
    memcpy(&word, p, size < 8 ? size : 8);
    return (digest ^ word) * 0x9E3779B97F4A7C15ull + 1;
}

inline void sample(Instance* i) {
    uint8_t* to = i->sampled;
    const Model& m = *i->model;
#define X(member, name, width, dir)                    \
    if (dir == INCSIM_OUT) {                           \
        memcpy(to, &m.member, sizeof(Model::member));  \
        to += round64(sizeof(Model::member));          \
    }
    INCSIM_PORTS(X)
#undef X
    (void)to;
    (void)m;
}

inline uint64_t digest_outputs(const Model& m, uint64_t digest) {
#define X(member, name, width, dir) \
    if (dir == INCSIM_OUT) digest = fold(digest, &m.member, sizeof(Model::member));
    INCSIM_PORTS(X)
#undef X
    (void)m;
    return digest;
}

void save_inputs(Instance* i) {
    const size_t base = i->stimulus.size();
    i->stimulus.resize(base + kStimulusBytes);
    uint8_t* to = i->stimulus.data() + base;
    const Model& m = *i->model;
#define X(member, name, width, dir)                    \
    if (dir == INCSIM_IN) {                            \
        memcpy(to, &m.member, sizeof(Model::member));  \
        to += sizeof(Model::member);                   \
    }
    INCSIM_PORTS(X)
#undef X
    (void)to;
    (void)m;
}

inline void load_inputs(Model& m, const uint8_t* from) {
#define X(member, name, width, dir)                      \
    if (dir == INCSIM_IN) {                              \
        memcpy(&m.member, from, sizeof(Model::member));  \
        from += sizeof(Model::member);                   \
    }
    INCSIM_PORTS(X)
#undef X
    (void)from;
    (void)m;
}

void dump(Instance* i) {
#if INCSIM_TRACED
    if (i->wave) i->wave->dump(i->context->time());
#else
    (void)i;
#endif
}

void do_fall(Instance* i) {
    if (i->special) {
        if (i->recording) save_inputs(i);
        // The waves show inputs changing together with the rising edge that made them change.
        i->model->eval();
        dump(i);
    }
    i->context->time(i->time + i->period / 2);
    if (i->clock) *i->clock = 0;
    i->model->eval();
    sample(i);
    if (i->special) dump(i);
}

void do_rise(Instance* i) {
    if (i->recording) i->digest = digest_outputs(*i->model, i->digest);
    i->time += i->period;
    i->context->time(i->time);
    if (i->clock) {
        *i->clock = 1;
        i->model->eval();
    }
    ++i->cycles;
}

// Comparisons begin after kWait quiet cycles, and later, up to kMostWait, in models that seem never to stand still. The first looks at
// kSmall bytes, where Verilator has small signals; memories, which cost as much as many evaluations, are compared only if those are the same.
constexpr uint32_t kWait = 8, kLongWait = 64, kMostWait = 4096;
constexpr size_t kSmall = 4096;

void wake(Instance* i) {
    i->still = i->small = false;
    i->quiet = 0;
    i->wait = i->begin;
}

// Keeps a copy of all inputs and tells whether they are those of the call before.
inline bool same_inputs(Instance* i) {
    bool same = true;
    uint8_t* kept = i->inputs.data();
    const Model& m = *i->model;
#define X(member, name, width, dir)                                \
    if (dir == INCSIM_IN) {                                        \
        if (memcmp(kept, &m.member, sizeof(Model::member))) {      \
            memcpy(kept, &m.member, sizeof(Model::member));        \
            same = false;                                          \
        }                                                          \
        kept += sizeof(Model::member);                             \
    }
    INCSIM_PORTS(X)
#undef X
    (void)kept;
    (void)m;
    return same;
}

inline bool same_outputs(const Instance* i) {
    const uint8_t* old = i->sampled;
    const Model& m = *i->model;
#define X(member, name, width, dir)                                    \
    if (dir == INCSIM_OUT) {                                           \
        if (memcmp(old, &m.member, sizeof(Model::member))) return false; \
        old += round64(sizeof(Model::member));                         \
    }
    INCSIM_PORTS(X)
#undef X
    (void)old;
    (void)m;
    return true;
}

// One clock. A cycle that ends in the very state in which it began, memories and all, will be followed by others like it until an input
// changes: they are counted and not evaluated. That is exact, since an evaluation of such a model (INCSIM_PURE) is a function of its state.
void cycle_or_skip(Instance* i) {
    if (!i->skip || i->special) {
        if (i->skip) wake(i);
        do_fall(i);
        do_rise(i);
        return;
    }
    const bool same = same_inputs(i);
    if (!same) wake(i);
    if (i->still) {
        i->time += i->period;
        i->context->time(i->time);
        ++i->cycles;
        ++i->skipped;
        return;
    }
#if INCSIM_PURE
    const INCSIM_SYMS* const syms = i->model->rootp->vlSymsp;
    const bool compare = i->quiet >= i->wait;
    const size_t size = i->small || sizeof(*syms) < kSmall ? sizeof(*syms) : kSmall;
    const size_t said = i->output.size();
    if (compare) {
        i->state.resize(sizeof(*syms));
        memcpy(i->state.data(), syms, size);
    }
#endif
    i->context->time(i->time + i->period / 2);
    *i->clock = 0;
    i->model->eval();
    if (same_outputs(i)) {
        ++i->quiet;
    } else {
        sample(i);
        wake(i);
    }
    do_rise(i);
#if INCSIM_PURE
    if (!compare || !i->quiet) return;
    const bool unchanged = !i->status && i->output.size() == said && !memcmp(i->state.data(), syms, size);
    if (unchanged && size < sizeof(*syms)) {
        i->small = true;
        return;
    }
    i->still = unchanged;
    i->small = false;
    if (unchanged) {
        i->begin = kWait;
        return;
    }
    // Something goes on inside: ask again later.
    if (i->wait >= kLongWait && i->begin < kMostWait) i->begin *= 2;
    i->wait = 2 * i->quiet;
#endif
}

// Runs body unless the instance already ended; an exception ends it.
template <typename Body>
inline uint32_t guarded(Instance* i, Body body) {
    if (i->status) return i->status;
    enter(i);
    try {
        body();
    } catch (const Abandon&) {  // stopped() has the reason
    } catch (const std::exception& e) {
        stopped(INCSIM_FAILED, "", 0, e.what());
    }
    return i->output.empty() ? i->status : i->status | INCSIM_PRINTED;
}

Instance* self(void* m) { return static_cast<Instance*>(m); }

uint32_t api_cycle(void* m) {
    Instance* const i = self(m);
    return guarded(i, [i] { cycle_or_skip(i); });
}

uint32_t api_cycles(void* m, uint64_t n) {
    Instance* const i = self(m);
    return guarded(i, [i, n] {
        for (uint64_t k = 0; k < n && !i->status; ++k) cycle_or_skip(i);
    });
}

uint32_t api_fall(void* m) {
    Instance* const i = self(m);
    wake(i);
    return guarded(i, [i] { do_fall(i); });
}

uint32_t api_settle(void* m, uint64_t at_ps) {
    Instance* const i = self(m);
    wake(i);
    return guarded(i, [i, at_ps] {
        // Scaled from the edge, so that a rounded period does not drift against the caller's time.
        const uint64_t since = at_ps - i->cycles * i->period_ps;
        i->context->time(i->time + static_cast<uint64_t>(static_cast<double>(since) * i->period / i->period_ps));
        i->model->eval();
        sample(i);
        if (i->special) dump(i);
    });
}

uint32_t api_rise(void* m) {
    Instance* const i = self(m);
    wake(i);
    return guarded(i, [i] { do_rise(i); });
}

uint64_t api_num_cycles(void* m) { return self(m)->cycles; }

uint64_t api_num_skipped(void* m) { return self(m)->skipped; }

void* api_port(void* m, uint32_t index) {
    Instance* const i = self(m);
    uint8_t* out = i->sampled;
    uint32_t at = 0;
#define X(member, name, width, dir)                                                              \
    if (at++ == index) return dir == INCSIM_OUT ? static_cast<void*>(out) : &i->model->member;  \
    if (dir == INCSIM_OUT) out += round64(sizeof(Model::member));
    INCSIM_PORTS(X)
#undef X
    (void)out;
    return nullptr;
}

void api_wave_close(void* m) {
#if INCSIM_TRACED
    Instance* const i = self(m);
    if (!i->wave) return;
    enter(i);
    if (!i->status) {
        i->model->eval();
        dump(i);
    }
    i->wave->close();
    i->wave.reset();
    i->special = i->recording;
#else
    (void)m;
#endif
}

int32_t api_wave_open(void* m, const char* path) {
#if INCSIM_TRACED
    Instance* const i = self(m);
    enter(i);
    api_wave_close(m);
    // Later Verilators do not notice that a file cannot be written.
    FILE* const file = std::fopen(path, "wb");
    if (!file) return 0;
    std::fclose(file);
    i->wave.reset(new VerilatedFstC);
    i->model->trace(i->wave.get(), 99);
    i->wave->open(path);
    if (!i->wave->isOpen()) {
        i->wave.reset();
        return 0;
    }
    i->special = true;
    return 1;
#else
    (void)m;
    (void)path;
    return 0;
#endif
}

void api_destroy(void* m) {
    Instance* const i = self(m);
    enter(i);
    api_wave_close(m);
    if (i->model) {
        if (!i->status) {
            try {
                i->model->final();
            } catch (const std::exception&) {  // a final block that stops has nobody left to tell
            }
        }
        i->model.reset();
    }
    t_current = nullptr;
    i->context.reset();
    delete i;
}

void* api_create(const incsim_options* o, char* why, uint32_t len) {
    std::unique_ptr<Instance> i{new Instance};
    i->context.reset(new VerilatedContext);
    enter(i.get());
    VerilatedContext& c = *i->context;
    c.randReset(o->random ? 2 : 0);
    c.randSeed(static_cast<int>(o->seed));
    c.fatalOnError(false);
    c.commandArgs(static_cast<int>(o->num_args), const_cast<const char**>(o->args));
    c.traceEverOn(INCSIM_TRACED);
    const Instance* const created = i.get();
    try {
        i->model.reset(new Model{&c, "TOP"});
        i->period_ps = o->period_ps;
        const double tick_ps = std::pow(10.0, c.timeprecision() + 12);
        i->period = static_cast<uint64_t>(std::llround(static_cast<double>(o->period_ps) / tick_ps));
        if (i->period < 2) i->period = 2;
        if (o->clock >= 0) {
            i->clock = static_cast<CData*>(api_port(i.get(), static_cast<uint32_t>(o->clock)));
            *i->clock = 0;
        }
        i->skip = INCSIM_PURE && o->skip_still && i->clock;
        if (i->skip) i->inputs.resize(kStimulusBytes);
        i->begin = kWait;
        wake(i.get());
        i->model->eval();
        sample(i.get());
    } catch (const std::exception& e) {
        std::snprintf(why, len, "%s", created->message.empty() ? e.what() : created->message.c_str());
        t_current = nullptr;
        return nullptr;
    }
    return i.release();
}

const char* api_message(void* m, const char** file, int32_t* line) {
    Instance* const i = self(m);
    *file = i->file.c_str();
    *line = i->line;
    return i->message.c_str();
}

const char* api_output(void* m, uint64_t* len) {
    Instance* const i = self(m);
    i->taken.swap(i->output);
    i->output.clear();
    *len = i->taken.size();
    return i->taken.data();
}

int32_t api_cover_write(void* m, const char* path) {
#if INCSIM_COVERED
    Instance* const i = self(m);
    try {
        i->context->coveragep()->write(path);
    } catch (const std::exception&) {  // Verilator's way to say that it cannot write there
        return 0;
    }
    return 1;
#else
    (void)m;
    (void)path;
    return 0;
#endif
}

void api_record(void* m, int32_t on) {
    Instance* const i = self(m);
    i->recording = on != 0;
    i->special = i->recording;
#if INCSIM_TRACED
    i->special |= i->wave != nullptr;
#endif
    if (on) {
        i->stimulus.clear();
        i->digest = 0;
    }
}

const uint8_t* api_recorded(void* m, uint64_t* cycles, uint64_t* digest) {
    Instance* const i = self(m);
    *cycles = kStimulusBytes ? i->stimulus.size() / kStimulusBytes : 0;
    *digest = i->digest;
    return i->stimulus.data();
}

uint64_t monotonic_ns() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000 + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t api_replay(void* m, const uint8_t* stimulus, uint64_t cycles, uint64_t* digest) {
    Instance* const i = self(m);
    const uint64_t start = monotonic_ns();
    guarded(i, [=]() mutable {
        Model& model = *i->model;
        VerilatedContext& c = *i->context;
        const uint64_t half = i->period / 2;
        for (uint64_t k = 0; k < cycles && !i->status; ++k, stimulus += kStimulusBytes) {
            load_inputs(model, stimulus);
            c.timeInc(half);
            *i->clock = 0;
            model.eval();
            if (digest) *digest = digest_outputs(model, *digest);
            c.timeInc(half);
            *i->clock = 1;
            model.eval();
            ++i->cycles;
        }
        i->time = c.time();
    });
    return monotonic_ns() - start;
}

}  // namespace

// --- Hooks of the Verilator runtime ------------------------------------------------------------

int incsim_printf(const char* format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int size = std::vsnprintf(nullptr, 0, format, args);
    va_end(args);
    std::string text(size > 0 ? static_cast<size_t>(size) + 1 : 1, '\0');
    std::vsnprintf(&text[0], text.size(), format, again);
    va_end(again);
    text.pop_back();
    if (!t_current) {
        std::fputs(text.c_str(), stderr);
        return size;
    }
    // $error, $fatal and assertions print their text and then stop: keep it for the reason.
    if (text.find("%Error") != std::string::npos || text.find("%Fatal") != std::string::npos) t_current->last_error = text;
    t_current->output += text;
    return size;
}

void vl_finish(const char* file, int line, const char*) { stopped(INCSIM_FINISHED, file, line, "$finish"); }

void vl_stop(const char* file, int line, const char*) {
    std::string text = "$stop";
    if (t_current && !t_current->last_error.empty()) text = t_current->last_error;
    stopped(INCSIM_FAILED, file, line, text.c_str());
}

void vl_fatal(const char* file, int line, const char*, const char* text) {
    stopped(INCSIM_FAILED, file, line, text);
    throw Abandon{};
}

void vl_warn(const char* file, int line, const char*, const char* text) {
    incsim_printf("%%Warning: %s:%d: %s\n", file ? file : "", line, text);
}

extern "C" __attribute__((visibility("default"))) const incsim_table incsim_api = {
    INCSIM_ABI,      INCSIM_TRACED, INCSIM_COVERED, kNumPorts,     kPorts,         api_create,    api_destroy,  api_port,
    api_cycle,       api_cycles,    api_fall,      api_settle,     api_rise,      api_num_cycles, api_num_skipped,
    api_message,     api_output,    api_wave_open, api_wave_close, api_cover_write, api_record,    api_recorded, api_replay,
};
