// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "fwd/daemon/daemon.h"
#include "fwd/daemon/log.h"

#define EAL_ARGS_MAX (32 + 2 * CONF_PORTS_MAX)

/* Memory that EAL needs beside the packet pool: rings, device queues, its own tables. */
#define EAL_OVERHEAD_MB 64

static uint64_t free_hugepages(void)
{
    FILE *f = fopen("/proc/meminfo", "re");
    char line[128];
    unsigned long long pages = 0, size_kb = 0;
    if (f == NULL)
        return 0;
    while (fgets(line, sizeof line, f) != NULL) {
        (void)sscanf(line, "HugePages_Free: %llu", &pages);
        (void)sscanf(line, "Hugepagesize: %llu kB", &size_kb);
    }
    fclose(f);
    return pages * size_kb * 1024;
}

/* "0000:8a:00.0": a PCI address, which EAL must be told of at start. */
static bool is_pci(const char *device)
{
    return device != NULL && isxdigit((unsigned char)device[0]) && strchr(device, ':') != NULL;
}

/* CPUs that this process may use, the last ones first. @return their number, at least 1 */
static unsigned allowed_cpus(unsigned cpus[CPU_SETSIZE])
{
    cpu_set_t allowed;
    unsigned n = 0;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (unsigned cpu = CPU_SETSIZE; cpu-- > 0;)
        if (CPU_ISSET(cpu, &allowed))
            cpus[n++] = cpu;
    // A machine with more CPUs than the set has tells none.
    if (n == 0)
        cpus[n++] = 0;
    return n;
}

/* "N@(CPU,CPU,...)": an lcore that floats over CPUs. */
static void floating_lcore(char *text, size_t size, unsigned lcore, const unsigned *cpus, unsigned n_cpus)
{
    size_t len = (size_t)snprintf(text, size, "%u@(", lcore);
    for (unsigned i = 0; i < n_cpus; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%u", i > 0 ? "," : "", cpus[i]);
    snprintf(text + len, size - len, ")");
}

/*
 * Workers get lcores 0, 1, ... on the CPUs that were configured, or on those this process may use, the last ones
 * first: CPU 0 has the most other work. The control thread is one more lcore that floats over all of them.
 */
static void lcores(const struct conf *conf, char *map, size_t size)
{
    unsigned cpus[CPU_SETSIZE], n_cpus = allowed_cpus(cpus);
    const struct conf_workers *workers = &conf->workers;
    if (workers->n_lcores == 0 && workers->count > n_cpus)
        log_warning("%u workers share %u CPUs\n", workers->count, n_cpus);
    size_t len = 0;
    for (unsigned w = 0; w < workers->count; w++) {
        unsigned cpu = workers->n_lcores > 0 ? workers->lcores[w] : cpus[w % n_cpus];
        len += (size_t)snprintf(map + len, size - len, "%u@%u,", w, cpu);
    }
    floating_lcore(map + len, size - len, workers->count, cpus, n_cpus);
}

/* EAL's own word for a CPU that is not there is its usage. @return 0, or -1 */
static int check_lcores(const struct conf *conf)
{
    char path[64];
    for (unsigned w = 0; w < conf->workers.n_lcores; w++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/topology/core_id", conf->workers.lcores[w]);
        if (access(path, F_OK) == 0)
            continue;
        struct conf_at at = conf_key_at(conf, &conf->workers, "lcores");
        log_error("%s:%u: workers.lcores: there is no CPU %u, or it is offline (see lscpu -e)\n", at.file, at.line,
                  conf->workers.lcores[w]);
        return -1;
    }
    return 0;
}

static int eal_init(const struct conf *conf, uint64_t pool_octets, bool hugepages)
{
    // EAL moves the pointers about, but changes no text.
    static char map[8192], main_lcore[16], memory[16];
    char *argv[EAL_ARGS_MAX];
    int n = 0;
#define ARG(text) argv[n++] = (char *)(uintptr_t)(text)
    ARG("pitlaned");
    ARG("--file-prefix");
    ARG(conf->daemon.file_prefix);
    // No secondary processes: nothing of EAL is shared through files, and no socket waits for them.
    ARG("--no-shconf");
    ARG("--log-level");
    ARG("lib.telemetry:error");
    ARG("--log-level");
    ARG("pmd.net.memif:error"); // it warns that there are no secondary processes
    lcores(conf, map, sizeof map);
    ARG("--lcores");
    ARG(map);
    snprintf(main_lcore, sizeof main_lcore, "%u", conf->workers.count);
    ARG("--main-lcore");
    ARG(main_lcore);
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)(pool_octets >> 20) + EAL_OVERHEAD_MB);
    if (hugepages) {
        ARG("--in-memory");
    } else {
        ARG("--no-huge");
        ARG("-m");
        ARG(memory);
    }
    unsigned n_pci = 0;
    for (unsigned i = 0; i < conf->n_ports; i++) {
        if (is_pci(conf->port[i].device)) {
            ARG("-a");
            ARG(conf->port[i].device);
            n_pci++;
        }
    }
    if (n_pci == 0) {
        ARG("--no-pci");
        ARG("--iova-mode=va"); // packs the packet buffers, as AF_XDP needs them
    }
