#ifndef REQUEST_H
#define REQUEST_H

#include <string.h>

#include "strbuf.h"

struct version {
	unsigned int major;
	unsigned int minor;
};

/* Returns the number of bytes of the path of a model. */
static inline int path_length(const char *model)
{
	return (int)(sizeof("/firmware/") - 1 + strlen(model));
}

/* Replaces the text by the request line. Returns 0 or -ENOMEM. */
int request_build(struct strbuf *request, const char *model, struct version version);

#endif
