package crossdock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// Page is one page of a list.
type Page[R, M any] struct {
	Data []R `json:"data"`
	// Meta is what the list says about all pages.
	Meta M `json:"meta"`
	// Total is the number of records on all pages, in a list without a meta.
	Total int `json:"total"`
}

// NoMeta is the meta of a list that says nothing about its pages but their total.
type NoMeta struct{}

// CallOption changes one call.
type CallOption func(*http.Request)

// WithIdempotencyKey replaces the key that the client creates, so that a call can be repeated after a crash of your program. Create one for
// each attempted change, and store it with the change. A key that is made of an order returns the first response to every later change of it.
func WithIdempotencyKey(key string) CallOption {
	return func(request *http.Request) { request.Header.Set("Idempotency-Key", key) }
}

// Ptr returns a pointer to a value, for the optional fields of an input.
func Ptr[T any](value T) *T { return &value }

const (
	timeLayout = time.DateTime
	dateLayout = time.DateOnly
)

// fields is an input as the API names it. What is not set is missing.
type fields map[string]any

func (f fields) setText(name, value string) {
	if value != "" {
		f[name] = value
	}
}

func (f fields) setAny(name string, value any) {
	if value != nil {
		f[name] = value
	}
}

// setTime writes a time in UTC, and a date as it is.
func (f fields) setTime(name string, value time.Time, layout string) {
	if value.IsZero() {
		return
	}
	if layout == timeLayout {
		value = value.UTC()
	}
	f[name] = value.Format(layout)
}

func setPointer[T any](f fields, name string, value *T) {
	if value != nil {
		f[name] = *value
	}
}

func setList[T any](f fields, name string, value []T) {
	if len(value) > 0 {
		f[name] = value
	}
}

func (f fields) query() string {
	values := url.Values{}
	for name, value := range f {
		if list := reflect.ValueOf(value); list.Kind() == reflect.Slice {
			for index := range list.Len() {
				values.Add(name, fmt.Sprint(list.Index(index)))
			}
			continue
		}
		values.Set(name, fmt.Sprint(value))
	}
	return values.Encode()
}

// send sends a request and reads the whole response into a value.
func (c *Client) send(ctx context.Context, method, path string, input fields, into any, options []CallOption) error {
	target := strings.TrimSuffix(c.baseURL, "/") + path
	var body *bytes.Reader
	switch {
	case method == http.MethodGet:
		if query := input.query(); query != "" {
			target += "?" + query
		}
		body = bytes.NewReader(nil)
	case input == nil:
		body = bytes.NewReader(nil)
	default:
		text, err := json.Marshal(input)
		if err != nil {
			return fmt.Errorf("crossdock: %w", err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return fmt.Errorf("crossdock: %w", err)
	}
	if body.Len() > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, option := range options {
		option(request)
	}
	response, err := c.caller.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		return fmt.Errorf("crossdock: the response cannot be read: %w", err)
	}
	return nil
}

// call returns the data of a response.
func call[R any](ctx context.Context, c *Client, method, path string, input fields, options []CallOption) (R, error) {
	var envelope struct {
		Data R `json:"data"`
	}
	err := c.send(ctx, method, path, input, &envelope, options)
	return envelope.Data, err
}

// list is how the pages of a list are requested.
type list struct {
	method, path string
	// paging is page or before.
	paging      string
	largestPage int
}

// listPages iterates over the pages of a list. Without a limit of the caller they have the size of WithPageSize.
func listPages[R, M any](ctx context.Context, c *Client, list list, input fields) iter.Seq2[*Page[R, M], error] {
	return func(yield func(*Page[R, M], error) bool) {
		next := fields{"limit": min(c.caller.pageSize, list.largestPage)}
		for name, value := range input {
			next[name] = value
		}
		for {
			var text json.RawMessage
			page := &Page[R, M]{}
			err := c.send(ctx, list.method, list.path, next, &text, nil)
			if err == nil {
				err = json.Unmarshal(text, page)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(page, nil) || !hasNextPage(list.paging, next, text, len(page.Data)) {
				return
			}
		}
	}
}

// hasNextPage changes the fields to those of the next page. It returns false after the last one.
func hasNextPage(paging string, next fields, text []byte, count int) bool {
	var page struct {
		Meta struct {
			NextBefore *json.RawMessage `json:"next_before"`
			TotalPages *int             `json:"total_pages"`
		} `json:"meta"`
		Total *int `json:"total"`
	}
	if json.Unmarshal(text, &page) != nil || count == 0 {
		return false
	}
	if paging == "before" {
		if page.Meta.NextBefore == nil {
			return false
		}
		var before any
		if json.Unmarshal(*page.Meta.NextBefore, &before) != nil || before == nil {
			return false
		}
		next["before"] = before
		return true
	}
	number, isSet := next["page"].(int)
	if !isSet {
		number = 1
	}
	next["page"] = number + 1
	if page.Meta.TotalPages != nil {
		return number < *page.Meta.TotalPages
	}
	limit, _ := next["limit"].(int)
	return page.Total != nil && number*limit < *page.Total
}

// recordsOf iterates over the records of pages.
func recordsOf[R, M any](pages iter.Seq2[*Page[R, M], error]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for page, err := range pages {
			if err != nil {
				var none R
				yield(none, err)
				return
			}
			for _, record := range page.Data {
				if !yield(record, nil) {
					return
				}
			}
		}
	}
}

// wireTime is a time as the service writes it: without a zone, in UTC, or as RFC 3339.
type wireTime struct{ time.Time }

func (w *wireTime) UnmarshalJSON(text []byte) error {
	var value string
	if err := json.Unmarshal(text, &value); err != nil || value == "" {
		return err
	}
	for _, layout := range []string{timeLayout, dateLayout} {
		if parsed, err := time.Parse(layout, value); err == nil {
			w.Time = parsed
			return nil
		}
	}
	parsed, err := time.Parse(time.RFC3339Nano, value)
	w.Time = parsed
	return err
}

func (w *wireTime) pointer() *time.Time {
	if w == nil {
		return nil
	}
	return &w.Time
}
