#ifndef TIMERS_H
#define TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMER_MAX_PERIOD_MS (24u * 60u * 60u * 1000u)

struct timer {
	uint32_t started;
	uint32_t period;
	bool active;
	bool repeat;
	void (*callback)(void *context);
	void *context;
};

/* Starts or restarts a timer. Returns false for a period of 0 or above the maximum. */
bool timer_start(struct timer *timer, uint32_t now, uint32_t period, bool repeat);

void timer_stop(struct timer *timer);

/* Calls the callbacks of the timers that are due. */
void timers_run(struct timer *timers, size_t count, uint32_t now);

#endif
