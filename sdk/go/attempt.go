package crossdock

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// attempt sends a request once. A response in JSON is read to its end, so that one that breaks in its body is no success. The
// time limit is for the whole attempt. For a file it is the longest time without progress.
func (c *caller) attempt(request *http.Request) (*http.Response, error) {
	limit := startLimit(request.Context(), c.timeout)
	attempt := request.WithContext(limit.ctx)
	if isForm(request) {
		attempt.Body = &upload{request.Body, limit}
	}
	response, err := c.http.Do(attempt)
	if err != nil {
		limit.stop()
		return nil, limit.connectionError(err, wasSent(err))
	}
	isFile := respondsWithFile(request.URL.Path) && !isPage(response)
	if response.StatusCode < 300 && isFile {
		limit.timer.Stop()
		response.Body = &download{response.Body, limit}
		return response, nil
	}
	defer limit.stop()
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, limit.connectionError(err, true)
	}
	if response.StatusCode >= 300 {
		return nil, errorOf(response, body)
	}
	if respondsWithFile(request.URL.Path) || !isOurs(response, body) {
		return nil, &ConnectionError{Err: errNotOurs, WasSent: true}
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

var errNotOurs = errors.New("the response is not one of the service, or is not complete")

// isOurs returns whether a success in JSON has the status that every success of the service has. A proxy may answer with JSON of its
// own.
func isOurs(response *http.Response, body []byte) bool {
	var success struct {
		Status string `json:"status"`
	}
	isJSON := strings.Contains(response.Header.Get("Content-Type"), "json")
	if !isJSON || json.Unmarshal(body, &success) != nil {
		return false
	}
	return success.Status == "success" || success.Status == "2fa_required"
}

// isPage returns whether a response is what a file never is: JSON, or the page of a proxy.
func isPage(response *http.Response) bool {
	kind := response.Header.Get("Content-Type")
	return strings.Contains(kind, "json") || strings.Contains(kind, "html")
}

func isForm(request *http.Request) bool {
	return request.Body != nil && strings.HasPrefix(request.Header.Get("Content-Type"), "multipart/")
}

// respondsWithFile searches in the path, because the base URL can have one too.
func respondsWithFile(path string) bool {
	return slices.ContainsFunc(filePaths, func(file string) bool { return strings.Contains(path, file) })
}

// wasSent returns false if the connection was never opened.
func wasSent(err error) bool {
	var failure *net.OpError
	return !errors.As(err, &failure) || failure.Op != "dial"
}

// limit cancels an attempt that takes too long.
type limit struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	duration time.Duration
}

func startLimit(parent context.Context, duration time.Duration) *limit {
	ctx, cancel := context.WithCancelCause(parent)
	timer := time.AfterFunc(duration, func() { cancel(ErrTimeout) })
	return &limit{ctx, cancel, timer, duration}
}

// extend starts the time again, because there was progress.
func (l *limit) extend() { l.timer.Reset(l.duration) }

func (l *limit) stop() {
	l.timer.Stop()
	l.cancel(nil)
}

func (l *limit) connectionError(err error, wasSent bool) error {
	if cause := context.Cause(l.ctx); errors.Is(cause, ErrTimeout) {
		err = ErrTimeout
	}
	return &ConnectionError{Err: err, WasSent: wasSent}
}

// upload is the body of a form. Each part that is sent extends the limit.
type upload struct {
	io.ReadCloser
	limit *limit
}

func (u *upload) Read(into []byte) (int, error) {
	u.limit.extend()
	return u.ReadCloser.Read(into)
}

// download is the body of a file. The limit is for each read: a caller may take its time between them.
type download struct {
	io.ReadCloser
	limit *limit
}

func (d *download) Read(into []byte) (int, error) {
	d.limit.extend()
	count, err := d.ReadCloser.Read(into)
	d.limit.timer.Stop()
	if err != nil && err != io.EOF {
		return count, d.limit.connectionError(err, true)
	}
	return count, err
}

func (d *download) Close() error {
	defer d.limit.stop()
	return d.ReadCloser.Close()
}
