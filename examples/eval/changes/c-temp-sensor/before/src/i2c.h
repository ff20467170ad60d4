#ifndef I2C_H
#define I2C_H

#include <stddef.h>
#include <stdint.h>

/* Reads registers of a device. Returns 0 or a negative errno value. */
int i2c_read(uint8_t device, uint8_t reg, uint8_t *data, size_t size);

#endif
