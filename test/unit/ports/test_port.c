// SPDX-License-Identifier: Apache-2.0
#include "ports/port.h"
#include "ports/mbuf_pool.h"
#include "ports/xdp/xdp.h"

#include <rte_eal.h>
#include <rte_mbuf.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static struct rte_mempool *pool;

static void start_eal(void)
{
    char *argv[] = {(char[]){"test"},
                    (char[]){"--no-huge"},
                    (char[]){"--no-pci"},
                    (char[]){"--no-shconf"},
                    (char[]){"-m"},
                    (char[]){"64"},
                    (char[]){"--no-telemetry"},
                    (char[]){"-l"},
                    (char[]){"0"},
                    (char[]){"--log-level=*:1"},
                    NULL};
    cr_assert_geq(rte_eal_init((int)(sizeof argv / sizeof argv[0]) - 1, argv), 0);
    pool = rte_pktmbuf_pool_create("pool", 2047, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
    cr_assert_not_null(pool);
}

TestSuite(port, .init = start_eal);

static int open_device(struct port *port, const char *device, char err[200])
{
    struct port_config config = {.name = "p0", .device = device, .rx_csum = true};
    memset(err, 0, 200);
    return port_open(port, 0, &config, 1, pool, NULL, err);
}

Test(port, null_device_opens_receives_and_closes)
{
    struct port port;
    char err[200];
    for (int round = 0; round < 3; round++) {
        cr_assert_eq(open_device(&port, "net_null0,size=64", err), 0, "%s", err);
        cr_assert_eq(port.n_queues, 1);
        cr_assert_eq(port.mtu, 1500);
        cr_assert_eq(port.burst_max, 64);
        cr_assert(!port.frame_opts.skip_udp_csum);
        cr_assert_str_eq(port.config.device, "net_null0,size=64");
        cr_assert_eq(port.config.udp_ports[0], 6363);
        struct rte_mbuf *mbufs[8];
        uint16_t n = port_rx_burst(&port, 0, mbufs, 8);
        cr_assert_eq(n, 8);
        cr_assert_eq(port_tx_burst(&port, 0, mbufs, n), n);
        port_close(&port);
    }
    cr_assert_eq(rte_mempool_in_use_count(pool), 0);
}

Test(port, ring_device_returns_what_was_sent)
{
    struct port port;
    char err[200];
    cr_assert_eq(open_device(&port, "net_ring0", err), 0, "%s", err);
    struct rte_mbuf *m = rte_pktmbuf_alloc(pool), *back = NULL;
    cr_assert_not_null(m);
    cr_assert_not_null(rte_pktmbuf_append(m, 60));
    cr_assert_eq(port_tx_burst(&port, 0, &m, 1), 1);
    cr_assert_eq(port_rx_burst(&port, 0, &back, 1), 1);
    cr_assert_eq(back, m);
    rte_pktmbuf_free(back);
    struct port_losses losses;
    port_losses(&port, &losses);
    cr_assert_eq(losses.rx_missed, 0);
    port_close(&port);
}

Test(port, queues_are_bounded_by_the_device)
{
    struct port port;
    char err[200];
    struct port_config config = {.name = "p0", .device = "net_ring0", .n_queues = PORT_QUEUES_MAX};
    cr_assert_eq(port_open(&port, 0, &config, 1, pool, NULL, err), 0, "%s", err);
    struct rte_eth_dev_info info;
    cr_assert_eq(rte_eth_dev_info_get(port.dpdk_id, &info), 0);
    cr_assert_leq(port.n_queues, info.max_rx_queues);
    cr_assert(port.frame_opts.skip_udp_csum);
    port_close(&port);
}

Test(port, one_device_cannot_be_two_ports)
{
    struct port port, second;
    char err[200];
    cr_assert_eq(open_device(&port, "net_null0", err), 0, "%s", err);
    cr_assert_eq(open_device(&second, "net_null0", err), -EBUSY);
    cr_assert_not_null(strstr(err, "in use by another port"), "%s", err);
    struct rte_mbuf *m;
    cr_assert_eq(port_rx_burst(&port, 0, &m, 1), 1); /* the first one lives on */
    rte_pktmbuf_free(m);
    port_close(&port);
}

Test(port, wrong_device_strings_are_explained)
{
    static const struct {
        const char *device, *text;
    } cases[] = {
        {"", "does not start with a device name"},
        {",iface=x", "does not start with a device name"},
        {"eth0", "neither a PCI address"},
        {"ffff:ff:1f.7", "no PCI device at"},
        {"net_nosuchdriver0", "no DPDK driver made device net_nosuchdriver0"},
        {"net_null0,nosuchargument=1", "check its driver's name and arguments"},
        {"net_af_packet0,iface=pitlane-none", "no network interface \"pitlane-none\""},
        {"net_pcap0,rx_pcap=/nonexistent/file.pcap", "net_pcap0"},
        {"net_a_name_that_is_longer_than_any_name_of_a_dpdk_device_may_ever_be_in_this_world", "does not start with"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct port port;
        char err[200];
        cr_assert_lt(open_device(&port, cases[i].device, err), 0, "%s", cases[i].device);
        cr_assert_not_null(strstr(err, cases[i].text), "%s: %s", cases[i].device, err);
    }
    struct port_config neither = {.name = "p0"}, both = {.device = "net_null0", .netdev = "lo"};
    struct port port;
    char err[200];
    cr_assert_eq(port_open(&port, 0, &neither, 1, pool, NULL, err), -EINVAL);
    cr_assert_not_null(strstr(err, "either a device or a netdev"));
    cr_assert_eq(port_open(&port, 0, &both, 1, pool, NULL, err), -EINVAL);
}

Test(port, an_mtu_that_buffers_cannot_hold_is_explained)
{
    struct port port;
    char err[200];
    struct port_config config = {.name = "p0", .device = "net_null0", .mtu = 9000};
    cr_assert_eq(port_open(&port, 0, &config, 1, pool, NULL, err), -EINVAL);
    cr_assert_not_null(strstr(err, "MTU 9000"), "%s", err);
    config.mtu = 1400;
    cr_assert_eq(port_open(&port, 0, &config, 1, pool, NULL, err), 0, "%s", err);
    cr_assert_eq(port.mtu, 1400);
    port_close(&port);
}

/* DPDK's own layout without hugepages gives each buffer a page: a socket's memory would end within the pool. */
Test(port, only_a_packed_pool_will_do_for_af_xdp)
{
    struct rte_mempool *packed = mbuf_pool_create("packed", 2047, RTE_MBUF_DEFAULT_BUF_SIZE, false);
    cr_assert_not_null(packed);
    cr_assert(xdp_pool_usable(packed));
    cr_assert_not(xdp_pool_usable(pool));
    rte_mempool_free(packed);
}
