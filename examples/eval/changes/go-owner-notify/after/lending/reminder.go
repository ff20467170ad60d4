package lending

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const loanPeriod = 14 * 24 * time.Hour

// Loan is a lent device.
type Loan struct {
	Device string
	UserID int64
	Since  time.Time
}

// Overdue returns true if the loan has lasted longer than the period.
func (l Loan) Overdue(now time.Time) bool {
	return now.Sub(l.Since) > loanPeriod
}

// Reminder reminds people of their overdue loans.
type Reminder struct {
	Users   Users
	Mailer  Mailer
	Manager User // the lab manager
}

// Run sends a mail for each overdue loan. Errors do not stop the run; they are returned
// together.
func (r *Reminder) Run(ctx context.Context, loans []Loan, now time.Time) error {
	var failures []string
	for _, loan := range loans {
		if !loan.Overdue(now) {
			continue
		}
		if err := r.remind(ctx, loan); err != nil {
			failures = append(failures, fmt.Sprintf("%s: %v", loan.Device, err))
		}
	}
	if len(failures) > 0 {
		return fmt.Errorf("%d reminders failed: %s", len(failures), strings.Join(failures, "; "))
	}
	return nil
}

func (r *Reminder) remind(ctx context.Context, loan Loan) error {
	user, err := r.Users.Find(ctx, loan.UserID)
	if err != nil {
		return err
	}
	body := fmt.Sprintf("Hello %s,\nplease bring %s back.\n", user.Name, loan.Device)
	return r.Mailer.Send(ctx, user.Email, "Overdue: "+loan.Device, body)
}
