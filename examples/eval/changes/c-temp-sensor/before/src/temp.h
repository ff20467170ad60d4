#ifndef TEMP_H
#define TEMP_H

#include <stdbool.h>
#include <stdint.h>

/* Stores the temperature in thousandths of a degree. Returns 0 or a negative errno. */
int temp_read_mdeg(int32_t *mdeg);

/* Returns whether the fan is to run; `running` is its present state. */
bool temp_fan_wanted(int32_t mdeg, bool running);

#endif
