// The steps of sdk-tools/packed/steps.ts, in a project that has the SDK from a module proxy.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"crossdock.example/go/crossdock"
)

type report = map[string]any

var (
	ctx      = context.Background()
	run      = env("RUN_ID")
	mutex    sync.Mutex
	attempts = []report{}
)

func env(name string) string { return os.Getenv("CROSSDOCK_" + name) }

func main() {
	steps := []func() (report, error){
		func() (report, error) { return live(env("URL"), 1) },
		func() (report, error) { return live(env("FAULTY_URL"), 2, crossdock.WithAttemptHook(remember)) },
		list,
		verify,
		func() (report, error) { return submit(env("SANDBOX_URL"), env("SANDBOX_KEY"), env("SANDBOX_USER_CODE"), 3) },
	}
	for index, step := range steps {
		result, err := step()
		if err != nil {
			result = report{"error": err.Error()}
		}
		text, _ := json.Marshal(result)
		fmt.Printf("{\"step\":%d,\"ok\":%t,%s\n", index+1, err == nil, strings.TrimPrefix(string(text), "{"))
	}
}

func remember(attempt crossdock.Attempt) {
	mutex.Lock()
	defer mutex.Unlock()
	var status any
	if attempt.Status != 0 {
		status = attempt.Status
	}
	attempts = append(attempts, report{
		"operation": attempt.Operation, "attempt": attempt.Number, "status": status, "request_id": attempt.RequestID,
	})
}

func live(url string, number int, options ...crossdock.Option) (report, error) {
	return submit(url, env("API_KEY"), env("USER_CODE"), number, options...)
}

func submit(url, key, userCode string, number int, options ...crossdock.Option) (report, error) {
	client, err := crossdock.New(url, append(options, crossdock.WithAPIKey(key))...)
	if err != nil {
		return nil, err
	}
	prealert := crossdock.PrealertSubmission{UserCode: userCode, TrackingNumber: fmt.Sprint(run, "-", number)}
	submitted, err := client.Prealerts.Submit(ctx, prealert)
	return report{"prealert_id": submitted.PrealertID}, err
}

func list() (report, error) {
	login := crossdock.WithLogin(env("STAFF_USERNAME"), env("PASSWORD"))
	staff, err := crossdock.New(env("URL"), login, crossdock.WithPageSize(1))
	if err != nil {
		return nil, err
	}
	numbers, newest := []string{}, time.Time{}
	for prealert, err := range staff.Prealerts.List(ctx, crossdock.PrealertsQuery{Search: run + "-"}) {
		if err != nil {
			return nil, err
		}
		if newest.IsZero() {
			newest = prealert.CreatedAt
		}
		numbers = append(numbers, prealert.TrackingNumber)
	}
	return report{"tracking_numbers": numbers, "newest": newest.Unix()}, nil
}

type sample struct {
	Headers map[string]string
	Body    string
}

func (s sample) parse(secret string) (crossdock.Event, error) {
	header := http.Header{}
	for name, value := range s.Headers {
		header.Set(name, value)
	}
	return crossdock.ParseWebhook([]byte(s.Body), header, secret)
}

func verify() (report, error) {
	text, err := os.ReadFile(env("WEBHOOKS_JSON"))
	if err != nil {
		return nil, err
	}
	var samples struct {
		Secret          string
		Valid, Tampered sample
	}
	if err := json.Unmarshal(text, &samples); err != nil {
		return nil, err
	}
	event, err := samples.Valid.parse(samples.Secret)
	if err != nil {
		return nil, err
	}
	number := event.Type
	if data, isCreated := event.Data.(*crossdock.PackageCreatedEvent); isCreated {
		number = data.TrackingNumber
	}
	_, tampered := samples.Tampered.parse(samples.Secret)
	return report{"tracking_number": number, "tampered": tampered == nil, "attempts": attempts}, nil
}
