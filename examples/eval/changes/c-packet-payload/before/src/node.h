#ifndef NODE_H
#define NODE_H

#include <stdint.h>

#include "packet.h"

#define NODE_NAME_MAX 24

/* The name is not terminated; name_length tells its length. */
struct node {
	uint8_t name[NODE_NAME_MAX];
	uint8_t name_length;
	uint16_t interval_s;
};

/* Applies a checked packet. Returns 0 or -EINVAL; the node is unchanged then. */
int node_apply(struct node *node, const struct packet *packet);

#endif
