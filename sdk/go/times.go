package crossdock

import "time"

// ParseTime returns the time that a text of a response or a webhook means. It names no zone, and is in UTC.
func ParseTime(text string) (time.Time, error) {
	return time.Parse(time.DateTime, text)
}
