package lending

import "context"

// User is a person who can lend devices.
type User struct {
	ID    int64
	Name  string
	Email string
}

// Users finds users.
type Users interface {
	// Find returns the user, or nil without an error if the user is gone.
	Find(ctx context.Context, id int64) (*User, error)
}

// Mailer sends mails.
type Mailer interface {
	Send(ctx context.Context, address, subject, body string) error
}