#undef ARG
    return rte_eal_init(n, argv);
}

/* One instance for each runtime folder and prefix. The lock goes with the process. @return 0, or -1 */
static int lock_instance(const struct conf *conf)
{
    char path[PATH_MAX];
    struct conf_at at = conf_key_at(conf, &conf->daemon, "runtime-dir");
    if (mkdir(conf->daemon.runtime_dir, 0755) != 0 && errno != EEXIST) {
        log_error("%s:%u: cannot make %s: %s\n", at.file, at.line, conf->daemon.runtime_dir, strerror(errno));
        return -1;
    }
    snprintf(path, sizeof path, "%s/%s.lock", conf->daemon.runtime_dir, conf->daemon.file_prefix);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (fd >= 0 && errno == EWOULDBLOCK)
        log_error("another pitlaned runs with file-prefix \"%s\" in %s\n", conf->daemon.file_prefix,
                  conf->daemon.runtime_dir);
    else
        log_error("%s:%u: cannot lock %s: %s\n", at.file, at.line, path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int daemon_eal(const struct conf *conf, uint64_t pool_octets, bool *hugepages)
{
    if (lock_instance(conf) != 0 || check_lcores(conf) != 0)
        return -1;
    uint64_t wanted = pool_octets + ((uint64_t)EAL_OVERHEAD_MB << 20);
    uint64_t there = free_hugepages();
    *hugepages = conf->memory.hugepages != CONF_HUGEPAGES_NO && there >= wanted;
    struct conf_at at = conf_key_at(conf, &conf->memory, "hugepages");
    if (conf->memory.hugepages == CONF_HUGEPAGES_YES && !*hugepages) {
        log_error("%s:%u: hugepages = \"yes\", but %llu MB are needed and %llu MB are free: "
                  "sysctl -w vm.nr_hugepages=%llu\n",
                  at.file, at.line, (unsigned long long)wanted >> 20, (unsigned long long)there >> 20,
                  (unsigned long long)(wanted >> 21) + 1);
        return -1;
    }
    if (conf->memory.hugepages == CONF_HUGEPAGES_AUTO && !*hugepages)
        log_warning("no hugepages for %llu MB: using 4 kB pages, which costs speed\n",
                    (unsigned long long)wanted >> 20);
    // EAL puts the telemetry socket below this folder.
    setenv("RUNTIME_DIRECTORY", conf->daemon.runtime_dir, 1);
    if (eal_init(conf, pool_octets, *hugepages) < 0) {
        log_error("DPDK does not start: %s\n", rte_strerror(rte_errno));
        return -1;
    }
    return 0;
}

int daemon_eal_offline(uint64_t pool_octets)
{
    static char map[8192], memory[16];
    unsigned cpus[CPU_SETSIZE], n_cpus = allowed_cpus(cpus);
    floating_lcore(map, sizeof map, 0, cpus, n_cpus);
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)(pool_octets >> 20) + EAL_OVERHEAD_MB);
    const char *args[] = {"pitlaned",       "--no-huge",      "-m",       memory, "--no-pci", "--no-shconf",
                          "--no-telemetry", "--iova-mode=va", "--lcores", map};
    char *argv[sizeof args / sizeof args[0]];
    // EAL moves the pointers about, but changes no text.
    for (unsigned i = 0; i < sizeof args / sizeof args[0]; i++)
        argv[i] = (char *)(uintptr_t)args[i];
    if (rte_eal_init(sizeof args / sizeof args[0], argv) < 0) {
        log_error("DPDK does not start: %s\n", rte_strerror(rte_errno));
        return -1;
    }
    return 0;
}
