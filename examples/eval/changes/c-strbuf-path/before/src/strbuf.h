#ifndef STRBUF_H
#define STRBUF_H

#include <stdbool.h>
#include <stddef.h>

/* A growing string. Zero-initialise it before use, release it with strbuf_free. */
struct strbuf {
	char *data;
	size_t length;
	size_t capacity;
};

/* Appends formatted text. Returns false without memory; the old text is kept then. */
bool strbuf_appendf(struct strbuf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Returns the text, an empty string for an empty buffer. The pointer is valid until the
 * next change of the buffer.
 */
const char *strbuf_text(const struct strbuf *buf);

/* Shortens the text to at most `length` bytes. */
void strbuf_cut(struct strbuf *buf, size_t length);

void strbuf_free(struct strbuf *buf);

#endif
