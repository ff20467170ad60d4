package quota

import "sync"

// Counter counts the calls of the accounts until the service is restarted at night.
type Counter struct {
	mu    sync.Mutex
	calls map[string]int
}

// NewCounter returns an empty Counter.
func NewCounter() *Counter {
	return &Counter{calls: map[string]int{}}
}

// Take counts one call of the account. It returns the number of calls that are left,
// and false if the quota is used up.
func (c *Counter) Take(account Account) (int, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls[account.ID] >= account.PerDay {
		return 0, false
	}
	c.calls[account.ID]++
	return account.PerDay - c.calls[account.ID], true
}
