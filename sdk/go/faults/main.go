// The calls that test/sdk/faults.test.ts makes through a proxy with faults. It reads the calls from CROSSDOCK_CALLS, makes all at
// the same time, and prints one line of JSON for each.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"crossdock.example/go/crossdock"
	"crossdock.example/go/crossdock/api"
)

type call struct {
	Name           string  `json:"name"`
	URL            string  `json:"url"`
	Action         string  `json:"action"`
	TrackingNumber string  `json:"tracking_number"`
	TimeoutSeconds float64 `json:"timeout_seconds"`
	MaxRetries     *int    `json:"max_retries"`
	LastSeconds    float64 `json:"last_attempt_seconds"`
}

func main() {
	var calls []call
	if err := json.Unmarshal([]byte(os.Getenv("CROSSDOCK_CALLS")), &calls); err != nil {
		panic(err)
	}
	var group sync.WaitGroup
	results := make(chan map[string]any, len(calls))
	for _, each := range calls {
		group.Add(1)
		go func() {
			defer group.Done()
			results <- run(each)
		}()
	}
	group.Wait()
	close(results)
	for result := range results {
		line, err := json.Marshal(result)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(line))
	}
}

func run(each call) map[string]any {
	value, err := act(each)
	result := map[string]any{"name": each.Name}
	if err == nil {
		result["value"] = value
		return result
	}
	describe(err, result)
	return result
}

func describe(err error, result map[string]any) {
	var refusal *crossdock.Error
	var broken *crossdock.ConnectionError
	switch {
	case errors.As(err, &refusal):
		result["error"], result["status"] = "refusal", refusal.Status
	case errors.As(err, &broken) && errors.Is(err, crossdock.ErrTimeout):
		result["error"] = "timeout"
	case errors.As(err, &broken):
		result["error"] = "no response"
	default:
		result["error"] = fmt.Sprintf("foreign: %T %v", err, err)
	}
}

func act(each call) (any, error) {
	ctx := context.Background()
	options := optionsOf(each)
	if each.Action == "submit" {
		client, err := crossdock.New(each.URL, append(options, crossdock.WithAPIKey(os.Getenv("CROSSDOCK_API_KEY")))...)
		if err != nil {
			return nil, err
		}
		submitted, err := client.Prealerts.Submit(ctx, crossdock.PrealertSubmission{UserCode: "IEX-1001", TrackingNumber: each.TrackingNumber})
		if err != nil {
			return nil, err
		}
		return submitted.PrealertID, nil
	}
	if each.Action == "batch" {
		return actBatch(ctx, each, options)
	}
	login := crossdock.WithLogin(os.Getenv("CROSSDOCK_USERNAME"), os.Getenv("CROSSDOCK_PASSWORD"))
	client, err := crossdock.New(each.URL, append(options, login)...)
	if err != nil {
		return nil, err
	}
	switch each.Action {
	case "login":
		user, err := client.User(ctx)
		if err != nil {
			return nil, err
		}
		return user.Role, nil
	case "read":
		result, err := client.ListCarriersWithResponse(ctx, nil)
		if err != nil {
			return nil, err
		}
		return len(result.JSON200.Data) > 0, nil
	case "delete":
		_, err := client.DeletePrealertWithResponse(ctx, api.PrealertDeletion{PrealertID: api.UUID{}})
		return nil, err
	case "download":
		file, err := os.CreateTemp("", "crossdock-*.csv")
		if err != nil {
			return nil, err
		}
		defer os.Remove(file.Name())
		size, err := client.DownloadPackagesCSV(ctx, api.ExportPackagesCsvParams{}, file)
		if err != nil {
			return nil, err
		}
		position, err := file.Seek(0, io.SeekEnd)
		return position == size && size > 0, err
	}
	return nil, errors.New("unknown action " + each.Action)
}

func actBatch(ctx context.Context, each call, options []crossdock.Option) (any, error) {
	client, err := crossdock.New(each.URL, append(options, crossdock.WithAPIKey(os.Getenv("CROSSDOCK_API_KEY")))...)
	if err != nil {
		return nil, err
	}
	prealerts := make([]crossdock.PrealertSubmission, 300)
	for index := range prealerts {
		prealerts[index] = crossdock.PrealertSubmission{UserCode: "IEX-1001", TrackingNumber: fmt.Sprintf("%s-%d", each.TrackingNumber, index)}
	}
	batch, err := client.Prealerts.SubmitMany(ctx, prealerts)
	if err != nil {
		return nil, err
	}
	for index, line := range batch.Results {
		if line.Line != index+1 {
			return "wrong lines", nil
		}
	}
	return batch.Created, nil
}

func optionsOf(each call) []crossdock.Option {
	seconds := func(count float64) time.Duration { return time.Duration(count * float64(time.Second)) }
	options := []crossdock.Option{}
	if each.MaxRetries != nil {
		options = append(options, crossdock.WithRetries(*each.MaxRetries, time.Minute))
	}
	if each.TimeoutSeconds > 0 {
		options = append(options, crossdock.WithTimeouts(seconds(each.TimeoutSeconds), seconds(each.LastSeconds)))
	}
	return options
}
