// SPDX-License-Identifier: Apache-2.0
#ifndef FWD_MGMT_WIRE_FIELDS_H
#define FWD_MGMT_WIRE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tlv;

#define WIRE_N_OF(list) (sizeof(list) / sizeof *(list))

/*
 * Structs told as lists of elements, so that one list serves decoder and encoder and their orders cannot differ.
 */

enum wire_kind {
    WIRE_NNI,      /**< uint64_t */
    WIRE_OCTETS,   /**< struct mgmt_octets */
    WIRE_NAME,     /**< struct mgmt_octets: TLV-VALUE of a Name */
    WIRE_STRATEGY, /**< struct mgmt_octets: TLV-VALUE of the Name that is inside */
};

/** What says that an element is there. */
enum wire_presence {
    WIRE_REQUIRED,
    WIRE_BIT,      /**< bit @p has of the uint32_t that the struct begins with */
    WIRE_BOOL,     /**< the bool at offset @p has */
    WIRE_NONEMPTY, /**< octets of a length that is not 0 */
};

struct wire_field {
    uint32_t type;
    uint8_t kind;     /**< enum wire_kind */
    uint8_t presence; /**< enum wire_presence */
    uint16_t offset;
    uint16_t has;
};

/** Octets of the elements of @p object that are there. */
size_t wire_size(const struct wire_field *field, size_t n, const void *object);
/** Write them; the caller has seen that they fit. @return one past the last octet */
uint8_t *wire_write(uint8_t *p, const struct wire_field *field, size_t n, const void *object);
/** Read elements into a zeroed @p object. @return 0; -EINVAL when one is malformed, out of order or missing */
int wire_read(const uint8_t *p, size_t len, const struct wire_field *field, size_t n, void *object);

/** Write a TLV of the elements of @p object that are there. @return octets, 0 when @p size is too small */
size_t wire_encode(uint8_t *p, size_t size, uint32_t type, const struct wire_field *field, size_t n,
                   const void *object);
/** Read a TLV, and nothing behind it, into a zeroed @p object. @return as wire_read() */
int wire_decode(const uint8_t *p, size_t len, uint32_t type, const struct wire_field *field, size_t n, void *object);

/** True when the octets are one TLV of that type, and nothing more. */
bool wire_unwrap(const uint8_t *p, size_t len, uint32_t type, struct tlv *tlv);
/** Octets of a TLV with a value of @p len octets. */
size_t wire_tlv_size(uint32_t type, size_t len);
/** Octets of a TLV that is a NonNegativeInteger. */
size_t wire_nni_size(uint32_t type, uint64_t number);
/** Write type and length. @return where the value belongs */
uint8_t *wire_put_header(uint8_t *p, uint32_t type, size_t len);
/** Write a NonNegativeInteger element. @return one past its last octet */
uint8_t *wire_put_nni(uint8_t *p, uint32_t type, uint64_t number);

#endif
