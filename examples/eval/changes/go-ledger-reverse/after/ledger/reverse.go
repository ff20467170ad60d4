package ledger

import (
	"errors"
	"fmt"
)

// Errors of Reverse.
var (
	ErrUnknownEntry    = errors.New("ledger: unknown entry")
	ErrAlreadyReversed = errors.New("ledger: entry is reversed already")
	ErrIsReversal      = errors.New("ledger: entry is a reversal")
)

// reversible returns the entry if a reversal of it is allowed.
func (l *Ledger) reversible(id int64) (Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry, ok := l.entries[id]
	switch {
	case !ok:
		return Entry{}, ErrUnknownEntry
	case entry.Reverses != 0:
		return Entry{}, ErrIsReversal
	case l.reversed[id]:
		return Entry{}, ErrAlreadyReversed
	}
	return entry, nil
}

// Reverse books the negated amount of the entry and returns the new entry.
func (l *Ledger) Reverse(id int64) (Entry, error) {
	entry, err := l.reversible(id)
	if err != nil {
		return Entry{}, fmt.Errorf("reverse %d: %w", id, err)
	}
	l.reversed[id] = true
	return l.appendLocked(Entry{
		Account:  entry.Account,
		Cents:    -entry.Cents,
		Reverses: id,
	}), nil
}
