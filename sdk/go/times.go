package crossdock

import (
	"strings"
	"time"
)

// ParseTime returns the time that a text of a response or a webhook means. It is in UTC, also if it names no zone.
func ParseTime(text string) (time.Time, error) {
	layout := time.DateTime
	if strings.HasSuffix(text, "Z") {
		layout = time.RFC3339
	}
	return time.Parse(layout, text)
}

// FormatTime returns a time as the filters and fields of the package api take it: in UTC, without a zone.
func FormatTime(value time.Time) string {
	return value.UTC().Format(time.DateTime)
}
