// SPDX-License-Identifier: Apache-2.0
// What a program touches, in the order of requests: found in its facts (lang/program.h)
// and in what its names mean when it is accepted. Named only when the program did not run
// at once.
//
// A program meets everything of its user (a barrier) if what it touches cannot be told
// before it runs: a name that is or may become a function, a module or a container, a
// computed name, or very many names.
#include "api/eval.h"
#include "api/work.h"

enum { MAX_NAMES = 4 }; // read or written by a program that may overlap others

static bool has_attribute(const struct program_facts *facts, const char *name)
{
    for (int i = 0; i < facts->n_attributes; i++)
        if (strcmp(facts->attributes[i], name) == 0)
            return true;
    return false;
}

static bool reads(const struct program_facts *facts, const char *name)
{
    for (int i = 0; i < facts->n_reads; i++)
        if (strcmp(facts->reads[i], name) == 0)
            return true;
    return false;
}

// Whatever may draw random numbers or seed: modules (their parameters, Dropout) among
// them.
static bool may_draw(const struct program_facts *facts)
{
    static const char *const names[] = {
        "rand",      "randn",     "randint",      "randperm",       "normal",
        "bernoulli", "rand_like", "randn_like",   "dropout",        "manual_seed",
        "seed",      "uniform_",  "normal_",      "random_",        "bernoulli_",
        "Linear",    "Dropout",   "randint_like", "manual_seed_all"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (has_attribute(facts, names[i]) || reads(facts, names[i]))
            return true;
    return reads(facts, "nn");
}

static bool is_assigned(const struct program_facts *facts, const char *name)
{
    for (int i = 0; i < facts->n_writes; i++)
        if (strcmp(facts->writes[i], name) == 0)
            return true;
    return false;
}

// A name whose value, now or by an accepted request, is or may be no tensor: a function
// reads other names, a list holds tensors.
static bool is_opaque(const struct request *request, const char *name)
{
    struct name_space *space = request->user->space;
    struct binding binding;
    if (registry_pending(space, name))
        return true;
    if (!registry_lookup_any(space, name, &binding))
        return false;
    bool opaque = binding.object != NULL;
    binding_release(&binding);
    return opaque;
}

static bool overlaps_nothing(const struct request *request,
                             const struct program_facts *facts)
{
    if (facts->dynamic || facts->n_writes > MAX_NAMES)
        return true;
    int n = facts->n_tensors;
    for (int i = 0; i < facts->n_tensors; i++)
        if (is_opaque(request, facts->tensors[i]))
            return true;
    for (int i = 0; i < facts->n_reads; i++) {
        struct binding binding;
        bool bound = registry_lookup_any(request->user->space, facts->reads[i], &binding);
        if (bound)
            binding_release(&binding);
        n += bound;
        if (is_opaque(request, facts->reads[i]))
            return true;
    }
    return n > MAX_NAMES;
}

static void declare_read(struct request *request, const struct program_facts *facts,
                         const char *name)
{
    if (facts->writes_elements)
        work_write(request, name);
    else
        work_read(request, name);
}

// The new value of a written name may share the storage of whatever the program touches.
static void declare_write(struct request *request, const struct program_facts *facts,
                          const char *name)
{
    struct binding binding;
    int likes = 0;
    for (int i = 0; i < facts->n_tensors; i++, likes++)
        work_bind(request, name, facts->tensors[i]);
    for (int i = 0; i < facts->n_reads; i++) {
        if (!registry_lookup_any(request->user->space, facts->reads[i], &binding))
            continue;
        binding_release(&binding);
        work_bind(request, name, facts->reads[i]);
        likes++;
    }
    if (likes == 0)
        work_bind(request, name, name == facts->writes[0] ? NULL : facts->writes[0]);
}

void eval_declare(struct request *request)
{
    const struct evaluation *evaluation = request->state;
    if (evaluation->code == NULL) { // nobody knows yet
        work_write_all(request);
        return;
    }
    const struct program_facts *facts = program_facts(evaluation->code);
    if (overlaps_nothing(request, facts)) {
        work_write_all(request);
        return;
    }
    for (int i = 0; i < facts->n_reads; i++)
        declare_read(request, facts, facts->reads[i]);
    for (int i = 0; i < facts->n_tensors; i++)
        declare_read(request, facts, facts->tensors[i]);
    for (int i = 0; i < evaluation->conditions.count; i++)
        work_read(request, evaluation->conditions.items[i].name);
    for (int i = 0; i < facts->n_writes; i++)
        declare_write(request, facts, facts->writes[i]);
    if (may_draw(facts))
        work_generators(request);
}

// The device of the first tensor that the program reads.
int eval_first_device(const struct request *request, const struct program_facts *facts)
{
    if (request->api->options.n_devices == 1)
        return 0;
    for (int i = 0; i < facts->n_reads; i++)
        if (!is_assigned(facts, facts->reads[i])) {
            int device = work_device_of(request, facts->reads[i]);
            if (device != 0)
                return device;
        }
    return 0;
}
