package crossdock

import (
	"crypto/rand"
	"errors"
	"net/http"
	"time"
)

// caller sends the requests of the generated client: with a credential, repeated after a temporary failure, with an *Error for
// each response that is no success, and with a *ConnectionError if there was none.
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
	request.Header.Set("User-Agent", userAgent)
	start := time.Now()
	hasNewToken, sent := false, 0
	for retries := 0; ; retries++ {
		used, err := c.authenticate(request)
		if err != nil {
			return nil, err
		}
		sent++
		begin := time.Now()
		response, failure := c.attempt(request)
		c.report(request, sent, begin, response, failure)
		if failure == nil {
			return response, nil
		}
		if c.tokens != nil && !hasNewToken && isUnauthorized(failure) && rewind(request) {
			// A refused request was not executed, so that this is no retry.
			c.tokens.forget(used)
			hasNewToken = true
			retries--
			continue
		}
		wait, isTemporary := c.waitAfter(failure, request, retries, start)
		if !isTemporary || !rewind(request) {
			return nil, failure
		}
		if err := sleep(request.Context(), wait); err != nil {
			return nil, errors.Join(failure, err)
		}
	}
}

func isUnauthorized(failure error) bool {
	var refusal *Error
	return errors.As(failure, &refusal) && refusal.Status == http.StatusUnauthorized
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
