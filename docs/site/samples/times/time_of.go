package crossdock

import "time"

// TimeOf reads a time of the API: a text without a zone is in UTC.
func TimeOf(text string) (time.Time, error) {
	return time.Parse(time.DateTime, text)
}
