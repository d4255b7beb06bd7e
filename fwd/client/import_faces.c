// SPDX-License-Identifier: Apache-2.0
/* Section face_system of nfd.conf. */
#include "fwd/client/import_impl.h"

#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"

#define PORT_RANGE .min = 1, .max = 65535, .strict = true

/* How the way to a network leads, where pitlaned knows but ports. */
#define ON_A_PORT "make a port of the interface (port: { NAME: { netdev = \"INTERFACE\"; }; };) and on it a face with "

static void take_general(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"enable_congestion_marking", IMPORT_BOOL, .to = "sockets.congestion-marking"},
        {0},
    };
    import_walk(import, node, path, keys);
}

static void take_path(struct import *import, const struct info_node *node, const char *path)
{
    if (!import_has_value(import, node, path))
        return;
    if (node->value[0] != '/' || strlen(node->value) > 107) {
        import_error(import, node, "%s: \"%.110s\" is not an absolute path of at most 107 octets", path, node->value);
        return;
    }
    char *quoted = import_quote(import, node, node->value);
    if (quoted != NULL)
        import_take(import, node, path, "unix.path", quoted);
    free(quoted);
}

static void take_unix(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"path", IMPORT_GROUP, .take = take_path},
        {0},
    };
    import_take(import, node, path, "unix.enabled", "true");
    import_take(import, node, path, "unix.mode", "\"0666\"");
    import_walk(import, node, path, keys);
}

/* Subnets of a list, which are keys "subnet" or "*". */
static void take_subnets(struct import *import, const struct info_node *node, const char *path, const char *key)
{
    char *list = NULL;
    size_t len;
    unsigned n = 0;
    FILE *out = open_memstream(&list, &len);
    if (out == NULL) {
        import->no_memory = true;
        return;
    }
    fputs("[", out);
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        uint8_t ip[16], prefix_len;
        if (strcmp(child->key, "*") == 0 && child->value[0] == '\0')
            fprintf(out, "%s \"0.0.0.0/0\", \"::/0\"", n++ > 0 ? "," : "");
        else if (strcmp(child->key, "subnet") != 0)
            import_error(import, child, "%s.%s: unknown; known are *, subnet", path, child->key);
        else if (!conf_subnet(child->value, ip, &prefix_len))
            import_error(import, child, "%s.subnet: \"%.60s\" is no subnet, as in \"10.0.0.0/8\" or \"fd00::/8\"", path,
                         child->value);
        else
            fprintf(out, "%s \"%s\"", n++ > 0 ? "," : "", child->value);
    }
    fputs(" ]", out);
    import->no_memory |= fclose(out) != 0;
    if (list != NULL)
        import_take(import, node, path, key, list);
    free(list);
}

static void take_whitelist(struct import *import, const struct info_node *node, const char *path)
{
    take_subnets(import, node, path, "tcp.local-whitelist");
}

static void take_blacklist(struct import *import, const struct info_node *node, const char *path)
{
    take_subnets(import, node, path, "tcp.local-blacklist");
}

static void take_local(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"whitelist", IMPORT_GROUP, .take = take_whitelist},
        {"blacklist", IMPORT_GROUP, .take = take_blacklist},
        {0},
    };
    import_walk(import, node, path, keys);
}

static void take_tcp(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"listen", IMPORT_BOOL, .to = "tcp.listen"},  {"port", IMPORT_COUNT, .to = "tcp.port", PORT_RANGE},
        {"enable_v4", IMPORT_BOOL, .to = "tcp.ipv4"}, {"enable_v6", IMPORT_BOOL, .to = "tcp.ipv6"},
        {"local", IMPORT_GROUP, .take = take_local},  {0},
    };
    import_walk(import, node, path, keys);
}

static bool is_everything(const struct info_node *list)
{
    return list->child != NULL && list->child->next == NULL && strcmp(list->child->key, "*") == 0;
}

