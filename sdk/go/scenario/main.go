// The twelve steps of npm run sdk:test. It prints one line of JSON per step.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"crossdock.example/go/crossdock"
	"crossdock.example/go/crossdock/api"
)

type report = map[string]any

var (
	ctx       = context.Background()
	url       = os.Getenv("CROSSDOCK_URL")
	run       = os.Getenv("CROSSDOCK_RUN_ID")
	userCode  = os.Getenv("CROSSDOCK_USER_CODE")
	courierID = os.Getenv("CROSSDOCK_COURIER_ID")
	packageID string
)

func main() {
	courierSystem := must(crossdock.New(url, crossdock.WithAPIKey(os.Getenv("CROSSDOCK_API_KEY"))))
	staff := must(crossdock.New(url, loginOf("CROSSDOCK_STAFF_USERNAME")))
	courier := must(crossdock.New(url, loginOf("CROSSDOCK_COURIER_USERNAME")))
	steps := []func() (report, error){
		func() (report, error) { return submit(courierSystem) },
		func() (report, error) { return submitAgain(courierSystem) },
		func() (report, error) { return logIn(staff, courier) },
		func() (report, error) { return list(staff) },
		func() (report, error) { return receive(staff) },
		func() (report, error) { return ship(staff) },
		func() (report, error) { return uploadCustomers(staff) },
		func() (report, error) { return readPackages(staff) },
		func() (report, error) { return saveRates(staff) },
		func() (report, error) { return changeSettings(courier) },
		func() (report, error) { return readEvents(courier) },
		submitWithFaults,
	}
	for index, step := range steps {
		result, err := step()
		if err != nil {
			result = report{"error": err.Error()}
		}
		fields := string(must(json.Marshal(result)))
		fmt.Printf("{\"step\":%d,\"ok\":%t,%s\n", index+1, err == nil, strings.TrimPrefix(fields, "{"))
	}
}

