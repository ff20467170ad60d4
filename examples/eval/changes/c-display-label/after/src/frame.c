#include "frame.h"

#include <string.h>

#define FRAME_START 0xA5
#define FRAME_END 0x5A

static uint8_t printable(char c)
{
	return c >= 0x20 && c < 0x7F ? (uint8_t)c : '?';
}

/* Returns the sum of all bytes before the field `sum`. */
static uint8_t checksum(const struct frame *frame)
{
	const uint8_t *bytes = (const uint8_t *)frame;
	uint8_t sum = 0;

	for (size_t i = 0; i < offsetof(struct frame, sum); i++)
		sum += bytes[i];
	return sum;
}

void frame_encode(struct frame *frame, uint8_t display, const char *label)
{
	size_t length = strlen(label);

	if (length > LABEL_SIZE)
		length = LABEL_SIZE;
	frame->start = FRAME_START;
	frame->display = display;
	memset(frame->label, ' ', LABEL_SIZE);
	for (size_t i = 0; i < length; i++)
		frame->label[i] = printable(label[i]);
	frame->sum = checksum(frame);
	frame->end = FRAME_END;
}