/* Which interfaces: "*", "ifname GLOB", "ether MAC", "subnet SUBNET". */
static bool check_interfaces(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"*", IMPORT_NONE, .many = true},
        {"ifname", IMPORT_NONE, .many = true},
        {"ether", IMPORT_NONE, .many = true},
        {"subnet", IMPORT_NONE, .many = true},
        {0},
    };
    unsigned n_errors = import->n_errors;
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        const struct import_key *key = keys;
        while (key->name != NULL && strcmp(key->name, child->key) != 0)
            key++;
        if (key->name == NULL)
            import_error(import, child, "%s.%s: unknown; known are *, ifname, ether, subnet", path, child->key);
        else if ((strcmp(child->key, "*") == 0) != (child->value[0] == '\0'))
            import_error(import, child, "%s.%s: a value is missing, or is not expected", path, child->key);
    }
    return import->n_errors == n_errors;
}

static void take_udp_interfaces(struct import *import, const struct info_node *node, const char *path)
{
    if (!check_interfaces(import, node, path))
        return;
    if (strcmp(node->key, "whitelist") == 0 ? is_everything(node) : node->child == NULL)
        import_taken(import, node, path, "udp.multicast makes a face on each interface");
    else
        import_by_hand(import, node, path,
                       "udp.multicast makes a face on each interface; to choose some, set it to false, " ON_A_PORT
                       "remote = \"udp4://224.0.23.170:56363\"");
}

static void take_ad_hoc(struct import *import, const struct info_node *node, const char *path)
{
    bool yes;
    if (!import_yes_no(import, node, path, &yes))
        return;
    if (!yes)
        import_taken(import, node, path, "so it is here");
    else
        import_by_hand(import, node, path,
                       "set udp.multicast to false, " ON_A_PORT
                       "remote = \"udp4://224.0.23.170:56363\" and link-type = \"ad-hoc\"");
}

#define OTHER_GROUP "set udp.multicast to false, " ON_A_PORT "this group as its remote"

static void take_udp(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"listen", IMPORT_BOOL, .to = "udp.listen"},
        {"port", IMPORT_COUNT, .to = "udp.port", PORT_RANGE},
        {"enable_v4", IMPORT_BOOL, .to = "udp.ipv4"},
        {"enable_v6", IMPORT_BOOL, .to = "udp.ipv6"},
        {"idle_timeout", IMPORT_SECONDS, .to = "udp.idle-timeout", .min = 1, .max = 86400},
        {"unicast_mtu", IMPORT_COUNT, .to = "udp.mtu", .min = 64, .max = 8800, .strict = true},
        {"keep_alive_interval", IMPORT_NONE, .why = "NFD ignores it, too"},
        {"mcast", IMPORT_BOOL, .to = "udp.multicast"},
        {"mcast_group", IMPORT_FIXED, .def = "224.0.23.170", .why = OTHER_GROUP},
        {"mcast_port", IMPORT_FIXED, .def = "56363", .why = OTHER_GROUP},
        {"mcast_group_v6", IMPORT_FIXED, .def = "ff02::1234", .why = OTHER_GROUP},
        {"mcast_port_v6", IMPORT_FIXED, .def = "56363", .why = OTHER_GROUP},
        {"mcast_ad_hoc", IMPORT_GROUP, .take = take_ad_hoc},
        {"whitelist", IMPORT_GROUP, .take = take_udp_interfaces},
        {"blacklist", IMPORT_GROUP, .take = take_udp_interfaces},
        {0},
    };
    import_walk(import, node, path, keys);
}

static void take_websocket(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"listen", IMPORT_BOOL, .to = "websocket.listen"},
        {"port", IMPORT_COUNT, .to = "websocket.port", PORT_RANGE},
        {"enable_v4", IMPORT_BOOL, .to = "websocket.ipv4"},
        {"enable_v6", IMPORT_BOOL, .to = "websocket.ipv6"},
        {0},
    };
    import_walk(import, node, path, keys);
}

static void take_ether_listen(struct import *import, const struct info_node *node, const char *path)
{
    bool yes;
    if (!import_yes_no(import, node, path, &yes))
        return;
    if (yes)
        import_by_hand(import, node, path, "for each neighbour, " ON_A_PORT "remote = \"ether://[MAC]\"");
    else
        import_taken(import, node, path, "so it is here");
}

static void take_ether_mcast(struct import *import, const struct info_node *node, const char *path)
{
    bool yes;
    if (!import_yes_no(import, node, path, &yes))
        return;
    if (yes)
        import_by_hand(import, node, path, ON_A_PORT "remote = \"ether://[01:00:5e:00:17:aa]\"");
    else
        import_taken(import, node, path, "so it is here");
}

