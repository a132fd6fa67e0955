// SPDX-License-Identifier: Apache-2.0
// The composition root: the only file that knows all rooms. Opens devices, builds ledger,
// registry, queue, api and HTTP server in that order, waits for a signal, and takes
// everything down in the reverse order. All on the main thread; a CUDA device is opened
// and closed on its worker.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/api.h"
#include "kernels/device.h"
#include "kernels/ops.h"
#include "server/http.h"
#include "server/log.h"
#include "server/limits.h"
#include "server/options.h"
#include "server/queue.h"
#include "server/users.h"
#include "tensor/ledger.h"
#include "tensor/registry.h"

enum {
    EXIT_USAGE = 2,
    MAX_WAITING = 1000,
    MAX_LANE_WAITING = 256,
    MAX_CONNECTIONS = 100000,
    SPARE_FILES = 128,             // descriptors not for connections
    CONNECTION_MEMORY = 32 * 1024, // what an idle connection keeps
    ANSWER_SECONDS = 2,            // for answers on their way when the drain time is over
    GRACE_SECONDS = 20,            // for steps under way when all is cancelled
};

struct house {
    struct options options;
    int n_devices;
    struct device *devices[LEDGER_MAX_DEVICES];
    int ordinals[LEDGER_MAX_DEVICES];
    char device_note[PROBLEM_DETAIL_MAX]; // why there is no CUDA device
    struct users *users;                  // NULL: everybody is anonymous
    struct queue *queue;
    struct ledger *ledger;
    struct registry *registry;
    struct api *api;
    struct http_server *http;
};

// ---- Devices

// Which CUDA devices there shall be. A device asked for by name must exist.
static enum status choose_devices(struct house *house, struct problem *problem)
{
    const struct options *options = &house->options;
    house->n_devices = 1;
    if (!options->all_devices && options->n_cuda == 0)
        return STATUS_OK;
    struct problem why;
    problem_clear(&why);
    int found = plugin_probe(&why);
    if (found == 0 && options->all_devices) {
        snprintf(house->device_note, sizeof house->device_note, "%s", why.detail);
        log_event(LOG_INFO, "no CUDA device", "%s", why.detail);
        return STATUS_OK;
    }
    int wanted = options->all_devices ? found : options->n_cuda;
    for (int i = 0; i < wanted && house->n_devices < LEDGER_MAX_DEVICES; i++) {
        int ordinal = options->all_devices ? i : options->cuda[i];
        if (ordinal >= found)
            return problem_set(problem, STATUS_DEVICE, "There is no cuda:%d%s%s.",
                               ordinal, found == 0 ? ": " : "",
                               found == 0 ? why.detail : "");
        house->ordinals[house->n_devices++] = ordinal;
    }
    return STATUS_OK;
}

static void worker_begin(void *context, int device)
{
    struct house *house = context;
    struct problem problem;
    if (device == 0)
        return;
    int ordinal = house->ordinals[device];
    enum status status = plugin_device_open(ordinal, house->options.device_memory,
                                            &house->devices[device], &problem);
    if (status == STATUS_OK) {
        house->devices[device]->index = device;
        return;
    }
    house->devices[device] = NULL;
    log_event(LOG_ERROR, "CUDA device does not open", "cuda:%d: %s", ordinal,
              problem.detail);
}

static void worker_end(void *context, int device)
{
    struct house *house = context;
    if (device > 0 && house->devices[device] != NULL)
        house->devices[device]->vt->close(house->devices[device]);
}

static int64_t device_limit(const struct house *house, int device)
{
    const struct options *options = &house->options;
    struct device *opened = house->devices[device];
    struct device_memory memory;
    if (device == 0)
        return options->memory;
    if (opened == NULL)
        return 0;
    opened->vt->memory(opened, &memory);
    int64_t most = memory.free / 10 * 9;
    return options->device_memory > 0 && options->device_memory < most
               ? options->device_memory
               : most;
}

// ---- Building

static void memory_released(void *context, int device)
{
    queue_wake(context);
}

