#ifndef FLASH_H
#define FLASH_H

#include <stdint.h>

#define FLASH_PAGE_SIZE 256u

/* Runs in the completion interrupt. */
typedef void (*flash_done)(void *context);

/*
 * Queues the reading of a page into `target`, which has FLASH_PAGE_SIZE bytes and stays
 * valid until `done` has run. Returns 0, -EINVAL or -EBUSY.
 */
int flash_read_async(uint16_t page, void *target, flash_done done, void *context);

#endif
