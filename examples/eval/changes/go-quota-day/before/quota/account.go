package quota

import "time"

// Account is a customer of the API.
type Account struct {
	ID       string
	PerDay   int
	Location *time.Location // never nil, UTC if the customer has chosen no zone
}
