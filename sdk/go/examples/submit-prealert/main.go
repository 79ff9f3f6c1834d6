// Submits a pre-alert with the API key of a courier: go run ./examples/submit-prealert 1Z999AA10123456784
// A parcel that was already announced for the same customer is no failure.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"crossdock.example/go/crossdock"
)

func main() {
	client, err := crossdock.New(os.Getenv("CROSSDOCK_URL"), crossdock.WithAPIKey(os.Getenv("CROSSDOCK_API_KEY")))
	if err != nil {
		log.Fatal(err)
	}
	submitted, err := client.Prealerts.Submit(context.Background(), crossdock.PrealertSubmission{
		UserCode:       "IEX-1001",
		TrackingNumber: os.Args[1],
		Vendor:         "Example Books",
	})
	var failure *crossdock.Error
	switch {
	case errors.As(err, &failure) && failure.Existing != nil && failure.Existing.Differs:
		log.Fatal("refused: the number is announced for another customer, ", failure.Existing.UserCode)
	case errors.Is(err, crossdock.CodeDuplicateTrackingNumber):
		fmt.Println("already announced")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println("announced", submitted.PrealertID)
		for _, warning := range submitted.Warnings {
			fmt.Printf("check it: %s (%s)\n", warning.Message, warning.Code)
		}
	}
}
