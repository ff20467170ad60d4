package lending

import "time"

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
