// Package crossdock is the client of the Crossdock API: pre-alerts, packages, manifests and billing of a courier warehouse.
//
// A [Client] has a method for each operation of the contract, for example [api.ClientWithResponses.SubmitPrealertWithResponse].
// A call that the service refuses returns an [*Error], so that the field of the success status (JSON200 or JSON201) is set
// whenever the error is nil. The client repeats a call after a temporary failure, see [WithRetries].
package crossdock

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"crossdock.example/go/crossdock/api"
)

// Client calls the API of one instance. It is safe for concurrent use.
type Client struct {
	*api.ClientWithResponses
	tokens *tokenSource
}

// New returns a client of the instance at a base URL, for example https://demo.crossdock.example.
// Choose one credential: [WithAPIKey], [WithLogin] or [WithToken].
func New(baseURL string, options ...Option) (*Client, error) {
	settings := settings{
		http:       &http.Client{Timeout: 5 * time.Minute},
		maxRetries: 4,
		maxWait:    time.Minute,
	}
	for _, option := range options {
		option(&settings)
	}
	caller := &caller{settings: settings}
	if settings.login != nil {
		// The login uses the same retries, without a credential.
		plain, err := api.NewClientWithResponses(baseURL, api.WithHTTPClient(caller.withoutCredential()))
		if err != nil {
			return nil, fmt.Errorf("crossdock: %w", err)
		}
		caller.tokens = &tokenSource{client: plain, login: *settings.login}
	}
	client, err := api.NewClientWithResponses(baseURL, api.WithHTTPClient(caller))
	if err != nil {
		return nil, fmt.Errorf("crossdock: %w", err)
	}
	return &Client{ClientWithResponses: client, tokens: caller.tokens}, nil
}

type settings struct {
	http       api.HttpRequestDoer
	apiKey     string
	token      string
	login      *login
	maxRetries int
	maxWait    time.Duration
}

// Option changes a setting of a new client.
type Option func(*settings)

// WithAPIKey authenticates with a courier's API key, which can only submit pre-alerts.
func WithAPIKey(key string) Option {
	return func(s *settings) { s.apiKey = key }
}

// WithLogin logs in as a user at the first call, and again when the token has expired.
func WithLogin(username, password string) Option {
	return func(s *settings) {
		code := func(context.Context) (string, error) {
			return "", fmt.Errorf("crossdock: %s has a second factor: use WithLoginAndCode", username)
		}
		s.login = &login{username, password, code}
	}
}

// WithLoginAndCode logs in as a user with two-factor authentication. The client calls code at each login for a six-digit
// code or a backup code.
func WithLoginAndCode(username, password string, code func(context.Context) (string, error)) Option {
	return func(s *settings) { s.login = &login{username, password, code} }
}

// WithToken authenticates with an access token that you obtained yourself. The client cannot renew it.
func WithToken(token string) Option {
	return func(s *settings) { s.token = token }
}

// WithHTTPClient replaces the HTTP client, whose default has a timeout of five minutes per attempt.
func WithHTTPClient(client api.HttpRequestDoer) Option {
	return func(s *settings) { s.http = client }
}

// WithRetries sets how often a call is repeated after 429, 502, 503, 504 or a broken connection (default 4), and the
// longest wait before a repetition (default one minute). If Retry-After is longer than that, the call returns the error.
func WithRetries(maxRetries int, maxWait time.Duration) Option {
	return func(s *settings) { s.maxRetries, s.maxWait = maxRetries, maxWait }
}

// User logs in, unless the client has a token, and returns the user. It is nil unless the client was made with a login.
func (c *Client) User(ctx context.Context) (*api.LoggedInUser, error) {
	if c.tokens == nil {
		return nil, nil
	}
	grant, err := c.tokens.get(ctx)
	if err != nil {
		return nil, err
	}
	return &grant.User, nil
}
