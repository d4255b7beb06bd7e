// SPDX-License-Identifier: Apache-2.0
#include "ports/port.h"
#include "ports/ethdev.h"
#include "ports/mbuf_pool.h"
#include "ports/xdp/xdp.h"

#include <rte_eal.h>
#include <rte_mbuf.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static bool wait_link(const struct port *port)
{
    for (int i = 0; i < 300; i++) {
        if (ethdev_link_up(port)) {
            return true;
        }
        usleep(20000);
    }
    return false;
}

static char *path_template(char path[40])
{
    strcpy(path, "/tmp/pitlane-test-");
    size_t len = strlen(path);
    memset(path + len, 'X', 6);
    path[len + 6] = '\0';
    return path;
}

Test(port, memif_pair_carries_bare_packets)
{
    char folder[40], device[2][200], err[200];
    cr_assert_not_null(mkdtemp(path_template(folder)));
    struct port port[2];
    static const char *const role[] = {"server", "client"};
    for (int i = 0; i < 2; i++) {
        snprintf(device[i], sizeof device[i], "net_memif%d,role=%s,id=0,socket=%s/sock,socket-abstract=no", i, role[i],
                 folder);
        struct port_config config = {.name = role[i], .device = device[i], .bare = true, .mtu = 2000};
        cr_assert_eq(port_open(&port[i], (uint16_t)i, &config, 1, pool, NULL, err), 0, "%s", err);
        cr_assert(port[i].bare);
        cr_assert_not(port[i].tx_multi_seg);
        cr_assert_eq(port[i].burst_max, 32);
        cr_assert_eq(port[i].mtu, 2000);
    }
    cr_assert(wait_link(&port[0]) && wait_link(&port[1]));
    usleep(1000000); /* what is written at once after "up" is lost where DPDK is the client */
    unsigned received = 0;
    for (int i = 0; i < 2; i++) { /* the client offers room to receive into at its first poll */
        struct rte_mbuf *none;
        cr_assert_eq(port_rx_burst(&port[i], 0, &none, 1), 0);
    }
    for (int i = 0; i < 10; i++) {
        struct rte_mbuf *m = rte_pktmbuf_alloc(pool), *got[32];
        uint8_t *packet = (uint8_t *)rte_pktmbuf_append(m, 300);
        memset(packet, i, 300);
        cr_assert_eq(port_tx_burst(&port[i % 2], 0, &m, 1), 1);
        usleep(1000);
        uint16_t n = port_rx_burst(&port[1 - i % 2], 0, got, 32);
        for (uint16_t k = 0; k < n; k++) {
            cr_assert_eq(got[k]->pkt_len, 300);
            cr_assert_eq(*rte_pktmbuf_mtod(got[k], uint8_t *), i);
            received++;
        }
        rte_pktmbuf_free_bulk(got, n);
    }
    cr_assert_eq(received, 10);
    port_close(&port[1]);
    port_close(&port[0]);
    char sock[100];
    snprintf(sock, sizeof sock, "%s/sock", folder);
    unlink(sock);
    rmdir(folder);
}

Test(port, kernel_interfaces_open_by_af_packet_and_tap)
{
    if (unshare(CLONE_NEWNET) != 0 || access("/dev/net/tun", R_OK | W_OK) != 0) {
        cr_skip_test("no right to make a network namespace, or no /dev/net/tun");
    }
    struct port tap, packet;
    char err[200];
    cr_assert_eq(open_device(&tap, "net_tap0,iface=tap0,mac=02:00:00:00:00:55", err), 0, "%s", err);
    cr_assert_eq(memcmp(tap.mac, (const uint8_t[]){2, 0, 0, 0, 0, 0x55}, 6), 0);
    cr_assert_eq(tap.netdev_index, 0, "the kernel behind a TAP is the peer: its neighbours are not ours");
    cr_assert_eq(open_device(&packet, "net_af_packet0,iface=tap0", err), 0, "%s", err);
    cr_assert_eq(packet.netdev_index, if_nametoindex("tap0"));
    port_close(&packet);
    port_close(&tap);
    cr_assert_eq(open_device(&packet, "net_af_packet0,iface=tap0", err), -ENODEV);
}

