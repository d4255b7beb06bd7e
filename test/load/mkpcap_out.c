// SPDX-License-Identifier: Apache-2.0
#include "test/load/mkpcap_out.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNAP_LEN 65535

/* Blocks and options of pcapng (draft-ietf-opsawg-pcapng). */
#define NG_SECTION   0x0a0d0d0a
#define NG_INTERFACE 1
#define NG_PACKET    6
#define NG_MAGIC     0x1a2b3c4d
#define NG_TSRESOL   9

struct mkpcap_out {
    enum mkpcap_format format;
    FILE *file;
    pcap_t *pcap;          /* classic only */
    pcap_dumper_t *dumper; /* then it owns file */
};

int mkpcap_format_parse(const char *text, enum mkpcap_format *format)
{
    static const char *const name[] = {"pcap", "pcap-us", "pcapng", "trafgen"};
    for (unsigned i = 0; i < sizeof name / sizeof *name; i++) {
        if (strcmp(text, name[i]) == 0) {
            *format = (enum mkpcap_format)i;
            return 0;
        }
    }
    return -EINVAL;
}

static void put16(struct mkpcap_out *out, uint16_t v)
{
    fwrite(&v, sizeof v, 1, out->file);
}

static void put32(struct mkpcap_out *out, uint32_t v)
{
    fwrite(&v, sizeof v, 1, out->file);
}

/* Numbers of pcapng are in the writer's byte order, which the section header tells. */
static void ng_begin(struct mkpcap_out *out, unsigned n_interfaces)
{
    put32(out, NG_SECTION);
    put32(out, 28);
    put32(out, NG_MAGIC);
    put16(out, 1); // version 1.0
    put16(out, 0);
    put32(out, UINT32_MAX); // section length: not given
    put32(out, UINT32_MAX);
    put32(out, 28);
    for (unsigned i = 0; i < n_interfaces; i++) {
        put32(out, NG_INTERFACE);
        put32(out, 32);
        put16(out, DLT_EN10MB);
        put16(out, 0);
        put32(out, SNAP_LEN);
        put16(out, NG_TSRESOL);
        put16(out, 1);
        put32(out, 9); // 10^-9 s; the octet, padded
        put32(out, 0); // end of options
        put32(out, 32);
    }
}

static void ng_write(struct mkpcap_out *out, unsigned interface, uint64_t time_ns, const uint8_t *frame, size_t len)
{
    static const uint8_t zeros[4];
    size_t padding = -len % 4;
    uint32_t size = (uint32_t)(32 + len + padding);
    put32(out, NG_PACKET);
    put32(out, size);
    put32(out, interface);
    put32(out, (uint32_t)(time_ns >> 32));
    put32(out, (uint32_t)time_ns);
    put32(out, (uint32_t)len);
    put32(out, (uint32_t)len);
    fwrite(frame, 1, len, out->file);
    fwrite(zeros, 1, padding, out->file);
    put32(out, size);
}

static void trafgen_write(struct mkpcap_out *out, const uint8_t *frame, size_t len)
{
    fputs("{\n", out->file);
    for (size_t i = 0; i < len; i++)
        fprintf(out->file, "0x%02x,%c", frame[i], i % 16 == 15 || i + 1 == len ? '\n' : ' ');
    fputs("}\n", out->file);
}

struct mkpcap_out *mkpcap_out_open(const char *path, enum mkpcap_format format, unsigned n_interfaces, char *err,
                                   size_t err_size)
{
    struct mkpcap_out *out = calloc(1, sizeof *out);
    if (out == NULL) {
        snprintf(err, err_size, "out of memory");
        return NULL;
    }
    out->format = format;
    out->file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (out->file == NULL) {
        snprintf(err, err_size, "%s: %s", path, strerror(errno));
        goto free_out;
    }
    if (format == MKPCAP_PCAPNG) {
        ng_begin(out, n_interfaces);
    } else if (format != MKPCAP_TRAFGEN) {
        out->pcap = pcap_open_dead_with_tstamp_precision(
            DLT_EN10MB, SNAP_LEN, format == MKPCAP_PCAP_NS ? PCAP_TSTAMP_PRECISION_NANO : PCAP_TSTAMP_PRECISION_MICRO);
        if (out->pcap == NULL) {
            snprintf(err, err_size, "out of memory");
            goto close_file;
        }
        out->dumper = pcap_dump_fopen(out->pcap, out->file);
        if (out->dumper == NULL) {
            snprintf(err, err_size, "%s: %s", path, pcap_geterr(out->pcap));
            goto close_pcap;
        }
    }
    return out;

close_pcap:
    pcap_close(out->pcap);
close_file:
    fclose(out->file);
free_out:
    free(out);
    return NULL;
}

void mkpcap_out_write(struct mkpcap_out *out, unsigned interface, uint64_t time_ns, const uint8_t *frame, size_t len)
{
    if (out->format == MKPCAP_PCAPNG) {
        ng_write(out, interface, time_ns, frame, len);
    } else if (out->format == MKPCAP_TRAFGEN) {
        trafgen_write(out, frame, len);
    } else {
        // With nanoseconds, tv_usec has these.
        uint64_t part = time_ns % 1000000000;
        struct pcap_pkthdr header = {
            .ts = {.tv_sec = (time_t)(time_ns / 1000000000),
                   .tv_usec = (suseconds_t)(out->format == MKPCAP_PCAP_NS ? part : part / 1000)},
            .caplen = (bpf_u_int32)len,
            .len = (bpf_u_int32)len};
        pcap_dump((u_char *)out->dumper, &header, frame);
    }
}

int mkpcap_out_close(struct mkpcap_out *out)
{
    bool bad = fflush(out->file) != 0 || ferror(out->file) != 0;
    if (out->dumper != NULL) {
        pcap_dump_close(out->dumper);
        pcap_close(out->pcap);
    } else if (fclose(out->file) != 0) {
        bad = true;
    }
    free(out);
    return bad ? -EIO : 0;
}
