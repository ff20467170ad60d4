package ledger

import "sync"

// Entry is one booking; amounts are cents.
type Entry struct {
	ID       int64
	Account  string
	Cents    int64
	Reverses int64 // 0 unless the entry is a reversal
}

// Ledger holds all entries. The mutex guards the fields below it.
type Ledger struct {
	mu       sync.Mutex
	entries  map[int64]Entry
	balances map[string]int64
	reversed map[int64]bool
	lastID   int64
}

// New returns an empty ledger.
func New() *Ledger {
	return &Ledger{
		entries:  map[int64]Entry{},
		balances: map[string]int64{},
		reversed: map[int64]bool{},
	}
}

// Post books an amount on the account.
func (l *Ledger) Post(account string, cents int64) Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.appendLocked(Entry{Account: account, Cents: cents})
}

// appendLocked gives the entry an ID and adds it. The caller holds l.mu.
func (l *Ledger) appendLocked(entry Entry) Entry {
	l.lastID++
	entry.ID = l.lastID
	l.entries[entry.ID] = entry
	l.balances[entry.Account] += entry.Cents
	return entry
}
