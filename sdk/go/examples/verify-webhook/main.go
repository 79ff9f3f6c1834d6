// Receives webhooks on port 8099, or on the port in PORT. It answers 204 to a webhook from the service and 401 to others.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"crossdock.example/go/crossdock"
	"crossdock.example/go/crossdock/api"
)

func main() {
	secret := os.Getenv("CROSSDOCK_WEBHOOK_SECRET")
	http.HandleFunc("POST /", func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
		if err == nil {
			err = crossdock.VerifyWebhook(body, request.Header, secret)
		}
		if err != nil {
			http.Error(response, err.Error(), http.StatusUnauthorized)
			return
		}
		var event api.PackageCreatedEvent
		if err := json.Unmarshal(body, &event); err != nil {
			http.Error(response, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Println(event.Type, event.EventID, event.Data.TrackingNumber)
		response.WriteHeader(http.StatusNoContent)
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "8099"
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
