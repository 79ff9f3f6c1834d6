package crossdock

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// Attempt is one attempt of a call, for [WithAttemptHook]. It has no credential, no body, no query and no record, so that it can be
// logged.
type Attempt struct {
	// Operation is the operation, as the API reference names it.
	Operation string
	// Number counts from 1. A later attempt is a repetition, or follows a new login.
	Number int
	// Duration is the time until the whole response was read, for a file until it begins.
	Duration time.Duration
	// Status is the HTTP status, or 0 if there was no response.
	Status int
	// RequestID identifies the request in the service's log. Name it when you ask for support.
	RequestID string
	// Err is the error of the attempt, if it was no success. The call can still succeed with another attempt.
	Err error
}

// report calls the hook with the result of an attempt.
func (c *caller) report(request *http.Request, number int, start time.Time, response *http.Response, failure error) {
	if c.onAttempt == nil {
		return
	}
	attempt := Attempt{Operation: operationOf(request), Number: number, Duration: time.Since(start), Err: failure}
	var refusal *Error
	switch {
	case response != nil:
		attempt.Status, attempt.RequestID = response.StatusCode, response.Header.Get("X-Request-Id")
	case errors.As(failure, &refusal):
		attempt.Status, attempt.RequestID = refusal.Status, refusal.RequestID
	}
	c.onAttempt(attempt)
}

// operationOf returns the name of an operation. The base URL can have a path too.
func operationOf(request *http.Request) string {
	for _, operation := range operations {
		if operation.method == request.Method && strings.HasSuffix(request.URL.Path, operation.path) {
			return operation.id
		}
	}
	for _, operation := range operations {
		// The path has parameters.
		prefix, _, hasParameters := strings.Cut(operation.path, "{")
		if hasParameters && operation.method == request.Method && strings.Contains(request.URL.Path, prefix) {
			return operation.id
		}
	}
	return ""
}