static enum status build_values(struct house *house, struct problem *problem)
{
    int64_t limits[LEDGER_MAX_DEVICES];
    for (int i = 0; i < house->n_devices; i++)
        limits[i] = device_limit(house, i);
    enum status status = ledger_create(house->n_devices, limits, &house->ledger, problem);
    if (status != STATUS_OK)
        return status;
    ledger_on_release(house->ledger, memory_released, house->queue);
    return registry_create(&house->registry, problem);
}

static enum status build_api(struct house *house, struct problem *problem)
{
    struct api_options options = {
        .queue = house->queue,
        .registry = house->registry,
        .ledger = house->ledger,
        .users = house->users,
        .devices = house->devices,
        .n_devices = house->n_devices,
        .max_body = house->options.max_body,
        .max_steps = house->options.max_steps,
        .max_source = house->options.max_source,
        .max_nesting = house->options.max_nesting,
        .version = TENSORD_VERSION,
        .device_note = house->device_note[0] == '\0' ? NULL : house->device_note,
    };
    return api_create(&options, &house->api, problem);
}

static enum status build_http(struct house *house, struct problem *problem)
{
    int64_t files = limits_raise_files() - SPARE_FILES;
    const struct options *options = &house->options;
    struct http_options http = {
        .listen = options->listen,
        .idle_seconds = options->idle_seconds,
        .max_connections = files > MAX_CONNECTIONS ? MAX_CONNECTIONS
                           : files < SPARE_FILES   ? SPARE_FILES
                                                   : (int)files,
        .connection_memory = CONNECTION_MEMORY,
        .hosts = options->hosts,
        .origins = options->origins,
        .users = house->users,
    };
    struct http_handler handler = api_handler(house->api);
    return http_start(&http, &handler, &house->http, problem);
}

static enum status build(struct house *house, struct problem *problem)
{
    const struct options *options = &house->options;
    struct queue_options queue = {.max_waiting = MAX_WAITING,
                                  .max_lane_waiting = MAX_LANE_WAITING,
                                  .worker_begin = worker_begin,
                                  .worker_end = worker_end,
                                  .context = house};
    enum status status = choose_devices(house, problem);
    queue.n_devices = house->n_devices;
    if (status == STATUS_OK)
        status =
            host_open(options->threads, options->memory / 4, &house->devices[0], problem);
    if (status == STATUS_OK)
        status = queue_create(&queue, &house->queue, problem);
    if (status == STATUS_OK)
        status = build_values(house, problem);
    if (status == STATUS_OK)
        status = build_api(house, problem);
    if (status == STATUS_OK)
        status = build_http(house, problem);
    return status;
}

static void announce(const struct house *house)
{
    printf("tensord %s listening on %s, devices", TENSORD_VERSION,
           http_address(house->http));
    for (int i = 0; i < house->n_devices; i++)
        if (house->devices[i] != NULL)
            printf(" %s", house->devices[i]->id);
    printf("\n");
    fflush(stdout);
}

// ---- Taking down

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// Waits until nothing runs and no answer is on its way. False after seconds, or at a
// signal if signals is given.
static bool wait_quiet(struct house *house, double seconds, const sigset_t *signals)
{
    const struct timespec no_time = {0, 0}, moment = {0, 5000000};
    double until = seconds_now() + seconds;
    for (;;) {
        bool idle = queue_wait_idle(house->queue, 0.05);
        if (idle && http_pending(house->http) == 0)
            return true;
        if (signals != NULL && sigtimedwait(signals, NULL, &no_time) > 0)
            return false;
        if (seconds_now() >= until)
            return false;
        if (idle)
            nanosleep(&moment, NULL);
    }
}

// Returns when no request is suspended any more: what still runs is cancelled after the
// drain time or at a second signal.
static void drain(struct house *house, const sigset_t *signals)
{
    log_event(LOG_INFO, "draining", "for at most %d s", house->options.drain_seconds);
    queue_drain(house->queue);
    if (wait_quiet(house, house->options.drain_seconds, signals))
        return;
    queue_cancel_all(house->queue);
    if (queue_wait_idle(house->queue, GRACE_SECONDS)) {
        wait_quiet(house, ANSWER_SECONDS, NULL); // the answers "cancelled" go out
        return;
    }
    log_event(LOG_ERROR, "stopping hard", "a step has not ended within %d s",
              GRACE_SECONDS);
    _exit(EXIT_FAILURE);
}

