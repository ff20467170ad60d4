#include "timers.h"

bool timer_start(struct timer *timer, uint32_t now, uint32_t period, bool repeat)
{
	if (period == 0 || period > TIMER_MAX_PERIOD_MS)
		return false;
	timer->started = now;
	timer->period = period;
	timer->repeat = repeat;
	timer->active = true;
	return true;
}

void timer_stop(struct timer *timer)
{
	timer->active = false;
}

static bool is_due(const struct timer *timer, uint32_t now)
{
	uint32_t elapsed = now - timer->started;

	/* A timer that a callback started after `now` was taken has a huge difference. */
	return timer->active && elapsed >= timer->period && elapsed <= UINT32_MAX / 2;
}

void timers_run(struct timer *timers, size_t count, uint32_t now)
{
	for (size_t i = 0; i < count; i++) {
		struct timer *timer = &timers[i];

		if (!is_due(timer, now))
			continue;
		/* Before the callback, which may change the timer. */
		if (timer->repeat)
			timer->started += timer->period;
		else
			timer->active = false;
		timer->callback(timer->context);
	}
}
