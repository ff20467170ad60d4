#ifndef PACKET_H
#define PACKET_H

#include <stddef.h>
#include <stdint.h>

#define PACKET_MAX_PAYLOAD 64

/* A packet that packet_check has accepted: `length` is at most PACKET_MAX_PAYLOAD. */
struct packet {
	uint8_t type;
	uint8_t length;
	uint8_t payload[PACKET_MAX_PAYLOAD];
};

/* Fills the packet from received bytes. Returns 0, or -EINVAL for a malformed one. */
int packet_check(const uint8_t *data, size_t size, struct packet *packet);

#endif
