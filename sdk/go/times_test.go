package crossdock

import "testing"

func TestParseTimeReadsUTC(t *testing.T) {
	found, err := ParseTime("2026-11-22 21:40:00")
	if err != nil || found.Unix() != 1_795_383_600 {
		t.Fatal(found, err)
	}
}
