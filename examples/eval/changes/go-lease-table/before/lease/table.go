package lease

import (
	"sync"
	"time"
)

type slot struct {
	owner  string
	until  time.Time
	number uint64
}

// Table holds the leases. The mutex guards slots; methods that end in Locked expect
// that the caller holds it.
type Table struct {
	mu    sync.Mutex
	slots map[string]slot
	now   func() time.Time
}

// NewTable returns an empty table that takes the time from now.
func NewTable(now func() time.Time) *Table {
	return &Table{slots: map[string]slot{}, now: now}
}
