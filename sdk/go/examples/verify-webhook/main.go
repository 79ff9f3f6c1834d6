// Receives webhooks on port 8099, or on the port in PORT. It answers 204 to a webhook from the service and 401 to others.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"crossdock.example/go/crossdock"
)

func main() {
	secret := os.Getenv("CROSSDOCK_WEBHOOK_SECRET")
	http.HandleFunc("POST /", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
		if err != nil {
			http.Error(response, err.Error(), http.StatusBadRequest)
			return
		}
		event, err := crossdock.ParseWebhook(body, request.Header, secret)
		if err != nil {
			http.Error(response, err.Error(), http.StatusUnauthorized)
			return
		}
		switch data := event.Data.(type) {
		case *crossdock.PackageCreatedEvent:
			fmt.Println(event.Type, event.EventID, data.TrackingNumber)
		case *crossdock.WebhookTestEvent:
			fmt.Println(event.Type, event.EventID, data.Message)
		default:
			fmt.Println(event.Type, event.EventID)
		}
		response.WriteHeader(http.StatusNoContent)
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "8099"
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
