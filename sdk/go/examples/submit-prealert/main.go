// Submits a pre-alert with the API key of a courier. A parcel that was already announced is no failure.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"crossdock.example/go/crossdock"
	"crossdock.example/go/crossdock/api"
)

func main() {
	client, err := crossdock.New(os.Getenv("CROSSDOCK_URL"), crossdock.WithAPIKey(os.Getenv("CROSSDOCK_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	vendor := "Example Books"
	result, err := client.SubmitPrealertWithResponse(context.Background(), nil, api.PrealertSubmission{
		UserCode:       os.Getenv("CROSSDOCK_USER_CODE"),
		TrackingNumber: os.Args[1],
		Vendor:         &vendor,
	})
	switch {
	case errors.Is(err, crossdock.CodeDuplicateTrackingNumber):
		fmt.Println("already announced")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println("announced", result.JSON201.Data.PrealertID)
	}
}
