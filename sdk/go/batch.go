package crossdock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"crossdock.example/go/crossdock/api"
)

// BatchResult is the response to a batch of pre-alerts. Check the status of each line.
type BatchResult struct {
	Total           int         `json:"total"`
	Created         int         `json:"created"`
	Duplicate       int         `json:"duplicate"`
	UnknownCustomer int         `json:"unknown_customer"`
	Invalid         int         `json:"invalid"`
	Results         []BatchLine `json:"results"`
}

// BatchLine is the result of one pre-alert of a batch. Line 1 is the first one.
type BatchLine struct {
	Line int `json:"line"`
	// Status is created, duplicate, unknown_customer or invalid.
	Status     string `json:"status"`
	Message    string `json:"message"`
	PrealertID string `json:"prealert_id"`
	// Existing is the stored pre-alert of a duplicate. If its Differs is true, it belongs to another customer.
	Existing *api.ExistingPrealert `json:"existing"`
	Code     Code                  `json:"code"`
	Errors   []api.FieldError      `json:"errors"`
}

// ErrIncompleteBatch means that the service received fewer pre-alerts than were sent.
var ErrIncompleteBatch = errors.New("crossdock: the service did not receive all pre-alerts of the batch, submit it again")

// SubmitPrealerts submits up to 1,000 pre-alerts in one request. If isAtomic, either all are stored or none, and a line that
// fails makes the call fail. If something on the way has cut the request, it returns what the service received, and ErrIncompleteBatch:
// submit the batch again.
func (c *Client) SubmitPrealerts(ctx context.Context, prealerts []api.PrealertSubmission, isAtomic bool) (*BatchResult, error) {
	var lines bytes.Buffer
	// Encode ends each value with a line break.
	encoder := json.NewEncoder(&lines)
	for _, prealert := range prealerts {
		if err := encoder.Encode(prealert); err != nil {
			return nil, fmt.Errorf("crossdock: %w", err)
		}
	}
	atomic := func(_ context.Context, request *http.Request) error {
		if isAtomic {
			request.URL.RawQuery = url.Values{"atomic": {"true"}}.Encode()
		}
		return nil
	}
	response, err := c.SubmitPrealertWithBody(ctx, nil, "application/x-ndjson", &lines, atomic)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var result struct {
		Data BatchResult `json:"data"`
	}
	if err := json.NewDecoder(response.Body).Decode(&result); err != nil {
		return nil, fmt.Errorf("crossdock: %w", err)
	}
	if received := len(result.Data.Results); received != len(prealerts) {
		return &result.Data, fmt.Errorf("%w: %d of %d", ErrIncompleteBatch, received, len(prealerts))
	}
	return &result.Data, nil
}
