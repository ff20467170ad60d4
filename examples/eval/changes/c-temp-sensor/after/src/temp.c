#include "temp.h"

#include <errno.h>

#include "i2c.h"

#define SENSOR_ADDRESS 0x48
#define REG_TEMPERATURE 0x05
#define NOT_READY 0x8000u
#define STEPS_PER_DEGREE 16
#define FAN_ON_MDEG 60000
#define FAN_OFF_MDEG 55000

int temp_read_mdeg(int32_t *mdeg)
{
	uint8_t data[2];
	uint16_t raw;
	int32_t steps;
	int err;

	err = i2c_read(SENSOR_ADDRESS, REG_TEMPERATURE, data, sizeof(data));
	if (err)
		return err;
	raw = (uint16_t)((data[0] << 8) | data[1]);
	if (raw == NOT_READY)
		return -EAGAIN;
	steps = raw < NOT_READY ? raw : (int32_t)raw - 0x10000;
	*mdeg = steps * 100 / STEPS_PER_DEGREE;
	return 0;
}

bool temp_fan_wanted(int32_t mdeg, bool running)
{
	if (mdeg >= FAN_ON_MDEG)
		return true;
	return running && mdeg >= FAN_OFF_MDEG;
}
