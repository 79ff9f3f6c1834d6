package crossdock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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
	Existing *ExistingPrealert `json:"existing"`
	// Warnings say what was stored although it may be wrong, as of a single call. Show the messages to a person.
	Warnings []PrealertWarning `json:"warnings"`
	Code     Code              `json:"code"`
	Errors   []FieldError      `json:"errors"`
}

// ErrIncompleteBatch means that the service received fewer pre-alerts than were sent.
var ErrIncompleteBatch = errors.New("crossdock: the service did not receive all pre-alerts of the batch, submit it again")

// The service accepts so many lines and bytes at once.
const (
	maxBatchLines = 1000
	maxBatchBytes = 4 * 1024 * 1024
)

// SubmitMany submits any number of pre-alerts in requests of 250, see [WithBatchLines]. Check the status of each line. With an error it
// returns the results before it. If something on the way has cut a request, the error is ErrIncompleteBatch: submit the batch again.
func (s *PrealertsService) SubmitMany(ctx context.Context, prealerts []PrealertSubmission) (*BatchResult, error) {
	return s.client.submitPrealerts(ctx, prealerts, false)
}

// SubmitAllOrNone submits up to 1,000 pre-alerts in one request. Either all are stored or none, and a line that fails makes the call fail.
func (s *PrealertsService) SubmitAllOrNone(ctx context.Context, prealerts []PrealertSubmission) (*BatchResult, error) {
	return s.client.submitPrealerts(ctx, prealerts, true)
}

func (c *Client) submitPrealerts(ctx context.Context, prealerts []PrealertSubmission, isAtomic bool) (*BatchResult, error) {
	all := &BatchResult{Results: []BatchLine{}}
	lines := make([][]byte, len(prealerts))
	for index, prealert := range prealerts {
		line, err := json.Marshal(prealert)
		if err != nil {
			return all, fmt.Errorf("crossdock: %w", err)
		}
		lines[index] = append(line, '\n')
	}
	size := c.caller.batchLines
	if isAtomic {
		size = max(1, len(lines))
	}
	for len(lines) > 0 {
		part := lines[:countOf(lines, size, isAtomic)]
		result, err := c.submitPart(ctx, part, isAtomic)
		var refusal *Error
		isTooSlow := errors.As(err, &refusal) && refusal.Status == http.StatusRequestTimeout
		if isTooSlow && !isAtomic && len(part) > 1 && c.caller.maxRetries > 0 {
			// Nothing of it is stored. Each part has a key of its own.
			size = (len(part) + 1) / 2
			continue
		}
		if err != nil {
			return all, err
		}
		all.add(result)
		if received := len(result.Results); received != len(part) {
			return all, fmt.Errorf("%w: %d of %d", ErrIncompleteBatch, received, len(part))
		}
		lines = lines[len(part):]
	}
	return all, nil
}

// countOf returns how many lines the next request has.
func countOf(lines [][]byte, size int, isAtomic bool) int {
	bytes := 0
	for count, line := range lines {
		bytes += len(line)
		if count == size || (!isAtomic && count > 0 && bytes > maxBatchBytes) {
			return count
		}
	}
	return len(lines)
}

// add appends the results of the next request.
func (b *BatchResult) add(next *BatchResult) {
	before := len(b.Results)
	b.Total += next.Total
	b.Created += next.Created
	b.Duplicate += next.Duplicate
	b.UnknownCustomer += next.UnknownCustomer
	b.Invalid += next.Invalid
	for _, line := range next.Results {
		line.Line += before
		b.Results = append(b.Results, line)
	}
}

func (c *Client) submitPart(ctx context.Context, lines [][]byte, isAtomic bool) (*BatchResult, error) {
	atomic := func(_ context.Context, request *http.Request) error {
		if isAtomic {
			request.URL.RawQuery = url.Values{"atomic": {"true"}}.Encode()
		}
		return nil
	}
	if !isAtomic && len(lines) > 1 && c.caller.maxRetries > 0 {
		ctx = divisible(ctx)
	}
	body := bytes.NewReader(bytes.Join(lines, nil))
	response, err := c.SubmitPrealertWithBody(ctx, nil, "application/x-ndjson", body, atomic)
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
	return &result.Data, nil
}
