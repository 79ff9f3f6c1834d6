package crossdock

import (
	"testing"
	"time"
)

func TestParseTimeReadsUTC(t *testing.T) {
	for _, text := range []string{"2026-11-22 21:40:00", "2026-11-22T21:40:00Z"} {
		found, err := ParseTime(text)
		if err != nil || found.Unix() != 1_795_383_600 {
			t.Fatal(text, found, err)
		}
	}
}

func TestFormatTimeWritesUTC(t *testing.T) {
	found := FormatTime(time.Date(2026, 11, 22, 16, 40, 0, 5, time.FixedZone("", -5*60*60)))
	if found != "2026-11-22 21:40:00" {
		t.Fatal(found)
	}
}
