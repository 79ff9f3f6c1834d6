// Package crossdock is the client of the Crossdock API: pre-alerts, packages, manifests and billing of a courier warehouse.
//
// The fields of a [Client] have the calls that integrators make most: client.Prealerts.Submit, client.Packages.List,
// client.Events.List. Their types have times as [time.Time]. All other operations of the contract are methods of the package api, for
// example [api.ClientWithResponses.ManageManifestWithResponse].
//
// A call that the service refuses returns an [*Error], so that the result (of the package api: JSON200 or JSON201) is set
// whenever the error is nil. The client repeats a call after a temporary failure, see [WithRetries].
package crossdock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"crossdock.example/go/crossdock/api"
)

// Client calls the API of one instance. It is safe for concurrent use.
type Client struct {
	*api.ClientWithResponses
	services
	// Events are the events of a courier.
	Events *EventsService

	baseURL string
	tokens  *tokenSource
	caller  *caller
}

// New returns a client of the instance at a base URL, for example https://demo.crossdock.example.
// Choose one credential: [WithAPIKey], [WithLogin] or [WithToken].
func New(baseURL string, options ...Option) (*Client, error) {
	settings := settings{
		http:        newHTTPClient(),
		maxRetries:  maxRetries,
		maxWait:     seconds(longestRetryAfter),
		timeout:     seconds(attemptLimit),
		lastAttempt: seconds(lastAttemptLimit),
		batchLines:  batchLines,
		pageSize:    pageSize,
	}
	for _, option := range options {
		if err := option(&settings); err != nil {
			return nil, err
		}
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
	own := &Client{ClientWithResponses: client, baseURL: baseURL, tokens: caller.tokens, caller: caller}
	own.services = servicesOf(own)
	own.Events = &EventsService{own}
	return own, nil
}

func newHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: seconds(connectLimit), KeepAlive: 30 * time.Second}
	// The time limit of an attempt also covers TLS, the headers and the body.
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        100,
		MaxIdleConnsPerHost: 100,
		IdleConnTimeout:     90 * time.Second,
	}
	// The API does not redirect. A redirect would send the API key to another host.
	doNotFollow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, CheckRedirect: doNotFollow}
}

type settings struct {
	http        api.HttpRequestDoer
	apiKey      string
	token       string
	login       *login
	maxRetries  int
	maxWait     time.Duration
	timeout     time.Duration
	lastAttempt time.Duration
	batchLines  int
	pageSize    int
	onAttempt   func(Attempt)
}

// Option changes a setting of a new client.
type Option func(*settings) error

// WithAPIKey authenticates with a courier's API key, which can only submit pre-alerts. A service token needs [WithToken].
func WithAPIKey(key string) Option {
	return func(s *settings) error {
		if strings.HasPrefix(key, "cdk_") {
			return errors.New("crossdock: the API key is a service token. Use WithToken: it submits pre-alerts too")
		}
		s.apiKey = key
		return required("API key", key)
	}
}

func required(name, value string) error {
	if value == "" {
		return fmt.Errorf("crossdock: the %s is empty. Check the environment variable or setting that it comes from", name)
	}
	return nil
}

// WithLogin logs in as a user at the first call, and again when the token has expired.
func WithLogin(username, password string) Option {
	return WithLoginAndCode(username, password, func(context.Context) (string, error) {
		return "", fmt.Errorf("crossdock: %s has a second factor: use WithLoginAndCode", username)
	})
}

// WithLoginAndCode logs in as a user with two-factor authentication. The client calls code at each login for a six-digit
// code or a backup code.
func WithLoginAndCode(username, password string, code func(context.Context) (string, error)) Option {
	return func(s *settings) error {
		s.login = &login{username, password, code}
		return errors.Join(required("user name", username), required("password", password))
	}
}

// WithToken authenticates with a service token, or with an access token that you obtained yourself. The client cannot renew it. A service
// token with the scope prealerts:write also submits pre-alerts.
func WithToken(token string) Option {
	return func(s *settings) error {
		s.token = token
		return required("token", token)
	}
}

// WithHTTPClient replaces the HTTP client, for example for a proxy or for certificates.
func WithHTTPClient(client api.HttpRequestDoer) Option {
	return func(s *settings) error {
		s.http = client
		return nil
	}
}

// WithRetries sets how often a call is repeated after a temporary failure (default 4), and the longest Retry-After that the
// client waits for (default one minute). If it is longer, the call returns the error at once.
func WithRetries(maxRetries int, maxWait time.Duration) Option {
	return func(s *settings) error {
		s.maxRetries, s.maxWait = maxRetries, maxWait
		return nil
	}
}

// WithTimeouts sets the time limit of one attempt (default 30 seconds; for a file: without any progress), and when the last
// attempt may begin, counted from the first (default 150 seconds).
func WithTimeouts(attempt, lastAttempt time.Duration) Option {
	return func(s *settings) error {
		s.timeout, s.lastAttempt = attempt, lastAttempt
		return nil
	}
}

// WithBatchLines sets how many pre-alerts SubmitMany sends per request, 1 to 1,000 (default 250). A request must arrive within 10
// seconds, so a slow line needs fewer. After 408 the batch is halved, and the following ones too.
func WithBatchLines(lines int) Option {
	return func(s *settings) error {
		s.batchLines = lines
		if lines < 1 || lines > maxBatchLines {
			return fmt.Errorf("crossdock: a request has 1 to %d pre-alerts, not %d", maxBatchLines, lines)
		}
		return nil
	}
}

// WithPageSize sets how many records a page of a list has if the call sets no limit: 500 by default, at most what the operation allows.
func WithPageSize(records int) Option {
	return func(s *settings) error {
		s.pageSize = records
		if records < 1 {
			return fmt.Errorf("crossdock: a page has 1 or more records, not %d", records)
		}
		return nil
	}
}

// WithAttemptHook sets a function that is called after each attempt of a call, for logs and metrics. It is called by the goroutines that
// make the calls.
func WithAttemptHook(hook func(Attempt)) Option {
	return func(s *settings) error {
		s.onAttempt = hook
		return nil
	}
}

// User logs in, unless the client has a token, and returns the user. It is nil unless the client was made with a login.
func (c *Client) User(ctx context.Context) (*LoggedInUser, error) {
	if c.tokens == nil {
		return nil, nil
	}
	grant, err := c.tokens.get(ctx)
	if err != nil {
		return nil, err
	}
	var user LoggedInUser
	return &user, convert(grant.User, &user)
}
