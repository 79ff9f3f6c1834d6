package crossdock

import (
	"context"
	"encoding/json"
	"sync"

	"crossdock.example/go/crossdock/api"
)

// convert reads a value of the package api as one of this package.
func convert(from, into any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

type login struct {
	username string
	password string
	code     func(context.Context) (string, error)
}

// tokenSource logs in once for all calls that need a token at the same time.
type tokenSource struct {
	client *api.ClientWithResponses
	login  login

	mutex sync.Mutex
	grant *api.LoginGrant
}

// get returns the current grant, after a login if there is none.
func (s *tokenSource) get(ctx context.Context) (*api.LoginGrant, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.grant == nil {
		grant, err := s.logIn(ctx)
		if err != nil {
			return nil, err
		}
		s.grant = grant
	}
	return s.grant, nil
}

// forget removes a token that the service rejected, unless another call has already replaced it.
func (s *tokenSource) forget(token string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.grant != nil && s.grant.AccessToken == token {
		s.grant = nil
	}
}

func (s *tokenSource) logIn(ctx context.Context) (*api.LoginGrant, error) {
	var action api.LoginAction
	if err := action.FromPasswordLoginAction(api.PasswordLoginAction{
		Username: &s.login.username,
		Password: &s.login.password,
	}); err != nil {
		return nil, err
	}
	// Another login only creates another session. A code is valid once.
	result, err := s.client.LoginWithResponse(repeatable(ctx), action)
	if err != nil {
		return nil, err
	}
	required, err := result.JSON200.AsTwoFactorRequired()
	if err != nil {
		return nil, err
	}
	if required.Data.PreauthToken != "" {
		if result, err = s.verify(ctx, required.Data.PreauthToken); err != nil {
			return nil, err
		}
	}
	success, err := result.JSON200.AsLoginSuccess()
	if err != nil {
		return nil, err
	}
	return &success.Data, nil
}

func (s *tokenSource) verify(ctx context.Context, preauthToken string) (*api.LoginResponse, error) {
	code, err := s.login.code(ctx)
	if err != nil {
		return nil, err
	}
	var action api.LoginAction
	if err := action.FromVerifyTwoFactorAction(api.VerifyTwoFactorAction{
		PreauthToken: preauthToken,
		Code:         code,
	}); err != nil {
		return nil, err
	}
	return s.client.LoginWithResponse(ctx, action)
}
