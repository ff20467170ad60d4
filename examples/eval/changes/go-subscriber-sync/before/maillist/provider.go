package maillist

import "context"

// Provider is the API of the mail provider.
type Provider interface {
	// Addresses returns all addresses of the list; an error if any page is missing.
	Addresses(ctx context.Context, list int64) ([]string, error)
	// Remove deletes an address from the list. Removing a missing one is no error.
	Remove(ctx context.Context, list int64, address string) error
}
