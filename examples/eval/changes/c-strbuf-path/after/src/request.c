#include "request.h"

#include <errno.h>

#include "log.h"

int request_build(struct strbuf *request, const char *model, struct version version)
{
	const char *path;
	bool complete;

	strbuf_cut(request, 0);
	if (!strbuf_appendf(request, "GET /firmware/%s", model))
		return -ENOMEM;
	/* The text behind the method and the blank. */
	path = strbuf_text(request) + sizeof("GET ") - 1;
	complete = strbuf_appendf(request, "?version=%u.%u", version.major, version.minor)
		&& strbuf_appendf(request, " HTTP/1.1\r\n");
	log_line("update request for %.*s", path_length(model), path);
	return complete ? 0 : -ENOMEM;
}
