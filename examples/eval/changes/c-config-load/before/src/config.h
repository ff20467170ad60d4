#ifndef CONFIG_H
#define CONFIG_H

#include <stddef.h>

#define CONFIG_ENTRIES 32
#define CONFIG_NAME 32
#define CONFIG_VALUE 96

struct config_entry {
	char name[CONFIG_NAME];
	char value[CONFIG_VALUE];
};

struct config {
	struct config_entry entries[CONFIG_ENTRIES];
	size_t count;
};

/*
 * Reads the file. Returns 0, or a negative errno value; `config` is changed on success
 * only.
 */
int config_load(const char *path, struct config *config);

#endif
