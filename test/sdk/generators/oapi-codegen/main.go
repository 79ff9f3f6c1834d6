package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"

	"scenario/client"
)

var (
	ctx       = context.Background()
	run       = env("RUN_ID")
	courierID = uuid(env("COURIER_ID"))
	clients   = map[string]*client.ClientWithResponses{}
	packageID client.Uuid
)

func main() {
	courierSystem := connect("X-API-KEY", env("API_KEY"))
	runSteps(
		func() report { return submit(courierSystem) },
		func() report { return submitAgain(courierSystem) },
		logIn, list, receive, ship, uploadCustomers, readPackages, saveRates, changeSettings, readWebhook,
	)
}

func connect(header, value string) *client.ClientWithResponses {
	credential := func(_ context.Context, request *http.Request) error {
		request.Header.Set(header, value)
		return nil
	}
	return must(client.NewClientWithResponses(env("URL"), client.WithRequestEditorFn(credential)))
}

func staff() *client.ClientWithResponses { return clients["STAFF_USERNAME"] }

func submit(courierSystem *client.ClientWithResponses) report {
	ids := []client.Uuid{}
	for number := 1; number <= 3; number++ {
		result := submitOne(courierSystem, fmt.Sprint(run, "-", number))
		ids = append(ids, success(result.JSON201, result.Body).Data.PrealertId)
	}
	return report{"prealert_ids": ids}
}

func submitOne(courierSystem *client.ClientWithResponses, number string) *client.SubmitPrealertResponse {
	body := client.PrealertSubmission{UserCode: env("USER_CODE"), TrackingNumber: number}
	return must(courierSystem.SubmitPrealertWithResponse(ctx, nil, body))
}

func submitAgain(courierSystem *client.ClientWithResponses) report {
	result := submitOne(courierSystem, run+"-1")
	failure := success(result.JSON409, result.Body)
	return report{"code": failure.Code, "status": result.StatusCode(), "request_id": failure.RequestId}
}

func logIn() report {
	return report{"staff_role": logInAs("STAFF_USERNAME"), "courier_role": logInAs("COURIER_USERNAME")}
}

func logInAs(name string) any {
	username, password := env(name), env("PASSWORD")
	var action client.LoginAction
	check(action.FromPasswordLoginAction(client.PasswordLoginAction{Username: &username, Password: &password}))
	result := must(connect("X-Client", "scenario").LoginWithResponse(ctx, action))
	grant := must(success(result.JSON200, result.Body).AsLoginSuccess()).Data
	clients[name] = connect("Authorization", "Bearer "+grant.AccessToken)
	return grant.User.Role
}

func list() report {
	search, limit := run+"-", 1
	numbers := []string{}
	for page := 1; ; page++ {
		params := &client.ListPrealertsParams{Search: &search, Limit: &limit, Page: &page}
		result := must(staff().ListPrealertsWithResponse(ctx, params))
		records := success(result.JSON200, result.Body)
		for _, prealert := range records.Data {
			numbers = append(numbers, prealert.TrackingNumber)
		}
		meta := records.Meta
		if page >= meta.TotalPages {
			return report{"tracking_numbers": numbers, "total": meta.Stats.Total, "pages": meta.TotalPages}
		}
	}
}

func receive() report {
	intake := client.PackageIntake{TrackingNumber: run + "-1", Weight: 3.25}
	result := must(staff().ReceivePackageWithResponse(ctx, nil, intake))
	packageID = success(result.JSON201, result.Body).Data.PackageId
	return report{"package_id": packageID}
}

func ship() report {
	var create, add client.ManifestAction
	check(create.FromCreateManifestAction(client.CreateManifestAction{}))
	id := manage(create).ManifestId
	packages := client.AddManifestPackagesAction{ManifestId: id, PackageIds: []client.Uuid{packageID}}
	check(add.FromAddManifestPackagesAction(packages))
	manage(add)
	for _, status := range []client.ManifestStatus{"ready", "shipped"} {
		var update client.ManifestAction
		check(update.FromUpdateManifestAction(client.UpdateManifestAction{ManifestId: id, Status: &status}))
		manage(update)
	}
	result := must(staff().GetManifestWithResponse(ctx, &client.GetManifestParams{Id: id}))
	return report{"manifest_id": id, "status": success(result.JSON200, result.Body).Data.Info.Status}
}

