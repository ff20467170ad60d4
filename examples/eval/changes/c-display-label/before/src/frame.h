#ifndef FRAME_H
#define FRAME_H

#include <stddef.h>
#include <stdint.h>

#define LABEL_SIZE 16

struct frame {
	uint8_t start;
	uint8_t display;
	uint8_t label[LABEL_SIZE];
	uint8_t sum;
	uint8_t end;
};

_Static_assert(sizeof(struct frame) == 20, "frames have no padding");

/* Fills the frame for a display; `label` is a C string. */
void frame_encode(struct frame *frame, uint8_t display, const char *label);

#endif
