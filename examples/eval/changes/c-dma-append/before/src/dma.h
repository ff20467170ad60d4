#ifndef DMA_H
#define DMA_H

#include <stdbool.h>
#include <stdint.h>

struct dma_desc {
	uint32_t source;
	void *target;
	uint16_t size;
	void (*done)(void *context);
	void *context;
	struct dma_desc *next;
};

/* Disables interrupts and returns the old state for irq_restore. */
uint32_t irq_save(void);
void irq_restore(uint32_t state);

/* Takes a descriptor from the pool of eight, NULL if all are in use. Interrupt-safe. */
struct dma_desc *dma_desc_alloc(void);

/*
 * Appends a descriptor to the list of the channel and starts the channel if it is idle.
 * The completion interrupt takes descriptors from the same list: the caller has
 * interrupts disabled.
 */
void dma_append(struct dma_desc *desc);

#endif
