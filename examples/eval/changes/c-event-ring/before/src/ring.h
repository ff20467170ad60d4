#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_SIZE 64

struct event {
	uint32_t time_ms;
	uint16_t code;
};

/* Empty if head == tail. The next event is written to slots[head]. */
struct ring {
	struct event slots[RING_SIZE];
	size_t head;
	size_t tail;
	uint32_t lost;
};

void ring_init(struct ring *ring);
bool ring_push(struct ring *ring, struct event event);
bool ring_pop(struct ring *ring, struct event *event);
size_t ring_count(const struct ring *ring);

#endif
