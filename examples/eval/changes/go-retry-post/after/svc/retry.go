package svc

import (
	"net/http"
	"time"
)

const (
	maxAttempts = 3
	firstPause  = 200 * time.Millisecond
)

// RetryClient repeats requests that failed for a passing reason.
type RetryClient struct {
	next Doer
}

// NewRetryClient returns a RetryClient that sends with next.
func NewRetryClient(next Doer) *RetryClient {
	return &RetryClient{next: next}
}

// Do sends the request and repeats it where that is allowed.
func (c *RetryClient) Do(req *http.Request) (*http.Response, error) {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		try, err := copyOf(req)
		if err != nil {
			return nil, err
		}
		resp, err := c.next.Do(try)
		if attempt == maxAttempts || !repeatable(req) || !passing(resp, err) {
			return resp, err
		}
		if err == nil {
			resp.Body.Close()
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
}

// copyOf returns a copy of the request with a fresh body where GetBody offers one.
func copyOf(req *http.Request) (*http.Request, error) {
	try := req.Clone(req.Context())
	if req.GetBody == nil {
		return try, nil
	}
	body, err := req.GetBody()
	try.Body = body
	return try, err
}

// repeatable returns true if the request can be sent a second time.
func repeatable(req *http.Request) bool {
	return req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
}

func passing(resp *http.Response, err error) bool {
	if err != nil {
		return true
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
