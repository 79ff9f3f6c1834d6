package crossdock

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestEventOfAKnownTypeHasItsData(t *testing.T) {
	var event Event
	text := `{"type":"package.created","event_id":"e","sequence":7,"timestamp":"2026-11-22 21:40:00",
		"data":{"tracking_number":"1Z","weight":2.5,"entry_date_time":"2026-11-21 15:04:09","new_field":1}}`
	if err := json.Unmarshal([]byte(text), &event); err != nil {
		t.Fatal(err)
	}
	data, isCreated := event.Data.(*PackageCreatedEvent)
	if !isCreated || data.TrackingNumber != "1Z" || data.Weight != 2.5 || event.Sequence != 7 {
		t.Errorf("%T %+v", event.Data, event)
	}
	if want := time.Date(2026, 11, 21, 15, 4, 9, 0, time.UTC); !data.EntryDateTime.Equal(want) {
		t.Error(data.EntryDateTime)
	}
	if event.Time.Unix() != 1_795_383_600 {
		t.Error(event.Time)
	}
}

func TestEventOfANewerTypeIsNoError(t *testing.T) {
	var event Event
	text := `{"type":"package.invented","event_id":"e","sequence":null,"timestamp":"2026-11-22 21:40:00","data":{"a":1}}`
	if err := json.Unmarshal([]byte(text), &event); err != nil {
		t.Fatal(err)
	}
	if event.Data != nil || event.Sequence != 0 || string(event.Raw) != `{"a":1}` {
		t.Errorf("%+v", event)
	}
}

func TestInputsSendWhatIsSetWithDatesAndTimesInUTC(t *testing.T) {
	kingston := time.FixedZone("", -5*60*60)
	search := PackageSearch{
		UserCode:       "IEX-1001",
		EntryDateFloor: time.Date(2026, 11, 1, 23, 0, 0, 0, kingston),
		ChangedSince:   time.Date(2026, 11, 1, 23, 0, 0, 0, kingston),
		OnManifest:     Ptr(false),
	}
	text, err := json.Marshal(search)
	want := `{"changed_since":"2026-11-02 04:00:00","entryDateFloor":"2026-11-01","on_manifest":false,"userCode":"IEX-1001"}`
	if err != nil || string(text) != want {
		t.Errorf("%s %v", text, err)
	}
}

func TestHookGetsTheOperationAndNoSecret(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		response.Header().Set("Content-Type", "application/json")
		response.Header().Set("X-Request-Id", "r-1")
		response.Write([]byte(`{"status":"success","data":{"prealert_id":"p-1"}}`))
	}))
	defer server.Close()
	var seen []Attempt
	hook := func(attempt Attempt) { seen = append(seen, attempt) }
	client, err := New(server.URL+"/base/", WithAPIKey("secret"), WithAttemptHook(hook))
	if err != nil {
		t.Fatal(err)
	}
	submitted, err := client.Prealerts.Submit(context.Background(), PrealertSubmission{UserCode: "A", TrackingNumber: "1Z"})
	if err != nil || submitted.PrealertID != "p-1" {
		t.Fatal(submitted, err)
	}
	if len(seen) != 1 || seen[0].Operation != "submitPrealert" || seen[0].Status != 200 || seen[0].RequestID != "r-1" || seen[0].Duration <= 0 {
		t.Errorf("%+v", seen)
	}
}

func TestListRequestsPagesOfTheSizeUntilTheLast(t *testing.T) {
	var queries []string
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		queries = append(queries, request.URL.RawQuery)
		response.Header().Set("Content-Type", "application/json")
		response.Write([]byte(`{"status":"success","data":[{"user_code":"A"}],"total":2}`))
	}))
	defer server.Close()
	client, err := New(server.URL, WithToken("token"), WithPageSize(1))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for customer, err := range client.Customers.List(context.Background(), CustomersQuery{}) {
		if err != nil || customer.UserCode != "A" {
			t.Fatal(customer, err)
		}
		count++
	}
	if count != 2 || len(queries) != 2 || queries[0] != "limit=1" || queries[1] != "limit=1&page=2" {
		t.Error(count, queries)
	}
}

func TestServiceTokenSubmitsAndWarningsAreReturned(t *testing.T) {
	answers := map[string]string{
		"application/json": `{"prealert_id":"p-1","warnings":[{"code":"unlikely_number","message":"No digit."}]}`,
		"application/x-ndjson": `{"total":1,"created":1,"results":[{"line":1,"status":"created","message":"Created.","prealert_id":"p-2",
			"warnings":[{"code":"ignored_field","message":"reference is ignored."}]}]}`,
	}
	var headers []http.Header
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		headers = append(headers, request.Header)
		response.Header().Set("Content-Type", "application/json")
		response.Write([]byte(`{"status":"success","data":` + answers[request.Header.Get("Content-Type")] + `}`))
	}))
	defer server.Close()
	client, err := New(server.URL, WithToken("cdk_abc"))
	if err != nil {
		t.Fatal(err)
	}
	prealert := PrealertSubmission{UserCode: "A", TrackingNumber: "N/A"}
	submitted, err := client.Prealerts.Submit(context.Background(), prealert)
	if err != nil || len(submitted.Warnings) != 1 || submitted.Warnings[0].Code != "unlikely_number" {
		t.Fatal(submitted, err)
	}
	batch, err := client.Prealerts.SubmitMany(context.Background(), []PrealertSubmission{prealert})
	if err != nil || len(batch.Results[0].Warnings) != 1 || batch.Results[0].Warnings[0].Code != "ignored_field" {
		t.Fatal(batch, err)
	}
	for _, header := range headers {
		if header.Get("Authorization") != "Bearer cdk_abc" || header.Get("X-API-KEY") != "" {
			t.Error(header)
		}
	}
}

func TestCursorAboveTheNewestEventIsAnError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		response.Header().Set("Content-Type", "application/json")
		response.Write([]byte(`{"status":"success","data":[],"meta":{"next_after":9999,"has_more":false,"last_sequence":12,"is_ahead":true}}`))
	}))
	defer server.Close()
	client, err := New(server.URL, WithToken("token"))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, err := range client.Events.List(context.Background(), EventQuery{After: 9999}) {
		var ahead *CursorAheadError
		if !errors.As(err, &ahead) || ahead.After != 9999 || ahead.LastSequence != 12 {
			t.Fatal(err)
		}
		count++
	}
	if count != 1 {
		t.Error(count)
	}
}

func TestErrorOfAListEndsIt(t *testing.T) {
	client, err := New("http://127.0.0.1:9", WithToken("token"), WithRetries(0, time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, err := range client.Packages.List(context.Background(), PackageSearch{}) {
		if err == nil {
			t.Fatal("There is no error.")
		}
		count++
	}
	if count != 1 {
		t.Error(count)
	}
}
