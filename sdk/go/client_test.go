package crossdock

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestMissingCredentials(t *testing.T) {
	cases := map[string]Option{
		"API key":   WithAPIKey(""),
		"user name": WithLogin("", "secret"),
		"password":  WithLogin("iex", ""),
		"token":     WithToken(""),
	}
	for name, option := range cases {
		_, err := New("https://demo.crossdock.example", option)
		if err == nil || !strings.Contains(err.Error(), "the "+name+" is empty. Check the environment variable") {
			t.Errorf("%s: err = %v", name, err)
		}
	}
}

func TestServiceTokenIsNoAPIKey(t *testing.T) {
	_, err := New("https://demo.crossdock.example", WithAPIKey("cdk_abc"))
	if err == nil || !strings.Contains(err.Error(), "Use WithToken") {
		t.Errorf("err = %v", err)
	}
}

func TestMissingWebhookSecret(t *testing.T) {
	header := http.Header{}
	for _, secret := range []string{"", "whsec_", "whsec_!"} {
		err := VerifyWebhook([]byte("{}"), header, secret)
		if err == nil || !strings.Contains(err.Error(), "Copy it from the settings") {
			t.Errorf("%q: err = %v", secret, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for value, expected := range map[string]time.Duration{
		"":                              0,
		"soon":                          0,
		"-1":                            0,
		"1":                             time.Second,
		"99999999999999999":             24 * time.Hour,
		"Thu, 01 Jan 1970 00:00:00 GMT": 0,
	} {
		if actual := retryAfter(value); actual != expected {
			t.Errorf("%q: %v", value, actual)
		}
	}
}

func TestPausesDoubleAndAreRandom(t *testing.T) {
	for range 200 {
		for retries, longest := range []float64{1, 2, 4, 8, 16, 16} {
			if actual := pause(retries).Seconds(); actual < longest/2 || actual > longest {
				t.Fatalf("pause %d: %v s", retries, actual)
			}
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	if err := newHTTPClient().CheckRedirect(nil, nil); err != http.ErrUseLastResponse {
		t.Errorf("err = %v", err)
	}
}