func submit(client *crossdock.Client) (report, error) {
	ids := []string{}
	for number := 1; number <= 3; number++ {
		id, err := submitOne(client, fmt.Sprint(run, "-", number))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return report{"prealert_ids": ids}, nil
}

func submitOne(client *crossdock.Client, trackingNumber string) (string, error) {
	submitted, err := client.Prealerts.Submit(ctx, crossdock.PrealertSubmission{UserCode: userCode, TrackingNumber: trackingNumber})
	return submitted.PrealertID, err
}

func submitAgain(client *crossdock.Client) (report, error) {
	_, err := submitOne(client, run+"-1")
	var failure *crossdock.Error
	if !errors.Is(err, crossdock.CodeDuplicateTrackingNumber) || !errors.As(err, &failure) {
		return nil, fmt.Errorf("not the error of a duplicate: %w", err)
	}
	return report{"code": failure.Code, "status": failure.Status, "request_id": failure.RequestID}, nil
}

func logIn(staff, courier *crossdock.Client) (report, error) {
	staffUser, err := staff.User(ctx)
	if err != nil {
		return nil, err
	}
	courierUser, err := courier.User(ctx)
	if err != nil {
		return nil, err
	}
	return report{"staff_role": staffUser.Role, "courier_role": courierUser.Role}, nil
}

func list(staff *crossdock.Client) (report, error) {
	query := crossdock.PrealertsQuery{Search: run + "-", Limit: crossdock.Ptr(1)}
	numbers, total, pages := []string{}, 0, 0
	for page, err := range staff.Prealerts.Pages(ctx, query) {
		if err != nil {
			return nil, err
		}
		total, pages = page.Meta.Stats.Total, pages+1
		for _, prealert := range page.Data {
			numbers = append(numbers, prealert.TrackingNumber)
		}
	}
	return report{"tracking_numbers": numbers, "total": total, "pages": pages}, nil
}

func receive(staff *crossdock.Client) (report, error) {
	receipt, err := staff.Packages.Receive(ctx, crossdock.PackageIntake{TrackingNumber: run + "-1", Weight: 3.25})
	packageID = receipt.PackageID
	return report{"package_id": packageID}, err
}

func ship(staff *crossdock.Client) (report, error) {
	var create api.ManifestAction
	if err := create.FromCreateManifestAction(api.CreateManifestAction{}); err != nil {
		return nil, err
	}
	created, err := staff.ManageManifestWithResponse(ctx, nil, create)
	if err != nil {
		return nil, err
	}
	id := created.JSON200.Data.ManifestID
	var add, ready, shipped api.ManifestAction
	toReady, toShipped := api.ManifestStatus("ready"), api.ManifestStatus("shipped")
	if err := errors.Join(
		add.FromAddManifestPackagesAction(api.AddManifestPackagesAction{ManifestID: id, PackageIds: []api.UUID{must(parseUUID(packageID))}}),
		ready.FromUpdateManifestAction(api.UpdateManifestAction{ManifestID: id, Status: &toReady}),
		shipped.FromUpdateManifestAction(api.UpdateManifestAction{ManifestID: id, Status: &toShipped}),
	); err != nil {
		return nil, err
	}
	for _, action := range []api.ManifestAction{add, ready, shipped} {
		if _, err := staff.ManageManifestWithResponse(ctx, nil, action); err != nil {
			return nil, err
		}
	}
	manifest, err := staff.GetManifestWithResponse(ctx, &api.GetManifestParams{ID: id})
	if err != nil {
		return nil, err
	}
	return report{"manifest_id": id, "status": manifest.JSON200.Data.Info.Status}, nil
}

func uploadCustomers(staff *crossdock.Client) (report, error) {
	file, err := os.Open(os.Getenv("CROSSDOCK_CUSTOMERS_CSV"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	dryRun, err := staff.UploadCustomersCSV(ctx, file, courierID, true)
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, 0); err != nil {
		return nil, err
	}
	real, err := staff.UploadCustomersCSV(ctx, file, courierID, false)
	if err != nil {
		return nil, err
	}
	return report{"dry_run_created": dryRun.Created, "created": real.Created}, nil
}

func readPackages(staff *crossdock.Client) (report, error) {
	number := run + "-"
	var file strings.Builder
	size, err := staff.DownloadPackagesXLSX(ctx, api.ExportPackagesXlsxParams{TrackingNumber: &number}, &file)
	if err != nil {
		return nil, err
	}
	for page, err := range staff.Packages.Pages(ctx, crossdock.PackageSearch{TrackingNumber: number}) {
		if err != nil {
			return nil, err
		}
		return report{
			"file_start": file.String()[:2], "file_bytes": size,
			"total": page.Meta.TotalCount, "total_weight": page.Meta.TotalWeight,
		}, nil
	}
	return nil, errors.New("there is no page")
}

func saveRates(staff *crossdock.Client) (report, error) {
	courier := must(parseUUID(courierID))
	params := &api.GetCourierRatesParams{CourierID: &courier}
	if _, err := staff.GetCourierRatesWithResponse(ctx, params); err != nil {
		return nil, err
	}
	var save api.RateAction
	if err := save.FromSaveRatesAction(api.SaveRatesAction{CourierID: &courier, Rates: []api.RateTierInput{
		{Startweight: 0, Endweight: 5, Fee: 12.75},
		{Startweight: 5.001, Endweight: 99999.999, Fee: 16777217.01},
	}}); err != nil {
		return nil, err
	}
	if _, err := staff.ManageCourierRatesWithResponse(ctx, nil, save); err != nil {
		return nil, err
	}
	rates, err := staff.GetCourierRatesWithResponse(ctx, params)
	if err != nil {
		return nil, err
	}
	fees := []float64{}
	for _, tier := range rates.JSON200.Data.Courier.SpecificRates {
		fees = append(fees, tier.Fee)
	}
	return report{"fees": fees, "uses_global_rates": rates.JSON200.Data.Courier.UsesGlobalRates}, nil
}

func changeSettings(courier *crossdock.Client) (report, error) {
	result, err := courier.UpdateCourierSettingsWithResponse(ctx, nil, api.CourierSettingsUpdate{Address2: &run})
	if err != nil {
		return nil, err
	}
	logo, err := os.Open(os.Getenv("CROSSDOCK_LOGO_PNG"))
	if err != nil {
		return nil, err
	}
	defer logo.Close()
	path, err := courier.UploadLogoFile(ctx, logo, "logo.png", "")
	return report{"address2": result.JSON200.Data.Address2, "logo_path": path}, err
}

func readEvents(courier *crossdock.Client) (report, error) {
	events, last := 0, 0
	for event, err := range courier.Events.List(ctx, crossdock.EventQuery{Limit: 50}) {
		if err != nil {
			return nil, err
		}
		events, last = events+1, event.Sequence
	}
	var samples struct {
		Secret          string
		Valid, Tampered webhook
	}
	if err := json.Unmarshal(must(os.ReadFile(os.Getenv("CROSSDOCK_WEBHOOKS_JSON"))), &samples); err != nil {
		return nil, err
	}
	return report{
		"events": events, "last_sequence": last,
		"valid":    samples.Valid.verify(samples.Secret),
		"tampered": samples.Tampered.verify(samples.Secret),
	}, nil
}

type webhook struct {
	Headers map[string]string
	Body    string
}

func (w webhook) verify(secret string) bool {
	header := http.Header{}
	for name, value := range w.Headers {
		header.Set(name, value)
	}
	return crossdock.VerifyWebhook([]byte(w.Body), header, secret) == nil
}

func submitWithFaults() (report, error) {
	client, err := crossdock.New(os.Getenv("CROSSDOCK_FAULTY_URL"), crossdock.WithAPIKey(os.Getenv("CROSSDOCK_API_KEY")))
	if err != nil {
		return nil, err
	}
	id, err := submitOne(client, run+"-12")
	return report{"prealert_id": id}, err
}

func loginOf(variable string) crossdock.Option {
	return crossdock.WithLogin(os.Getenv(variable), os.Getenv("CROSSDOCK_PASSWORD"))
}

func parseUUID(text string) (id api.UUID, err error) {
	return id, id.UnmarshalText([]byte(text))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
