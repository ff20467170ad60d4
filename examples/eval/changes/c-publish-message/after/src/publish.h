#ifndef PUBLISH_H
#define PUBLISH_H

#include <stdint.h>

#include "queue.h"

/* Publishes a reading. Returns 0, -ENOMEM or -ENOSPC. */
int publish_reading(struct queue *queue, uint16_t sensor, int32_t value);

#endif
