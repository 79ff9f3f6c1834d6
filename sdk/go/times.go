package crossdock

import "time"

// ParseTime returns the time that a text of a response or a webhook means. It names no zone, and is in UTC.
func ParseTime(text string) (time.Time, error) {
	return time.Parse(time.DateTime, text)
}

// FormatTime returns a time as the filters and fields of the package api take it: in UTC, without a zone.
func FormatTime(value time.Time) string {
	return value.UTC().Format(time.DateTime)
}
