package quota

import (
	"sync"
	"time"
)

type usage struct {
	day   time.Time
	calls int
}

// Counter counts the calls of the accounts per day.
type Counter struct {
	mu    sync.Mutex
	usage map[string]usage
	now   func() time.Time
}

// NewCounter returns a Counter that takes the time from now.
func NewCounter(now func() time.Time) *Counter {
	return &Counter{usage: map[string]usage{}, now: now}
}

// dayOf returns the start of the quota day.
func dayOf(t time.Time) time.Time {
	year, month, day := t.UTC().Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// Take counts one call of the account. It returns the number of calls that are left
// today, and false if the quota is used up.
func (c *Counter) Take(account Account) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	today := dayOf(c.now())
	used := c.usage[account.ID]
	if !used.day.Equal(today) {
		used = usage{day: today}
	}
	if used.calls >= account.PerDay {
		return 0, false
	}
	used.calls++
	c.usage[account.ID] = used
	return account.PerDay - used.calls, true
}
