package geo

import (
	"context"
	"errors"
	"time"
)

// ErrTimeout is returned if the backend does not answer in time.
var ErrTimeout = errors.New("geo: lookup timed out")

const lookupTimeout = 2 * time.Second

type answer struct {
	address Address
	err     error
}

// Lookup finds addresses with a bounded wait.
type Lookup struct {
	backend Backend
}

// NewLookup returns a Lookup that asks the backend.
func NewLookup(backend Backend) *Lookup {
	return &Lookup{backend: backend}
}

// Find returns the address for the query, ErrTimeout after two seconds, or the
// error of the context.
func (l *Lookup) Find(ctx context.Context, query string) (Address, error) {
	answers := make(chan answer)
	go func() {
		address, err := l.backend.Find(query)
		answers <- answer{address, err}
	}()

	timer := time.NewTimer(lookupTimeout)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a.address, a.err
	case <-timer.C:
		return Address{}, ErrTimeout
	case <-ctx.Done():
		return Address{}, ctx.Err()
	}
}
