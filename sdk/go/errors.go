package crossdock

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Code is the stable reason of a failure. Test for one with errors.Is:
//
//	if errors.Is(err, crossdock.CodeDuplicateTrackingNumber) { ... }
//
// The service can get new codes. Treat a code that you do not know by its status.
type Code string

// Error makes a code a target of errors.Is.
func (c Code) Error() string { return string(c) }

// Error is a response that is no success.
type Error struct {
	Status  int
	Code    Code
	Message string
	// RequestID identifies the request in the service's log.
	RequestID string
	// Fields are the fields that are not acceptable, if the service names them.
	Fields []FieldError
	// Existing is the stored pre-alert, if the code is CodeDuplicateTrackingNumber. If its Differs is true, it belongs to another
	// customer, and yours was not stored.
	Existing *ExistingPrealert
	// RetryAfter is the wait that the service asks for, or 0.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	return fmt.Sprintf("crossdock: %d %s: %s (request %s)", e.Status, e.Code, e.Message, e.RequestID)
}

// Is reports whether the target is this error's code.
func (e *Error) Is(target error) bool {
	code, isCode := target.(Code)
	return isCode && code == e.Code
}

// ErrTimeout is the reason of a *ConnectionError if the time limit of the attempt passed.
var ErrTimeout = errors.New("the time limit passed")

// ConnectionError is the error of a call without a response, after all repetitions: no connection, a time limit, or a connection
// that broke before the whole response was read. Test for the reason with errors.Is and errors.As.
type ConnectionError struct {
	Err error
	// WasSent is false if the service cannot have received the request.
	WasSent bool
}

func (e *ConnectionError) Error() string {
	return fmt.Sprintf("crossdock: no response from the service: %v", e.Err)
}

func (e *ConnectionError) Unwrap() error { return e.Err }

func errorOf(response *http.Response, content []byte) *Error {
	failure := &Error{
		Status:     response.StatusCode,
		RequestID:  response.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(response.Header.Get("Retry-After")),
	}
	var body struct {
		Code      string            `json:"code"`
		Message   string            `json:"message"`
		RequestID string            `json:"request_id"`
		Errors    []FieldError      `json:"errors"`
		Existing  *ExistingPrealert `json:"existing"`
	}
	// A proxy in front of the service may send something else.
	if err := json.Unmarshal(content, &body); err != nil || body.Code == "" {
		failure.Message = "The response is no failure of the API: " + response.Status
		return failure
	}
	failure.Code, failure.Message, failure.RequestID = Code(body.Code), body.Message, body.RequestID
	failure.Existing, failure.Fields = body.Existing, body.Errors
	return failure
}
