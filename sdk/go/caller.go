package crossdock

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"math"
	mathrand "math/rand/v2"
	"net/http"
	"path"
	"strconv"
	"time"
)

// caller sends the requests of the generated client: with a credential, repeated after a temporary failure, and with an
// *Error for each response that is no success.
type caller struct {
	settings
	tokens *tokenSource
}

func (c *caller) withoutCredential() *caller {
	settings := c.settings
	settings.apiKey, settings.token, settings.login = "", "", nil
	return &caller{settings: settings}
}

// Do implements api.HttpRequestDoer.
func (c *caller) Do(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPost && request.Header.Get("Idempotency-Key") == "" {
		request.Header.Set("Idempotency-Key", rand.Text())
	}
	hasNewToken := false
	for attempt := 0; ; attempt++ {
		used, err := c.authenticate(request)
		if err != nil {
			return nil, err
		}
		response, failure := c.send(request)
		if failure == nil {
			return response, nil
		}
		var refusal *Error
		isRefusal := errors.As(failure, &refusal)
		if isRefusal && refusal.Status == http.StatusUnauthorized && c.tokens != nil && !hasNewToken {
			c.tokens.forget(used)
			hasNewToken = true
			if rewind(request) {
				continue
			}
		}
		wait, isTemporary := c.waitAfter(request, refusal, attempt)
		if !isTemporary || !rewind(request) {
			return nil, failure
		}
		if err := sleep(request.Context(), wait); err != nil {
			return nil, errors.Join(failure, err)
		}
	}
}

// authenticate adds the credential and returns the token, if it is one.
func (c *caller) authenticate(request *http.Request) (string, error) {
	token := c.token
	if c.tokens != nil {
		grant, err := c.tokens.get(request.Context())
		if err != nil {
			return "", err
		}
		token = grant.AccessToken
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if c.apiKey != "" {
		request.Header.Set("X-API-KEY", c.apiKey)
	}
	return token, nil
}

func (c *caller) send(request *http.Request) (*http.Response, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	return nil, readError(response)
}

// waitAfter returns how long to wait before the next attempt, and whether there is one. The refusal is nil if the connection
// broke.
func (c *caller) waitAfter(request *http.Request, refusal *Error, attempt int) (time.Duration, bool) {
	if attempt >= c.maxRetries || request.Context().Err() != nil {
		return 0, false
	}
	if refusal == nil {
		return backoff(attempt), isRepeatable(request)
	}
	switch refusal.Status {
	case http.StatusTooManyRequests:
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if !isRepeatable(request) {
			return 0, false
		}
	default:
		// The first request with this Idempotency-Key is still running.
		if refusal.Status != http.StatusConflict || refusal.RetryAfter == 0 {
			return 0, false
		}
	}
	wait := max(refusal.RetryAfter, backoff(attempt))
	return wait, wait <= c.maxWait
}

// withoutIdempotencyKey are the operations that change something and take no Idempotency-Key.
var withoutIdempotencyKey = map[string]bool{
	"login.php": true, "ChangePassword.php": true, "TwoFactor.php": true, "PasswordReset.php": true, "Sessions.php": true,
}

// isRepeatable returns whether a request can be sent again although the first one may have been executed.
func isRepeatable(request *http.Request) bool {
	return request.Method != http.MethodPost || !withoutIdempotencyKey[path.Base(request.URL.Path)]
}

// rewind prepares the body for another attempt. It returns false for a stream, which can only be read once.
func rewind(request *http.Request) bool {
	if request.Body == nil || request.Body == http.NoBody {
		return true
	}
	if request.GetBody == nil {
		return false
	}
	body, err := request.GetBody()
	if err != nil {
		return false
	}
	request.Body = body
	return true
}

// backoff returns half a second, doubled with each attempt, with jitter.
func backoff(attempt int) time.Duration {
	seconds := 0.5 * math.Pow(2, float64(attempt))
	return time.Duration((0.5 + mathrand.Float64()/2) * seconds * float64(time.Second))
}

func sleep(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retryAfter reads the header Retry-After, in seconds or as a date.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return time.Duration(seconds * float64(time.Second))
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}

// discard reads the rest of a body, so that the connection can be used again.
func discard(body io.Reader) { _, _ = io.Copy(io.Discard, io.LimitReader(body, 64<<10)) }
