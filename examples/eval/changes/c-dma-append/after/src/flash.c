#include "flash.h"

#include <errno.h>
#include <stddef.h>

#include "dma.h"

#define FLASH_BASE 0x90000000u
#define FLASH_PAGES 4096u

static uint32_t page_address(uint16_t page)
{
	return FLASH_BASE + (uint32_t)page * FLASH_PAGE_SIZE;
}

int flash_read_async(uint16_t page, void *target, flash_done done, void *context)
{
	struct dma_desc *desc;

	if (page >= FLASH_PAGES)
		return -EINVAL;
	desc = dma_desc_alloc();
	if (!desc)
		return -EBUSY;
	desc->source = page_address(page);
	desc->target = target;
	desc->size = FLASH_PAGE_SIZE;
	desc->done = done;
	desc->context = context;
	desc->next = NULL;
	dma_append(desc);
	return 0;
}
