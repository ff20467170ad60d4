#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINE_SIZE (CONFIG_NAME + CONFIG_VALUE + 2)

/* Adds the entry of a line without its line end. Returns 0 or -EINVAL. */
static int parse_line(const char *line, struct config *config)
{
	const char *equals = strchr(line, '=');
	struct config_entry *entry;
	size_t name_length;

	if (!equals || config->count == CONFIG_ENTRIES)
		return -EINVAL;
	name_length = (size_t)(equals - line);
	if (name_length == 0 || name_length >= CONFIG_NAME)
		return -EINVAL;
	if (strlen(equals + 1) >= CONFIG_VALUE)
		return -EINVAL;
	entry = &config->entries[config->count++];
	memcpy(entry->name, line, name_length);
	entry->name[name_length] = '\0';
	strcpy(entry->value, equals + 1);
	return 0;
}

int config_load(const char *path, struct config *config)
{
	struct config fresh = { .count = 0 };
	char line[LINE_SIZE];
	int failed;
	FILE *file = fopen(path, "r");

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		size_t length = strcspn(line, "\n");

		if (line[length] != '\n' && !feof(file))
			return -EINVAL;
		line[length] = '\0';
		if (length == 0 || line[0] == '#')
			continue;
		if (parse_line(line, &fresh))
			return -EINVAL;
	}
	failed = ferror(file);
	fclose(file);
	if (failed)
		return -EIO;
	*config = fresh;
	return 0;
}
