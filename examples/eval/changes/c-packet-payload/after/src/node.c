#include "node.h"

#include <errno.h>
#include <string.h>

enum packet_type {
	PACKET_NAME = 1,
	PACKET_INTERVAL = 2,
};

static int set_name(struct node *node, const struct packet *packet)
{
	if (packet->length == 0 || packet->length > NODE_NAME_MAX)
		return -EINVAL;
	memcpy(node->name, packet->payload, packet->length);
	node->name_length = packet->length;
	return 0;
}

static int set_interval(struct node *node, const struct packet *packet)
{
	uint16_t interval;

	if (packet->length != 2)
		return -EINVAL;
	interval = (uint16_t)(packet->payload[0] << 8 | packet->payload[1]);
	if (interval == 0)
		return -EINVAL;
	node->interval_s = interval;
	return 0;
}

int node_apply(struct node *node, const struct packet *packet)
{
	switch (packet->type) {
	case PACKET_NAME:
		return set_name(node, packet);
	case PACKET_INTERVAL:
		return set_interval(node, packet);
	default:
		return 0;
	}
}
