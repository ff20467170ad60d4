package maillist

import (
	"context"
	"database/sql"
	"fmt"
)

const activeQuery = `SELECT address FROM subscribers WHERE list_id = $1 AND cancelled_at IS NULL`

// Sync compares our lists with those of the provider.
type Sync struct {
	db       *sql.DB
	provider Provider
}

// NewSync returns a Sync of the database with the provider.
func NewSync(db *sql.DB, provider Provider) *Sync {
	return &Sync{db: db, provider: provider}
}

// active returns the set of active addresses of the list.
func (s *Sync) active(ctx context.Context, list int64) (map[string]bool, error) {
	rows, err := s.db.QueryContext(ctx, activeQuery, list)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	addresses := map[string]bool{}
	for rows.Next() {
		var address string
		if err := rows.Scan(&address); err != nil {
			return nil, err
		}
		addresses[address] = true
	}
	return addresses, nil
}

// RemoveCancelled removes the addresses that are not active any more and returns
// their number.
func (s *Sync) RemoveCancelled(ctx context.Context, list int64) (int, error) {
	remote, err := s.provider.Addresses(ctx, list)
	if err != nil {
		return 0, fmt.Errorf("list %d: read provider: %w", list, err)
	}
	active, err := s.active(ctx, list)
	if err != nil {
		return 0, fmt.Errorf("list %d: read subscribers: %w", list, err)
	}
	removed := 0
	for _, address := range remote {
		if active[address] {
			continue
		}
		if err := s.provider.Remove(ctx, list, address); err != nil {
			return removed, fmt.Errorf("list %d: remove: %w", list, err)
		}
		removed++
	}
	return removed, nil
}
