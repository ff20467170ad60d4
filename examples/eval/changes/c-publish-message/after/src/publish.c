#include "publish.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Fills topic and body; both fit for all values. */
static void fill(struct message *message, uint16_t sensor, int32_t value)
{
	snprintf(message->topic, sizeof(message->topic), "sensor/%" PRIu16, sensor);
	snprintf(message->body, sizeof(message->body), "%" PRId32, value);
}

int publish_reading(struct queue *queue, uint16_t sensor, int32_t value)
{
	struct message *message = message_new();

	if (!message)
		return -ENOMEM;
	fill(message, sensor, value);
	if (!queue_push(queue, message)) {
		message_free(message);
		return -ENOSPC;
	}
	return 0;
}