static void take_ether_ad_hoc(struct import *import, const struct info_node *node, const char *path)
{
    bool yes;
    if (!import_yes_no(import, node, path, &yes))
        return;
    if (yes)
        import_by_hand(import, node, path, "give that face link-type = \"ad-hoc\"");
    else
        import_taken(import, node, path, "so it is here");
}

static void take_ether_interfaces(struct import *import, const struct info_node *node, const char *path)
{
    if (check_interfaces(import, node, path))
        import_no_effect(import, node, path, "Ethernet faces are on ports; an interface without a port has none");
}

static void take_ether(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"listen", IMPORT_GROUP, .take = take_ether_listen},
        {"idle_timeout", IMPORT_NONE, .why = "there are no on-demand Ethernet faces"},
        {"mcast", IMPORT_GROUP, .take = take_ether_mcast},
        {"mcast_group", IMPORT_FIXED, .def = "01:00:5E:00:17:AA", .why = "make this group the remote of that face"},
        {"mcast_ad_hoc", IMPORT_GROUP, .take = take_ether_ad_hoc},
        {"whitelist", IMPORT_GROUP, .take = take_ether_interfaces},
        {"blacklist", IMPORT_GROUP, .take = take_ether_interfaces},
        {0},
    };
    import_walk(import, node, path, keys);
    // What is not said is yes there.
    if (import_child(node, "listen") == NULL || import_child(node, "mcast") == NULL)
        import_by_hand(import, node, path,
                       "NFD listens and has a face for the group on each interface; " ON_A_PORT
                       "remote = \"ether://[01:00:5e:00:17:aa]\" or that of a neighbour");
}

static void take_rule(struct import *import, const struct info_node *node, const char *path)
{
    const struct info_node *remote = NULL;
    char what[700];
    for (const struct info_node *child = node->child; child != NULL; child = child->next) {
        char joined[IMPORT_PATH_MAX];
        import_join(joined, path, child->key);
        if (strcmp(child->key, "remote") == 0) {
            if (!import_has_value(import, child, joined))
                return;
            remote = child;
            snprintf(what, sizeof what, ON_A_PORT "remote = \"%.300s\" and persistency = \"permanent\"", remote->value);
            import_by_hand(import, child, joined, what);
        } else if (strcmp(child->key, "whitelist") != 0 && strcmp(child->key, "blacklist") != 0) {
            import_error(import, child, "%s: unknown; known are remote, whitelist, blacklist", joined);
        } else if (check_interfaces(import, child, joined)) {
            import_by_hand(import, child, joined, "choose by it the interfaces whose ports get these faces");
        }
    }
    if (remote == NULL)
        import_error(import, node, "%s: remote is missing", path);
}

static void take_netdev_bound(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"rule", IMPORT_GROUP, .many = true, .take = take_rule},
        {0},
    };
    import_walk(import, node, path, keys);
}

void import_face_system(struct import *import, const struct info_node *node, const char *path)
{
    static const struct import_key keys[] = {
        {"general", IMPORT_GROUP, .take = take_general},
        {"unix", IMPORT_GROUP, .take = take_unix},
        {"tcp", IMPORT_GROUP, .take = take_tcp},
        {"udp", IMPORT_GROUP, .take = take_udp},
        {"ether", IMPORT_GROUP, .take = take_ether},
        {"websocket", IMPORT_GROUP, .take = take_websocket},
        {"netdev_bound", IMPORT_GROUP, .take = take_netdev_bound},
        {0},
    };
    import_walk(import, node, path, keys);
}

/* A family without its section is off. */
void import_face_system_absent(struct import *import, const struct info_node *section)
{
    static const struct {
        const char *family, *key;
    } families[] = {{"unix", "unix.enabled"},
                    {"tcp", "tcp.listen"},
                    {"udp", "udp.listen"},
                    {"udp", "udp.multicast"},
                    {"websocket", "websocket.listen"}};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        char path[IMPORT_PATH_MAX];
        import_join(path, "face_system", families[i].family);
        if (import_child(section, families[i].family) == NULL)
            import_absent(import, path, families[i].key, "false");
    }
}
