package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"scenario/client"
)

var (
	run           = env("RUN_ID")
	api           = newAPI()
	courierSystem = context.WithValue(context.Background(), client.ContextAPIKeys,
		map[string]client.APIKey{"apiKeyHeader": {Key: env("API_KEY")}})
	users     = map[string]context.Context{}
	packageID string
)

func main() {
	runSteps(submit, submitAgain, logIn, list, receive, ship, uploadCustomers, readPackages, saveRates, changeSettings, readWebhook)
}

func newAPI() *client.APIClient {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: env("URL")}}
	return client.NewAPIClient(configuration)
}

func staff() context.Context { return users["STAFF_USERNAME"] }

func submit() report {
	ids := []string{}
	for number := 1; number <= 3; number++ {
		result, _, err := submitOne(fmt.Sprint(run, "-", number))
		ids = append(ids, success(result, err).Data.PrealertId)
	}
	return report{"prealert_ids": ids}
}

func submitOne(number string) (*client.SubmitPrealertResult, *http.Response, error) {
	submission := client.NewPrealertSubmission(env("USER_CODE"), number)
	return api.PrealertsAPI.SubmitPrealert(courierSystem).PrealertSubmission(*submission).Execute()
}

func submitAgain() report {
	_, response, err := submitOne(run + "-1")
	var failed *client.GenericOpenAPIError
	if !errors.As(err, &failed) {
		panic(fmt.Sprint("not the error of a duplicate: ", err))
	}
	failure := failed.Model().(client.Failure)
	return report{"code": failure.Code, "status": response.StatusCode, "request_id": failure.RequestId}
}

func logIn() report {
	return report{"staff_role": logInAs("STAFF_USERNAME"), "courier_role": logInAs("COURIER_USERNAME")}
}

func logInAs(name string) any {
	action := client.NewPasswordLoginAction("login")
	action.SetUsername(env(name))
	action.SetPassword(env("PASSWORD"))
	body := client.PasswordLoginActionAsLoginAction(action)
	result, _, err := api.LoginAPI.Login(context.Background()).LoginAction(body).Execute()
	grant := success(result, err).LoginSuccess.Data
	users[name] = context.WithValue(context.Background(), client.ContextAccessToken, grant.AccessToken)
	return grant.User.Role
}

func list() report {
	numbers := []string{}
	for page := int32(1); ; page++ {
		request := api.PrealertsAPI.ListPrealerts(staff()).Search(run + "-").Limit(1).Page(page)
		result, _, err := request.Execute()
		for _, prealert := range success(result, err).Data {
			numbers = append(numbers, prealert.TrackingNumber)
		}
		meta := result.Meta
		if page >= meta.TotalPages {
			return report{"tracking_numbers": numbers, "total": meta.Stats.Total, "pages": meta.TotalPages}
		}
	}
}

func receive() report {
	intake := client.NewPackageIntake(run+"-1", 3.25)
	result, _, err := api.PackagesAPI.ReceivePackage(staff()).PackageIntake(*intake).Execute()
	packageID = success(result, err).Data.PackageId
	return report{"package_id": packageID}
}

func ship() report {
	id := manage(client.CreateManifestActionAsManifestAction(client.NewCreateManifestAction("create_manifest"))).ManifestId
	add := client.NewAddManifestPackagesAction("add_packages", id, []string{packageID})
	manage(client.AddManifestPackagesActionAsManifestAction(add))
	for _, status := range []client.ManifestStatus{client.MANIFESTSTATUS_READY, client.MANIFESTSTATUS_SHIPPED} {
		update := client.NewUpdateManifestAction("update_meta", id)
		update.SetStatus(status)
		manage(client.UpdateManifestActionAsManifestAction(update))
	}
	manifest, _, err := api.ManifestsAPI.GetManifest(staff()).Id(id).Execute()
	return report{"manifest_id": id, "status": success(manifest, err).Data.Info.Status}
}

func manage(action client.ManifestAction) client.ManifestOperationResult {
	result, _, err := api.ManifestsAPI.ManageManifest(staff()).ManifestAction(action).Execute()
	return success(result, err).Data
}

func uploadCustomers() report {
	return report{"dry_run_created": upload(true), "created": upload(false)}
}

func upload(isDryRun bool) int32 {
	file := must(os.Open(env("CUSTOMERS_CSV")))
	request := api.CustomersAPI.UploadCustomers(staff()).File(file).TargetCourierId(env("COURIER_ID")).DryRun(isDryRun)
	result, _, err := request.Execute()
	return success(result, err).Data.Created
}

func readPackages() report {
	file, _, err := api.PackagesAPI.ExportPackagesXlsx(staff()).TrackingNumber(run + "-").Execute()
	bytes := must(os.ReadFile(success(file, err).Name()))
	search := client.NewPackageSearch()
	search.SetTrackingNumber(run + "-")
	result, _, err := api.PackagesAPI.ListPackages(staff()).PackageSearch(*search).Execute()
	meta := success(result, err).Meta
	return report{
		"file_start": string(bytes[:2]), "file_bytes": len(bytes),
		"total": meta.TotalCount, "total_weight": meta.TotalWeight,
	}
}

func saveRates() report {
	tiers := []client.RateTierInput{
		*client.NewRateTierInput(0, 5, 12.75),
		*client.NewRateTierInput(5.001, 99999.999, 16777217.01),
	}
	save := client.NewSaveRatesAction("save_rates", tiers)
	save.SetCourierId(env("COURIER_ID"))
	saved, _, err := api.RatesAPI.ManageCourierRates(staff()).RateAction(client.SaveRatesActionAsRateAction(save)).Execute()
	success(saved, err)
	result, _, err := api.RatesAPI.GetCourierRates(staff()).CourierId(env("COURIER_ID")).Execute()
	courier := success(result, err).Data.Courier
	fees := []float64{}
	for _, tier := range courier.SpecificRates {
		fees = append(fees, tier.Fee)
	}
	return report{"fees": fees, "uses_global_rates": courier.UsesGlobalRates}
}

func changeSettings() report {
	courier := users["COURIER_USERNAME"]
	update := client.NewCourierSettingsUpdate()
	update.SetAddress2(run)
	result, _, err := api.CouriersAPI.UpdateCourierSettings(courier).CourierSettingsUpdate(*update).Execute()
	address := success(result, err).Data.Address2.Get()
	logo, _, err := api.CouriersAPI.UploadLogo(courier).Logo(must(os.Open(env("LOGO_PNG")))).Execute()
	return report{"address2": address, "logo_path": success(logo, err).Data.Path}
}

func readWebhook() report {
	var samples struct{ Valid struct{ Body string } }
	check(json.Unmarshal(must(os.ReadFile(env("WEBHOOKS_JSON"))), &samples))
	var event client.PackageCreatedEvent
	check(json.Unmarshal([]byte(samples.Valid.Body), &event))
	return report{"type": event.Type, "tracking_number": event.Data.TrackingNumber, "sequence": event.Sequence}
}

// success returns the result, or stops the step with the body of the failure.
func success[T any](result *T, err error) *T {
	var failed *client.GenericOpenAPIError
	if errors.As(err, &failed) {
		panic(fmt.Sprint(err, " ", string(failed.Body())))
	}
	check(err)
	return result
}