static void take_down(struct house *house)
{
    http_stop(house->http);
    if (house->api != NULL)
        api_free(house->api);
    if (house->registry != NULL)
        registry_free(house->registry);
    queue_free(house->queue); // its workers close the CUDA devices
    if (house->devices[0] != NULL)
        house->devices[0]->vt->close(house->devices[0]);
    if (house->ledger != NULL)
        ledger_free(house->ledger);
    users_free(house->users);
    options_free(&house->options);
}

// Returns at a signal to stop; SIGHUP reads the users again.
static int wait_for_signal(struct house *house, const sigset_t *signals)
{
    int number;
    struct problem problem;
    sigset_t all = *signals;
    sigaddset(&all, SIGHUP);
    for (;;) {
        sigwait(house->options.users_file != NULL ? &all : signals, &number);
        if (number != SIGHUP)
            return number;
        users_reload(house->users, &problem); // the log says how it went
    }
}

static int serve(struct house *house, const sigset_t *signals)
{
    struct problem problem;
    int result = EXIT_SUCCESS;
    if (build(house, &problem) == STATUS_OK) {
        announce(house);
        int signal_number = wait_for_signal(house, signals);
        drain(house, signals);
        log_event(LOG_INFO, "stopped", "by signal %d", signal_number);
    } else {
        fprintf(stderr, "tensord: %s\n", problem.detail);
        result = EXIT_FAILURE;
    }
    take_down(house);
    return result;
}

// A library may have started a thread before main could block signals (OpenBLAS does).
// What arrives there is passed on to where it is waited for.
static pthread_t main_thread;
static void pass_on(int signal_number)
{
    pthread_kill(main_thread, signal_number);
}

// SIGHUP is waited for only where it means something; it is not among *signals.
static void block_signals(sigset_t *signals, bool hangup)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    main_thread = pthread_self();
    sigemptyset(signals);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(signals, numbers[i]);
    pthread_sigmask(SIG_BLOCK, signals, NULL); // inherited by all threads to come
    if (hangup) {
        sigset_t more;
        sigemptyset(&more);
        sigaddset(&more, SIGHUP);
        pthread_sigmask(SIG_BLOCK, &more, NULL);
        sigaction(SIGHUP, &action, NULL);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

// tensord token NAME: the token on one line, what belongs into the users file on the
// next.
static int print_new_token(const char *name)
{
    char token[USERS_NEW_TOKEN + 1], digest[2 * SHA256_SIZE + 1];
    struct problem problem;
    if (users_new_token(name, token, digest, &problem) != STATUS_OK) {
        fprintf(stderr, "tensord token: %s\n", problem.detail);
        return problem.status == STATUS_VALUE ? EXIT_USAGE : EXIT_FAILURE;
    }
    printf("%s\n{\"name\": \"%s\", \"token_sha256\": \"%s\"}\n", token, name, digest);
    return EXIT_SUCCESS;
}

static enum status build_users(struct house *house, struct problem *problem)
{
    const struct options *options = &house->options;
    if (options->users_file == NULL && options->token[0] == '\0')
        return STATUS_OK;
    return users_create(options->users_file, options->token, &house->users, problem);
}

int main(int argc, char **argv)
{
    static struct house house;
    struct problem problem;
    sigset_t signals;
    if (argc == 3 && strcmp(argv[1], "token") == 0)
        return print_new_token(argv[2]);
    if (options_parse(argc, argv, environ, &house.options, &problem) != STATUS_OK) {
        fprintf(stderr, "tensord: %s\nTry tensord --help.\n", problem.detail);
        options_free(&house.options);
        return EXIT_USAGE;
    }
    if (house.options.show_help || house.options.show_version) {
        if (house.options.show_help)
            options_print_help(stdout);
        else
            printf("tensord %s\n", TENSORD_VERSION);
        return EXIT_SUCCESS;
    }
    log_open(STDERR_FILENO, house.options.log_json, LOG_INFO);
    if (build_users(&house, &problem) != STATUS_OK) {
        fprintf(stderr, "tensord: %s\n", problem.detail);
        options_free(&house.options);
        return EXIT_USAGE;
    }
    block_signals(&signals, house.options.users_file != NULL);
    ops_initialize();
    return serve(&house, &signals);
}
