package svc

import "net/http"

// IdempotencyHeader marks a request that the receiver executes at most once.
const IdempotencyHeader = "Idempotency-Key"

// Doer sends a request; *http.Client is one.
type Doer interface {
	Do(req *http.Request) (*http.Response, error)
}