func manage(action client.ManifestAction) client.ManifestOperationResult {
	result := must(staff().ManageManifestWithResponse(ctx, nil, action))
	return success(result.JSON200, result.Body).Data
}

func uploadCustomers() report {
	return report{"dry_run_created": upload("true"), "created": upload("false")}
}

func upload(dryRun string) int {
	fields := map[string]string{"target_courier_id": env("COURIER_ID"), "dry_run": dryRun}
	contentType, form := formOf(fields, "file", env("CUSTOMERS_CSV"))
	result := must(staff().UploadCustomersWithBodyWithResponse(ctx, nil, contentType, form))
	return success(result.JSON200, result.Body).Data.Created
}

// formOf returns a multipart form. The generated client has no serializer for forms.
func formOf(fields map[string]string, fileField, path string) (string, io.Reader) {
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for name, value := range fields {
		check(writer.WriteField(name, value))
	}
	must(must(writer.CreateFormFile(fileField, "file")).Write(must(os.ReadFile(path))))
	check(writer.Close())
	return writer.FormDataContentType(), &form
}

func readPackages() report {
	number := run + "-"
	file := must(staff().ExportPackagesXlsxWithResponse(ctx, &client.ExportPackagesXlsxParams{TrackingNumber: &number}))
	result := must(staff().ListPackagesWithResponse(ctx, nil, client.PackageSearch{TrackingNumber: &number}))
	meta := success(result.JSON200, result.Body).Meta
	return report{
		"file_start": string(file.Body[:2]), "file_bytes": len(file.Body),
		"total": meta.TotalCount, "total_weight": meta.TotalWeight,
	}
}

func saveRates() report {
	var save client.RateAction
	check(save.FromSaveRatesAction(client.SaveRatesAction{CourierId: &courierID, Rates: []client.RateTierInput{
		{Startweight: 0, Endweight: 5, Fee: 12.75},
		{Startweight: 5.001, Endweight: 99999.999, Fee: 16777217.01},
	}}))
	saved := must(staff().ManageCourierRatesWithResponse(ctx, nil, save))
	success(saved.JSON200, saved.Body)
	result := must(staff().GetCourierRatesWithResponse(ctx, &client.GetCourierRatesParams{CourierId: &courierID}))
	rates := success(result.JSON200, result.Body).Data.Courier
	fees := []float64{}
	for _, tier := range rates.SpecificRates {
		fees = append(fees, tier.Fee)
	}
	return report{"fees": fees, "uses_global_rates": rates.UsesGlobalRates}
}

func changeSettings() report {
	courier := clients["COURIER_USERNAME"]
	result := must(courier.UpdateCourierSettingsWithResponse(ctx, nil, client.CourierSettingsUpdate{Address2: &run}))
	contentType, form := formOf(nil, "logo", env("LOGO_PNG"))
	logo := must(courier.UploadLogoWithBodyWithResponse(ctx, nil, contentType, form))
	return report{
		"address2":  success(result.JSON200, result.Body).Data.Address2,
		"logo_path": success(logo.JSON200, logo.Body).Data.Path,
	}
}

func readWebhook() report {
	var samples struct{ Valid struct{ Body string } }
	check(json.Unmarshal(must(os.ReadFile(env("WEBHOOKS_JSON"))), &samples))
	var event client.PackageCreatedEvent
	check(json.Unmarshal([]byte(samples.Valid.Body), &event))
	return report{"type": event.Type, "tracking_number": event.Data.TrackingNumber, "sequence": event.Sequence}
}

func uuid(text string) (id client.Uuid) {
	check(id.UnmarshalText([]byte(text)))
	return id
}

// success returns the body of a status, or stops the step with the response if the status was another one.
func success[T any](body *T, response []byte) *T {
	if body == nil {
		panic(errors.New(string(response)))
	}
	return body
}
