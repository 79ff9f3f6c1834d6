package crossdock

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookTolerance is how far the timestamp of a webhook may be from the clock of the receiver.
const WebhookTolerance = 5 * time.Minute

// ErrInvalidWebhook is the error of a webhook that is not from the service, was changed, or is too old.
var ErrInvalidWebhook = errors.New("crossdock: invalid webhook")

// VerifyWebhook checks the signature and the age of a webhook. The body must be the bytes as received. The secret begins with
// whsec_. After a rotation of the secret, call it with both secrets until the old one is no longer used.
func VerifyWebhook(body []byte, header http.Header, secrets ...string) error {
	return verifyWebhook(body, header, time.Now(), secrets)
}

func verifyWebhook(body []byte, header http.Header, now time.Time, secrets []string) error {
	keys, err := keysOf(secrets)
	if err != nil {
		return err
	}
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil {
		return fmt.Errorf("%w: webhook-id or webhook-timestamp is missing", ErrInvalidWebhook)
	}
	if age := now.Sub(time.Unix(seconds, 0)).Abs(); age > WebhookTolerance {
		return fmt.Errorf("%w: its timestamp differs by %s from the clock", ErrInvalidWebhook, age.Round(time.Second))
	}
	for _, key := range keys {
		if hasSignature(header.Get("webhook-signature"), sign(key, id, timestamp, body)) {
			return nil
		}
	}
	return fmt.Errorf("%w: no signature matches", ErrInvalidWebhook)
}

func keysOf(secrets []string) ([][]byte, error) {
	keys := make([][]byte, 0, len(secrets))
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || len(key) == 0 {
			return nil, errors.New("crossdock: the webhook secret is missing, or is not whsec_ and base64. Copy it from the settings")
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func sign(key []byte, id, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	return mac.Sum(nil)
}

// hasSignature reads a list such as "v1,<base64> v1,<base64>". The comparison takes constant time.
func hasSignature(list string, expected []byte) bool {
	for _, entry := range strings.Fields(list) {
		encoded, isV1 := strings.CutPrefix(entry, "v1,")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if isV1 && err == nil && hmac.Equal(signature, expected) {
			return true
		}
	}
	return false
}
