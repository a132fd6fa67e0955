// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for tokens: the users file holds their digests. Pure; any thread.
#ifndef TENSORD_SERVER_SHA256_H
#define TENSORD_SERVER_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32 };

void sha256(const void *bytes, size_t count, uint8_t digest[SHA256_SIZE]);
#endif