Test(port, a_file_of_frames_is_read_by_pcap)
{
    char path[40], device[100], err[200];
    int fd = mkstemp(path_template(path));
    cr_assert_geq(fd, 0);
    const struct {
        uint32_t magic;
        uint16_t major, minor;
        uint32_t zone, figures, snap, link;
        uint32_t s, us, caught, len;
        uint8_t frame[60];
    } file = {0xa1b2c3d4, 2, 4, 0, 0, 65535, 1, 0, 0, 60, 60, {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x86, 0x24, 5}};
    cr_assert_eq(write(fd, &file, sizeof file), (ssize_t)sizeof file);
    close(fd);
    snprintf(device, sizeof device, "net_pcap0,rx_pcap=%s,tx_pcap=/dev/null", path);
    struct port port;
    cr_assert_eq(open_device(&port, device, err), 0, "%s", err);
    struct rte_mbuf *m = NULL;
    cr_assert_eq(port_rx_burst(&port, 0, &m, 1), 1);
    cr_assert_eq(m->pkt_len, 60);
    cr_assert_eq(memcmp(rte_pktmbuf_mtod(m, uint8_t *), file.frame, 60), 0);
    rte_pktmbuf_free(m);
    port_close(&port);
    unlink(path);
}

Test(port, what_the_device_verified_is_not_verified_again)
{
    struct port port = {.rx_csum_device = true};
    struct rte_mbuf m = {.ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD};
    struct frame_opts opts = port_frame_opts(&port, &m);
    cr_assert(opts.skip_ip_csum);
    cr_assert_not(opts.skip_udp_csum, "a checksum that the device found wrong is looked at again, and counted");
    m.ol_flags = RTE_MBUF_F_RX_L4_CKSUM_GOOD;
    opts = port_frame_opts(&port, &m);
    cr_assert_not(opts.skip_ip_csum);
    cr_assert(opts.skip_udp_csum);
    port.rx_csum_device = false;
    opts = port_frame_opts(&port, &m);
    cr_assert_not(opts.skip_udp_csum);
}

Test(port, port_without_a_device_is_up_and_matches)
{
    const struct port_config config = {.name = "p0", .netdev = "eth9", .ip4 = {10, 0, 0, 1}, .ip4_prefix_len = 24};
    const uint8_t mac[6] = {2, 0, 0, 0, 0, 7};
    struct port port;
    struct port_losses losses;
    char err[200] = "";
    cr_assert_eq(port_open_offline(&port, 3, &config, mac, NULL, err), 0, "%s", err);
    cr_expect_eq(port.index, 3);
    cr_expect_eq(port.mtu, 1500);
    cr_expect_eq(memcmp(port.mac, mac, 6), 0);
    cr_expect(port.link_up && !port.gone && port.tx_multi_seg);
    cr_expect(port.frame_opts.skip_udp_csum, "as configured");
    cr_expect_str_eq(port.config.netdev, "eth9");
    cr_expect_neq(port.config.netdev, config.netdev, "its own");
    uint8_t octets[60] = {2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 9, 0x86, 0x24};
    struct frame frame;
    uint32_t face;
    uint64_t sender;
    cr_assert_eq(frame_parse(octets, sizeof octets, &port.frame_opts, &frame), VERDICT_OK);
    cr_expect_eq(port_classify(&port, &frame, &face, &sender), PORT_MISS_VLAN, "to it, but it has no face");
    octets[5] = 8;
    cr_expect_eq(port_classify(&port, &frame, &face, &sender), PORT_MISS_L2, "to another");
    cr_expect_eq(port_quic_vips(&port, &(struct port_vip){.port_be = 1}, 1), 0, "it gets all frames anyway");
    port_losses(&port, &losses);
    cr_expect_eq(losses.rx_errors, 0);
    port_close(&port);
    const struct port_config large = {.name = "p0", .netdev = "eth9", .mtu = 9000, .rx_csum = true, .bare = true};
    cr_assert_eq(port_open_offline(&port, 3, &large, mac, NULL, err), 0, "%s", err);
    cr_expect(port.mtu == 9000 && port.bare && !port.frame_opts.skip_udp_csum);
    port_close(&port);
}
