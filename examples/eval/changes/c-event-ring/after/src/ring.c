#include "ring.h"

#include <string.h>

static size_t next_index(size_t index)
{
	index++;
	return index > RING_SIZE ? 0 : index;
}

void ring_init(struct ring *ring)
{
	memset(ring, 0, sizeof(*ring));
}

/* Adds an event; returns false if the ring is full. */
bool ring_push(struct ring *ring, struct event event)
{
	size_t next = next_index(ring->head);

	if (next == ring->tail) {
		ring->lost++;
		return false;
	}
	ring->slots[ring->head] = event;
	ring->head = next;
	return true;
}

/* Removes the oldest event; returns false if the ring is empty. */
bool ring_pop(struct ring *ring, struct event *event)
{
	if (ring->head == ring->tail)
		return false;
	*event = ring->slots[ring->tail];
	ring->tail = next_index(ring->tail);
	return true;
}

size_t ring_count(const struct ring *ring)
{
	return (ring->head + RING_SIZE - ring->tail) % RING_SIZE;
}
