package crossdock

import (
	"encoding/base64"
	"errors"
	"net/http"
	"testing"
	"time"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestVerifyWebhook(t *testing.T) {
	now := time.Unix(1_795_249_800, 0)
	body := []byte(`{"type":"package.created","shipper":"Café Müller"}`)
	keys, err := keysOf([]string{secret})
	if err != nil {
		t.Fatal(err)
	}
	mac := sign(keys[0], "evt_1", "1795249800", body)
	valid := "v1," + base64.StdEncoding.EncodeToString(mac)
	other := "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	cases := []struct {
		title     string
		signature string
		body      string
		clock     time.Time
		secrets   []string
		isValid   bool
	}{
		{"accepts one signature", valid, string(body), now, []string{secret}, true},
		{"accepts one of several signatures", other + " v1a,x " + valid, string(body), now, []string{secret}, true},
		{"accepts one of several secrets", valid, string(body), now, []string{"whsec_AAAA", secret}, true},
		{"accepts a clock that differs by five minutes", valid, string(body), now.Add(5 * time.Minute), []string{secret}, true},
		{"rejects an old webhook", valid, string(body), now.Add(301 * time.Second), []string{secret}, false},
		{"rejects a webhook from the future", valid, string(body), now.Add(-301 * time.Second), []string{secret}, false},
		{"rejects a changed body", valid, string(body) + " ", now, []string{secret}, false},
		{"rejects another signature", other, string(body), now, []string{secret}, false},
		{"rejects an unknown version of a signature", "v2," + valid[3:], string(body), now, []string{secret}, false},
		{"rejects a missing signature", "", string(body), now, []string{secret}, false},
		{"rejects a webhook without a secret", valid, string(body), now, nil, false},
	}
	for _, each := range cases {
		t.Run(each.title, func(t *testing.T) {
			header := http.Header{}
			header.Set("webhook-id", "evt_1")
			header.Set("webhook-timestamp", "1795249800")
			header.Set("webhook-signature", each.signature)
			err := verifyWebhook([]byte(each.body), header, each.clock, each.secrets)
			if each.isValid && err != nil || !each.isValid && !errors.Is(err, ErrInvalidWebhook) {
				t.Errorf("err = %v", err)
			}
		})
	}
}
