package lease

import "time"

// aliveLocked returns true if the slot has a living lease.
func (t *Table) aliveLocked(s slot) bool {
	return s.owner != "" && t.now().Before(s.until)
}

// grantLocked stores a lease of the resource and returns its fencing number.
func (t *Table) grantLocked(resource, owner string, number uint64, life time.Duration) uint64 {
	t.slots[resource] = slot{owner: owner, until: t.now().Add(life), number: number}
	return number
}

// Acquire grants or renews the lease of the resource. It returns the fencing number,
// and false if another owner holds the lease. The owner is not empty.
func (t *Table) Acquire(resource, owner string, life time.Duration) (uint64, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	current := t.slots[resource]
	if !t.aliveLocked(current) {
		return t.grantLocked(resource, owner, current.number+1, life), true
	}
	if current.owner != owner {
		return 0, false
	}
	return t.grantLocked(resource, owner, current.number, life), true
}

// Release ends the lease of the owner.
func (t *Table) Release(resource, owner string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	current := t.slots[resource]
	if current.owner != owner || !t.aliveLocked(current) {
		return
	}
	t.slots[resource] = slot{number: current.number}
}
